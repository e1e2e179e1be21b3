package benchdata

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// otelFormat is an OpenTelemetry trace of an agent as inference-perf reads it (docs/otel_trace_replay.md in
// https://github.com/kubernetes-sigs/inference-perf; https://opentelemetry.io/docs/specs/semconv/gen-ai/). A record is a trace, which is
// a session. Its requests are the spans of the operation chat with gen_ai.input.messages; others of this operation are left out.
// gen_ai.system_instructions are the first message, of the system. Thoughts of the model in messages are not sent.
//
// What a request waits for is inferred, because the parents of spans are spans of the agent, or missing: it waits for the requests that had
// ended before it began and whose answers its messages have, and for the one that ended last before it began. Of these, those are left
// out for which another one waits. A request goes on with the conversation of the one whose messages and answer are the longest beginning
// of its own messages.
var otelFormat = sessionFormat{
	name: "otel", wants: "spans",
	is:     func(first extra) bool { return first.has("spans") },
	reader: each(otelTrace.session),
}

// exgenticFormat is Exgentic's agent-llm-traces-v2 (https://huggingface.co/datasets/Exgentic/agent-llm-traces-v2), as AIPerf and inference-perf
// read it (src/aiperf/dataset/loader/exgentic.py in https://github.com/ai-dynamo/aiperf, workload-catalog/agentic-trace-replay in
// https://github.com/kubernetes-sigs/inference-perf). A record is a row of the data set as JSON, and a session. Its spans are as in otelFormat,
// except that calls that failed (status code 2) and those without tokens are left out, as in AIPerf.
var exgenticFormat = sessionFormat{
	name: "exgentic-v2", wants: "spans, harness, session_id",
	is:     func(first extra) bool { return first.has("spans", "harness", "session_id") },
	reader: each(exgenticTrace.session),
}

type exgenticTrace struct {
	ID            string     `json:"session_id"`
	Spans         []otelSpan `json:"spans"`
	Harness       ignored    `json:"harness"`
	Models        ignored    `json:"models"`
	Benchmark     ignored    `json:"benchmark"`
	Steps         ignored    `json:"steps"`
	Actions       ignored    `json:"action_count"`
	MaxTokens     ignored    `json:"max_tokens"`
	TotalTokens   ignored    `json:"total_tokens"`
	ExecutionTime ignored    `json:"execution_time"`
	Status        ignored    `json:"status"`
	Success       ignored    `json:"success"`
	Score         ignored    `json:"score"`
	AgentCost     ignored    `json:"agent_cost"`
	BenchmarkCost ignored    `json:"benchmark_cost"`
	Extra         extra      `json:",embed"`
}

// session returns the session of a row.
func (t exgenticTrace) session() (recording, error) {
	return otelSession(t.ID, t.Spans, true)
}

type otelTrace struct {
	ID        string         `json:"trace_id"`
	Count     jsontext.Value `json:"span_count"`
	Collected jsontext.Value `json:"collected_at"`
	Spans     []otelSpan     `json:"spans"`
	Extra     extra          `json:",embed"`
}

type otelSpan struct {
	TraceID    string         `json:"trace_id"`
	ID         string         `json:"span_id"`
	Parent     jsontext.Value `json:"parent_span_id"`
	Name       string         `json:"name"`
	Type       string         `json:"type"`
	Kind       jsontext.Value `json:"kind"`
	Start      string         `json:"start_time"`
	End        string         `json:"end_time"`
	Attributes otelAttributes `json:"attributes"`
	Resource   jsontext.Value `json:"resource_attributes"`
	Status     jsontext.Value `json:"status"`
	Extra      extra          `json:",embed"`
}

type otelAttributes struct {
	Operation  string         `json:"gen_ai.operation.name"`
	Provider   jsontext.Value `json:"gen_ai.provider.name"`
	Model      jsontext.Value `json:"gen_ai.request.model"`
	MaxTokens  *tokenCount    `json:"gen_ai.request.max_tokens"`
	Agent      string         `json:"gen_ai.agent.name"`
	System     jsontext.Value `json:"gen_ai.system_instructions"` // a text, parts, or their JSON as a string
	Input      jsontext.Value `json:"gen_ai.input.messages"`      // messages, or their JSON as a string
	OutputText string         `json:"gen_ai.output.text"`
	Completion string         `json:"gen_ai.completion"`
	Output     jsontext.Value `json:"gen_ai.output.messages"`
	Completed  *tokenCount    `json:"gen_ai.usage.completion_tokens"`
	Generated  *tokenCount    `json:"gen_ai.usage.output_tokens"`
	Asked      *tokenCount    `json:"gen_ai.usage.input_tokens"`
	Extra      extra          `json:",embed"`
}

// An otelCall is a request of a trace.
type otelCall struct {
	agent      string
	start, end time.Time
	messages   []llmbench.Message
	answer     string
	output     int

	begins    []int        // the numbers of the conversations that the messages begin with: of the first one, the first two and so on
	goesOn    int          // the number of the conversation of all messages and the answer
	answers   map[int]bool // the numbers of the answers in the messages
	ownAnswer int          // the number of the answer; 0 if it is ""
}

// mostCalls is the largest number of requests of a trace. What each one waits for is looked for in all that began before it.
const mostCalls = 1 << 14

// session returns the session of a trace.
func (t otelTrace) session() (recording, error) { return otelSession(t.ID, t.Spans, false) }

// otelSession returns the session of spans. If complete is true, calls that failed or have no tokens are left out.
func otelSession(id string, spans []otelSpan, complete bool) (recording, error) {
	r := recording{id: id, at: -1}
	var calls []otelCall
	for i, s := range spans {
		a := &s.Attributes
		if a.Operation != "chat" && !strings.HasPrefix(s.Name, "chat ") || complete && s.Type != "" && s.Type != "llm_call" {
			continue
		}
		thoughts := 0
		c, err := s.call(&thoughts)
		switch {
		case err != nil:
			return r, fmt.Errorf(`"spans.%d": %w`, i, err)
		case len(c.messages) == 0:
			r.leave("spans[] of the operation chat without gen_ai.input.messages")
		case complete && s.failed():
			r.leave("spans[] of calls that failed")
		case complete && (a.Asked != nil && *a.Asked == 0 || a.Generated != nil && *a.Generated == 0):
			r.leave("spans[] of calls without tokens")
		default:
			for range thoughts {
				r.leave("spans[].attributes.gen_ai.input.messages[] thoughts")
			}
			calls = append(calls, c)
		}
	}
	switch {
	case len(calls) == 0:
		return r, errors.New(`"spans" has no request of the operation chat with "gen_ai.input.messages"`)
	case len(calls) > mostCalls:
		return r, fmt.Errorf(`"spans" has %d requests: want at most %d`, len(calls), mostCalls)
	}
	slices.SortStableFunc(calls, func(a, b otelCall) int { return cmp.Or(a.start.Compare(b.start), a.end.Compare(b.end)) })
	number(calls)
	all := 0                               // number of requests for which requests wait
	before := make([][]uint64, len(calls)) // bits of all that each request waits for, also by way of others
	for i, c := range calls {
		turn := recordedTurn{agent: c.agent, whole: true, messages: c.messages, reply: c.answer, output: c.output}
		waits := inferred(calls[:i], c)
		before[i] = make([]uint64, i/64+1)
		for _, w := range slices.Backward(waits) {
			if before[i][w/64]>>(w%64)&1 == 1 {
				continue // all that w waits for is there, too
			}
			for k, bits := range before[w] {
				before[i][k] |= bits
			}
		}
		k, n := continuedBy(calls, waits, c)
		turn.after = slices.DeleteFunc(waits, func(w int) bool { return before[i][w/64]>>(w%64)&1 == 1 || n > 0 && w == k })
		if n > 0 {
			turn.whole, turn.messages = false, c.messages[n:]
			turn.after = append([]int{k}, turn.after...)
		}
		if all += len(turn.after); all > mostWaits {
			return r, fmt.Errorf("its requests wait for more than %d requests together", mostWaits)
		}
		ready := calls[0].start
		for k, w := range turn.after {
			before[i][w/64] |= 1 << (w % 64)
			if k == 0 || calls[w].end.After(ready) {
				ready = calls[w].end
			}
		}
		turn.delay = min(max(0, c.start.Sub(ready)), time.Duration(mostSeconds)*time.Second)
		r.add(turn)
	}
	return r, nil
}

// number numbers answers and conversations of requests, so that long texts are compared once.
func number(calls []otelCall) {
	type message struct {
		after int // the number of the conversation before it
		llmbench.Message
	}
	conversations := map[message]int{{}: 0}
	answers := map[string]int{"": 0}
	for i := range calls {
		c := &calls[i]
		at := func(after int, m llmbench.Message) int {
			key := message{after, m}
			if _, known := conversations[key]; !known {
				conversations[key] = len(conversations)
			}
			return conversations[key]
		}
		answer := func(text string) int {
			if _, known := answers[text]; !known {
				answers[text] = len(answers)
			}
			return answers[text]
		}
		last := 0
		c.answers = map[int]bool{}
		for _, m := range c.messages {
			last = at(last, m)
			c.begins = append(c.begins, last)
			if m.Role == "assistant" {
				c.answers[answer(m.Content)] = true
			}
		}
		c.goesOn, c.ownAnswer = at(last, llmbench.Message{Role: "assistant", Content: c.answer}), answer(c.answer)
	}
}

// inferred returns the requests of before for which c waits.
func inferred(before []otelCall, c otelCall) (waits []int) {
	last := -1
	for i := range before {
		b := &before[i]
		if b.end.After(c.start) {
			continue
		}
		if b.ownAnswer != 0 && c.answers[b.ownAnswer] {
			waits = append(waits, i)
		}
		if last < 0 || !b.end.Before(before[last].end) {
			last = i
		}
	}
	if last >= 0 && !slices.Contains(waits, last) {
		waits = append(waits, last)
		slices.Sort(waits)
	}
	return waits
}

// continuedBy returns the request whose conversation c goes on with, of those in waits, and the number of its messages with the answer. The number is 0
// if there is none.
func continuedBy(calls []otelCall, waits []int, c otelCall) (best, messages int) {
	for _, w := range waits {
		n := len(calls[w].messages) + 1
		if n > messages && n < len(c.messages) && c.begins[n-1] == calls[w].goesOn {
			best, messages = w, n
		}
	}
	return best, messages
}

// failed reports whether the call of a span failed.
func (s otelSpan) failed() bool {
	var status struct {
		Code jsontext.Value `json:"code"`
	}
	if len(s.Status) == 0 || decodeSession(s.Status, &status) != nil {
		return false
	}
	code := strings.ToUpper(string(status.Code))
	return code == "2" || strings.HasSuffix(code, `ERROR"`) // STATUS_CODE_ERROR
}

// call returns the request of a span, which has no messages if the span has none. It counts the parts of messages with thoughts, which are left out.
func (s otelSpan) call(thoughts *int) (c otelCall, err error) {
	a := s.Attributes
	c = otelCall{agent: a.Agent, answer: cmp.Or(a.OutputText, a.Completion)}
	if c.messages, err = otelMessages(a.Input, thoughts); err != nil {
		return c, fmt.Errorf(`"gen_ai.input.messages": %w`, err)
	}
	if len(c.messages) == 0 {
		return c, nil
	}
	system, err := systemOf(a.System, thoughts)
	if err != nil {
		return c, fmt.Errorf(`"gen_ai.system_instructions": %w`, err)
	}
	if m := (llmbench.Message{Role: "system", Content: system}); system != "" && c.messages[0] != m {
		c.messages = slices.Insert(c.messages, 0, m)
	}
	for _, at := range []struct {
		name, text string
		to         *time.Time
	}{{"start_time", s.Start, &c.start}, {"end_time", s.End, &c.end}} {
		if *at.to, err = otelTime(at.text); err != nil {
			return c, fmt.Errorf(`%q is %.40q: want a time like 2026-02-25T10:00:00.5Z`, at.name, at.text)
		}
	}
	if c.end.Before(c.start) {
		return c, fmt.Errorf(`"end_time" is %s, before "start_time" %s`, s.End, s.Start)
	}
	if c.answer == "" && len(a.Output) > 0 {
		out, err := otelMessages(a.Output, new(int))
		if err != nil {
			return c, fmt.Errorf(`"gen_ai.output.messages": %w`, err)
		}
		for _, m := range out {
			c.answer += m.Content
		}
	}
	for _, n := range []*tokenCount{a.Generated, a.Completed} {
		if n != nil {
			c.output = max(c.output, int(*n))
		}
	}
	if c.output == 0 && c.answer == "" && a.MaxTokens != nil {
		c.output = int(*a.MaxTokens)
	}
	return c, nil
}

// otelTime parses a time; without a zone it is UTC.
func otelTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04:05.999999999", text)
	}
	return at, err
}

// systemOf returns the text of the instructions for a system.
func systemOf(v jsontext.Value, thoughts *int) (string, error) {
	text, err := textOfContent(v, thoughts)
	if parts := jsontext.Value(text); err == nil && strings.HasPrefix(text, "[") && validJSON(parts) {
		return textOfContent(parts, thoughts)
	}
	return text, err
}

// validJSON reports whether a value from a string is JSON.
func validJSON(v jsontext.Value) bool {
	return v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// otelMessages reads messages, which may be the JSON of an array in a string. Their text is in content or in parts. It counts the parts with
// thoughts.
func otelMessages(v jsontext.Value, thoughts *int) ([]llmbench.Message, error) {
	if v.Kind() == '"' {
		var text string
		if err := decodeSession(v, &text); err != nil {
			return nil, err
		}
		v = jsontext.Value(text)
	}
	if len(v) == 0 || string(v) == "null" {
		return nil, nil
	}
	if !validJSON(v) || v.Kind() != '[' {
		return nil, errors.New("want an array of messages, or its JSON in a string")
	}
	var all []struct {
		chatMessage `json:",embed"`
		Parts       jsontext.Value `json:"parts"`
	}
	if err := decodeSession(v, &all); err != nil {
		return nil, err
	}
	var messages []llmbench.Message
	for i, m := range all {
		if len(m.Content) == 0 {
			m.Content = m.Parts
		}
		m.Thoughts = thoughts
		one, err := m.message()
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		messages = append(messages, one)
	}
	return messages, nil
}
