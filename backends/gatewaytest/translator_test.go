package gatewaytest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends/gatewaytest/internal/ask"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// A translator is a gateway whose clients use one API and whose upstreams use another. A fault makes it wrong in one way.
type translator struct {
	from, to  dialect.Dialect
	upstream  string
	fault     string
	transport *http.Transport
}

// startTranslator starts a translating gateway for clients of one API and upstreams of another.
func startTranslator(t testing.TB, from, to, fault, upstream string) string {
	g := &translator{upstream: upstream, fault: fault, transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 256}}
	g.from, _ = dialect.ByName(from)
	g.to, _ = dialect.ByName(to)
	s := httptest.NewServer(g)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		g.transport.CloseIdleConnections()
	})
	return s.URL
}

func (g *translator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 8<<20))
	var q ask.Request
	if err == nil {
		q, err = ask.Read(g.from.Name(), r.URL.Path, body)
	}
	out := newOutgoing(g.from.Name(), g.fault, q.Stream)
	if err != nil {
		w.Header().Set("Connection", "close")
		out.refuse(w, http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	stream := q.Stream
	q.Model = "other"
	g.spoil(&q)
	path := g.to.Path(dialect.Query{Model: q.Model, Stream: q.Stream})
	sent, _ := http.NewRequestWithContext(r.Context(), http.MethodPost, g.upstream+path, bytes.NewReader(ask.Write(g.to.Name(), q)))
	sent.Header.Set("Content-Type", "application/json")
	resp, err := g.transport.RoundTrip(sent)
	if err != nil {
		out.refuse(w, http.StatusBadGateway, err.Error())
		return
	}
	defer resp.Body.Close()
	if after := resp.Header.Get("Retry-After"); after != "" {
		w.Header().Set("Retry-After", after)
	}
	if stream && q.Stream && resp.StatusCode == http.StatusOK {
		g.stream(w, resp, out)
		return
	}
	g.whole(w, resp, out, q)
}

// spoil changes a request as the fault says.
func (g *translator) spoil(q *ask.Request) {
	for i := range q.Turns {
		if t := &q.Turns[i]; t.Kind == ask.Call || t.Kind == ask.Result {
			t.ID = "call_" + t.ID
		}
	}
	switch g.fault {
	case "loses the system's text":
		q.System = ""
	case "puts the system's text into the user's":
		q.Turns[0].Text, q.System = q.System+"\n"+q.Turns[0].Text, ""
	case "loses the assistant's turns":
		q.Turns = slices.DeleteFunc(q.Turns, func(t ask.Turn) bool { return t.Kind == ask.Text && t.Role == ask.Assistant })
	case "loses required members of schemas":
		for i := range q.Tools {
			q.Tools[i].Schema, _, _ = strings.Cut(q.Tools[i].Schema, `,"required"`)
			q.Tools[i].Schema += "}"
		}
	case "calls any tool":
		if q.Choice != "" {
			q.Choice = ask.AnyTool
		}
	case "swaps the IDs of results":
		var results []int
		for i, t := range q.Turns {
			if t.Kind == ask.Result {
				results = append(results, i)
			}
		}
		if len(results) == 2 {
			a, b := &q.Turns[results[0]], &q.Turns[results[1]]
			a.ID, b.ID = b.ID, a.ID
		}
	case "cuts arguments of calls":
		for i, t := range q.Turns {
			if t.Kind == ask.Call {
				q.Turns[i].Text = "{}"
			}
		}
	case "has a limit of its own":
		q.MaxTokens = 4096
	case "forgets the temperature":
		q.Temperature = 0
	case "forgets stop sequences":
		q.Stop = nil
	case "leaves images out":
		q.Turns = slices.DeleteFunc(q.Turns, func(t ask.Turn) bool { return t.Kind == ask.Image })
	case "asks for whole answers":
		q.Stream = false
	}
}

// stream translates a stream.
func (g *translator) stream(w http.ResponseWriter, resp *http.Response, out *outgoing) {
	w.Header().Set("Content-Type", "text/event-stream")
	m := message{status: resp.StatusCode, header: resp.Header}
	decoder := decoderFrom(g.to, m, resp.Body)
	p := g.to.NewParser()
	p.Reset()
	var d dialect.Delta
	for {
		e, err := decoder.Next()
		if err == io.EOF {
			err = p.End()
			if err == nil {
				w.Write(out.end())
				return
			}
		}
		if err == nil {
			err = p.Event(e, &d)
		}
		if err == nil && d.Fault != "" {
			w.Write(out.failed(d.Fault))
			return
		}
		if err != nil {
			w.Write(out.failed(err.Error()))
			return
		}
		w.Write(out.add(&d))
		http.NewResponseController(w).Flush()
	}
}

// whole translates an answer that is not streamed.
func (g *translator) whole(w http.ResponseWriter, resp *http.Response, out *outgoing, q ask.Request) {
	const most = 8 << 20
	body, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil || len(body) == most {
		out.refuse(w, http.StatusBadGateway, fmt.Sprintf("the upstream's answer broke off after %d bytes: %v", len(body), err))
		return
	}
	up := read(g.to, message{status: resp.StatusCode, header: resp.Header, body: body, stream: q.Stream})
	switch {
	case resp.StatusCode != http.StatusOK && g.fault != "answers errors with status 200":
		out.refuse(w, resp.StatusCode, up.fault)
		return
	case up.failure() != "" && resp.StatusCode == http.StatusOK:
		out.refuse(w, http.StatusBadGateway, cmp.Or(up.fault, up.failure()))
		return
	}
	events := out.add(&dialect.Delta{Reasoning: []byte(up.reasoning), Text: []byte(up.text), ToolName: []byte(up.name), ToolCall: []byte(up.call), Finish: up.finish, Usage: up.usage})
	if out.stream {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(append(events, out.end()...))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(out.document())
}

// An outgoing is an answer in the API of the client. It writes no answers of APIs other than OpenAI's and Anthropic's.
type outgoing struct {
	api, fault                  string
	stream                      bool
	buf                         bytes.Buffer // events that were not returned yet
	reasoning, text, call, name string
	finish                      string
	usage                       dialect.Usage
	block                       string // of Anthropic's stream: the kind of the open block
	blocks                      int    // of Anthropic's stream: those that began
}

func newOutgoing(api, fault string, stream bool) *outgoing {
	return &outgoing{api: api, fault: fault, stream: stream}
}

// finishes are the finish reasons of APIs, in the order of finishKinds.
var finishes = map[string][3]string{
	"openai-chat":        {"stop", "length", "tool_calls"},
	"anthropic-messages": {"end_turn", "max_tokens", "tool_use"},
	"openai-responses":   {"completed", "incomplete", "completed"},
}

// reason returns the finish reason in the client's API.
func (o *outgoing) reason() string {
	kind := slices.IndexFunc(finishKinds[:], func(kind []string) bool { return slices.Contains(kind, o.finish) })
	if o.call != "" && kind == 0 {
		kind = 2
	}
	if kind == 1 && o.fault == "takes max_tokens for stop" {
		kind = 0
	}
	return finishes[o.api][max(kind, 0)]
}

// add adds what an event says, and returns the events that say it.
func (o *outgoing) add(d *dialect.Delta) []byte {
	o.finish = cmp.Or(d.Finish, o.finish)
	if u := d.Usage; u != (dialect.Usage{}) {
		o.usage.PromptTokens, o.usage.OutputTokens = cmp.Or(u.PromptTokens, o.usage.PromptTokens), cmp.Or(u.OutputTokens, o.usage.OutputTokens)
		o.usage.CachedTokens, o.usage.ReasoningTokens = cmp.Or(u.CachedTokens, o.usage.CachedTokens), cmp.Or(u.ReasoningTokens, o.usage.ReasoningTokens)
	}
	if o.fault == "adds the prompt to the output tokens" {
		o.usage.OutputTokens += o.usage.PromptTokens
	}
	o.piece("reasoning", "", string(d.Reasoning))
	o.piece("text", "", string(d.Text))
	o.piece("call", string(d.ToolName), string(d.ToolCall))
	return o.take()
}

// piece adds a piece of generated text.
func (o *outgoing) piece(kind, name, text string) {
	if name == "" && text == "" {
		return
	}
	switch kind {
	case "reasoning":
		if o.fault == "drops translated reasoning" {
			return
		}
		o.reasoning += text
	case "text":
		o.text += text
	case "call":
		if o.fault == "cuts the arguments of translated calls" {
			text = strings.TrimSuffix(text, "}")
		}
		o.name, o.call = o.name+name, o.call+text
	}
	if !o.stream {
		return
	}
	quoted := js(text)
	switch o.api {
	case "openai-chat":
		delta := map[string]string{
			"reasoning": `"reasoning_content":` + quoted, "text": `"content":` + quoted,
			"call": `"tool_calls":[{"index":0,"function":{"arguments":` + quoted + `}}]`,
		}[kind]
		if name != "" {
			delta = `"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":` + js(name) + `,"arguments":` + quoted + `}}]`
		}
		o.event("", `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{`+delta+`},"finish_reason":null}]}`)
	case "anthropic-messages":
		o.openBlock(kind, name)
		if text != "" {
			delta := map[string]string{"reasoning": `"type":"thinking_delta","thinking":`, "text": `"type":"text_delta","text":`, "call": `"type":"input_json_delta","partial_json":`}[kind]
			o.event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{%s%s}}`, o.blocks-1, delta, quoted))
		}
	case "openai-responses":
		if name != "" {
			o.event("response.output_item.added", `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":`+js(name)+`,"arguments":""}}`)
		}
		what := map[string]string{"reasoning": "response.reasoning_text.delta", "text": "response.output_text.delta", "call": "response.function_call_arguments.delta"}[kind]
		o.event(what, `{"type":"`+what+`","item_id":"i","output_index":0,"content_index":0,"delta":`+quoted+`}`)
	}
}

// js returns a string as JSON.
func js(s string) string {
	out, _ := json.Marshal(s)
	return string(out)
}

// openBlock begins a content block of Anthropic's stream, and the message before the first.
func (o *outgoing) openBlock(kind, name string) {
	if o.blocks == 0 {
		o.event("message_start", fmt.Sprintf(`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"mock","stop_reason":null,"usage":{"input_tokens":%d,"output_tokens":0}}}`, o.usage.PromptTokens))
	}
	if kind == o.block {
		return
	}
	o.closeBlock()
	o.block = kind
	start := map[string]string{"reasoning": `"type":"thinking","thinking":""`, "text": `"type":"text","text":""`, "call": `"type":"tool_use","id":"toolu_1","name":` + js(name) + `,"input":{}`}[kind]
	o.event("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{%s}}`, o.blocks, start))
	o.blocks++
}

func (o *outgoing) closeBlock() {
	if o.block != "" {
		o.event("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, o.blocks-1))
	}
}

// event writes an event.
func (o *outgoing) event(name, data string) {
	if name != "" {
		o.buf.WriteString("event: " + name + "\n")
	}
	o.buf.WriteString("data: " + data + "\n\n")
}

// take returns the events that were not returned yet.
func (o *outgoing) take() []byte {
	b := bytes.Clone(o.buf.Bytes())
	o.buf.Reset()
	return b
}

// end returns the events that end a stream.
func (o *outgoing) end() []byte {
	switch o.api {
	case "openai-chat":
		o.event("", fmt.Sprintf(`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, o.reason()))
		o.event("", `{"object":"chat.completion.chunk","choices":[],"usage":`+o.count()+`}`)
		o.event("", "[DONE]")
	case "anthropic-messages":
		if o.blocks == 0 {
			o.openBlock("text", "")
		}
		o.closeBlock()
		o.event("message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":%s}`, o.reason(), o.count()))
		o.event("message_stop", `{"type":"message_stop"}`)
	case "openai-responses":
		status := o.reason()
		o.event("response."+status, `{"type":"response.`+status+`","response":`+string(o.document())+`}`)
	}
	return o.take()
}

// count returns the usage in the client's API.
func (o *outgoing) count() string {
	u := o.usage
	switch o.api {
	case "openai-chat":
		return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}`,
			u.PromptTokens, u.OutputTokens, u.PromptTokens+u.OutputTokens, u.CachedTokens, u.ReasoningTokens)
	case "anthropic-messages": // input_tokens are those that were not in the cache
		return fmt.Sprintf(`{"input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d,"output_tokens_details":{"thinking_tokens":%d}}`, u.PromptTokens-u.CachedTokens, u.CachedTokens, u.OutputTokens, u.ReasoningTokens)
	}
	return fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`,
		u.PromptTokens, u.CachedTokens, u.OutputTokens, u.ReasoningTokens, u.PromptTokens+u.OutputTokens)
}

// document returns an answer that is not streamed.
func (o *outgoing) document() []byte {
	var parts []string
	add := func(when bool, format string, args ...any) {
		if when {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	switch o.api {
	case "openai-chat":
		add(true, `"role":"assistant"`)
		add(o.reasoning != "", `"reasoning_content":%s`, js(o.reasoning))
		add(o.text != "", `"content":%s`, js(o.text))
		add(o.call != "", `"content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":%s,"arguments":%s}}]`, js(o.name), js(o.call))
		return fmt.Appendf(nil, `{"object":"chat.completion","choices":[{"index":0,"message":{%s},"finish_reason":%q}],"usage":%s}`, strings.Join(parts, ","), o.reason(), o.count())
	case "anthropic-messages":
		add(o.reasoning != "", `{"type":"thinking","thinking":%s}`, js(o.reasoning))
		add(o.text != "", `{"type":"text","text":%s}`, js(o.text))
		add(o.call != "", `{"type":"tool_use","id":"toolu_1","name":%s,"input":%s}`, js(o.name), o.call)
		return fmt.Appendf(nil, `{"id":"m","type":"message","role":"assistant","model":"mock","content":[%s],"stop_reason":%q,"stop_sequence":null,"usage":%s}`, strings.Join(parts, ","), o.reason(), o.count())
	}
	add(o.reasoning != "", `{"type":"reasoning","id":"r","content":[{"type":"reasoning_text","text":%s}]}`, js(o.reasoning))
	add(o.text != "", `{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":%s}]}`, js(o.text))
	add(o.call != "", `{"type":"function_call","id":"fc_1","call_id":"call_1","name":%s,"arguments":%s}`, js(o.name), js(o.call))
	details := "null"
	if o.reason() == "incomplete" {
		details = `{"reason":"max_output_tokens"}`
	}
	return fmt.Appendf(nil, `{"id":"resp","object":"response","status":%q,"incomplete_details":%s,"error":null,"output":[%s],"usage":%s}`, o.reason(), details, strings.Join(parts, ","), o.count())
}

// errorObject returns an error in the client's API.
func (o *outgoing) errorObject(status int, message string) string {
	if o.api != "anthropic-messages" {
		return fmt.Sprintf(`{"error":{"message":%s,"type":"upstream_error","param":null,"code":"%d"}}`, js(message), status)
	}
	kind := "api_error"
	if types := errorTables[o.api].types[status]; types != nil && o.fault != "has one type of errors" {
		kind = types[0]
	}
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%s}}`, kind, js(message))
}

// refuse answers with an error.
func (o *outgoing) refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, o.errorObject(status, message))
}

// failed returns the events that tell that a stream failed.
func (o *outgoing) failed(message string) []byte {
	switch o.api {
	case "anthropic-messages":
		o.event("error", o.errorObject(http.StatusBadGateway, message))
	case "openai-responses":
		o.event("response.failed", `{"type":"response.failed","response":{"id":"resp","object":"response","status":"failed","error":{"code":"server_error","message":`+js(message)+`},"output":[]}}`)
	default:
		o.event("", o.errorObject(http.StatusBadGateway, message))
	}
	return o.take()
}
