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
// a session. Its requests are the spans of the operation chat with gen_ai.input.messages.
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
	Input      jsontext.Value `json:"gen_ai.input.messages"` // messages, or their JSON as a string
	OutputText string         `json:"gen_ai.output.text"`
	Completion string         `json:"gen_ai.completion"`
	Output     jsontext.Value `json:"gen_ai.output.messages"`
	Completed  *tokenCount    `json:"gen_ai.usage.completion_tokens"`
	Generated  *tokenCount    `json:"gen_ai.usage.output_tokens"`
	Extra      extra          `json:",embed"`
}

// An otelCall is a request of a trace.
type otelCall struct {
	agent      string
	start, end time.Time
	messages   []llmbench.Message
	answer     string
	output     int
}

// session returns the session of a trace.
func (t otelTrace) session() (recording, error) {
	r := recording{id: t.ID, at: -1}
	var calls []otelCall
	for i, s := range t.Spans {
		if s.Attributes.Operation != "chat" && !strings.HasPrefix(s.Name, "chat ") || len(s.Attributes.Input) == 0 {
			continue
		}
		c, err := s.call()
		if err != nil {
			return r, fmt.Errorf(`"spans.%d": %w`, i, err)
		}
		if len(c.messages) > 0 {
			calls = append(calls, c)
		}
	}
	if len(calls) == 0 {
		return r, errors.New(`"spans" has no request of the operation chat with "gen_ai.input.messages"`)
	}
	slices.SortStableFunc(calls, func(a, b otelCall) int { return cmp.Or(a.start.Compare(b.start), a.end.Compare(b.end)) })
	before := make([]map[int]bool, len(calls)) // all that each request waits for, also by way of others
	for i, c := range calls {
		turn := recordedTurn{agent: c.agent, whole: true, messages: c.messages, reply: c.answer, output: c.output}
		waits := inferred(calls[:i], c)
		before[i] = map[int]bool{}
		for _, w := range waits {
			for b := range before[w] {
				before[i][b] = true
			}
		}
		k, n := continuedBy(calls, waits, c)
		turn.after = slices.DeleteFunc(waits, func(w int) bool { return before[i][w] || n > 0 && w == k })
		if n > 0 {
			turn.whole, turn.messages = false, c.messages[n:]
			turn.after = append([]int{k}, turn.after...)
		}
		ready := calls[0].start
		for k, w := range turn.after {
			before[i][w] = true
			if k == 0 || calls[w].end.After(ready) {
				ready = calls[w].end
			}
		}
		turn.delay = min(max(0, c.start.Sub(ready)), time.Duration(mostSeconds)*time.Second)
		r.add(turn)
	}
	return r, nil
}

// inferred returns the requests of before for which c waits.
func inferred(before []otelCall, c otelCall) (waits []int) {
	answers := map[string]bool{}
	for _, m := range c.messages {
		if m.Role == "assistant" {
			answers[m.Content] = true
		}
	}
	last := -1
	for i, b := range before {
		if b.end.After(c.start) {
			continue
		}
		if b.answer != "" && answers[b.answer] {
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
		b := calls[w]
		n := len(b.messages) + 1
		if n > messages && n < len(c.messages) && slices.Equal(b.messages, c.messages[:n-1]) && c.messages[n-1] == (llmbench.Message{Role: "assistant", Content: b.answer}) {
			best, messages = w, n
		}
	}
	return best, messages
}

// call returns the request of a span.
func (s otelSpan) call() (c otelCall, err error) {
	a := s.Attributes
	c = otelCall{agent: a.Agent, answer: cmp.Or(a.OutputText, a.Completion)}
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
	if c.messages, err = otelMessages(a.Input); err != nil {
		return c, fmt.Errorf(`"gen_ai.input.messages": %w`, err)
	}
	if c.answer == "" && len(a.Output) > 0 {
		out, err := otelMessages(a.Output)
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

// otelMessages reads messages, which may be the JSON of an array in a string. Their text is in content or in parts.
func otelMessages(v jsontext.Value) ([]llmbench.Message, error) {
	if v.Kind() == '"' {
		var text string
		if err := decodeSession(v, &text); err != nil {
			return nil, err
		}
		v = jsontext.Value(text)
	}
	if !v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) || v.Kind() != '[' {
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
		one, err := m.message()
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		messages = append(messages, one)
	}
	return messages, nil
}
