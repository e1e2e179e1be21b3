package k6

import (
	"errors"
	"fmt"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/errext"
	"go.k6.io/k6/v2/lib"
	"go.k6.io/k6/v2/metrics"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A client is an instance of the JavaScript class Client in one VU (virtual user of k6).
type client struct {
	*instance
	options *options
	routes  [2]*route // of the methods chat and completion; nil until the method is called
}

// chat is the method chat. It sends a conversation, and returns the result when the answer has ended.
func (c *client) chat(v sobek.Value) (*sobek.Object, error) {
	if c.routes[0] == nil {
		c.routes[0] = c.options.route(dialect.OpenAIChat{})
	}
	if d := c.routes[0].target.Dialect; !talks(d) {
		return nil, fmt.Errorf("dialect %q has no conversations: want completion, or another dialect", d.Name())
	}
	return c.send(c.routes[0], v, true)
}

// completion is the method completion. It sends a prompt, and returns the result when the answer has ended.
func (c *client) completion(v sobek.Value) (*sobek.Object, error) {
	if c.routes[1] == nil {
		c.routes[1] = c.options.route(dialect.OpenAICompletions{})
	}
	if d := c.routes[1].target.Dialect; talks(d) {
		return nil, fmt.Errorf("dialect %q has conversations: want chat, or another dialect", d.Name())
	}
	return c.send(c.routes[1], v, false)
}

// send sends the request that v describes, and adds its values to k6's metrics. It blocks the VU's
// JavaScript until the request has ended. The request is canceled if the iteration of the VU ends first.
func (c *client) send(to *route, v sobek.Value, chat bool) (*sobek.Object, error) {
	state := c.vu.State()
	if state == nil {
		return nil, errors.New("no request can be sent in the init context: want a call in a function that k6 runs")
	}
	rt := c.vu.Runtime()
	tags := state.Tags.GetCurrentValues()
	tags.SetTag("dialect", to.target.Dialect.Name())
	tags.SetTag("model", to.target.Model)
	for _, t := range c.options.tags {
		tags.SetTag(t[0], t[1])
	}
	r, err := readRequest(rt, v, chat, &tags)
	if err != nil {
		return nil, err
	}
	sender, err := c.root.open(c.vu.Context(), mostVUs(&state.Options), to.key, to.benchmark, to.target, c.options.load)
	if err != nil {
		rt.Interrupt(&errext.InterruptError{Reason: fmt.Sprintf("%s: %v", name, err)})
		return nil, err
	}
	s, err := sender.Do(c.vu.Context(), r)
	if s.ID == "" {
		return nil, err
	}
	// This does not block forever: the executor waits for the iteration, and k6 waits for the executor
	// before it closes the channel. Values of a request that was canceled with its iteration are therefore
	// also received.
	state.Samples <- c.metrics.of(&s, c.options.load.SLO, tags)
	if err != nil { // the records are incomplete
		rt.Interrupt(&errext.InterruptError{Reason: fmt.Sprintf("%s: %v", name, err)})
		return nil, err
	}
	return result(rt, &s), nil
}

// mostVUs returns the maximum number of VUs that the test may run at once.
func mostVUs(o *lib.Options) int {
	tuple, err := lib.NewExecutionTuple(o.ExecutionSegment, o.ExecutionSegmentSequence)
	if err != nil { // k6 has checked both
		return 1
	}
	return int(lib.GetMaxPossibleVUs(o.Scenarios.GetFullExecutionRequirements(tuple)))
}

// readRequest reads the argument of a method. It adds the request's own tags to tags.
func readRequest(rt *sobek.Runtime, v sobek.Value, chat bool, tags *metrics.TagsAndMeta) (llmbench.Request, error) {
	var r llmbench.Request
	a := readArgs(rt, v)
	a.text(&r.Prompt, "prompt")
	if chat {
		a.list("messages", rt, `an array of messages such as {role: "user", content: "Hello"}`, func(item *args) {
			var m llmbench.Message
			item.text(&m.Role, "role")
			item.text(&m.Content, "content")
			if item.end() == nil && (m.Role == "" || m.Content == "") {
				item.wrongText("role or content", "missing", "both")
			}
			r.Messages = append(r.Messages, m)
		})
		a.list("tools", rt, "an array of functions such as {name: \"f\", parameters: {…}}", func(item *args) {
			var tool llmbench.Tool
			item.text(&tool.Name, "name")
			item.text(&tool.Description, "description")
			item.json(&tool.Parameters, "parameters")
			if item.end() == nil && tool.Name == "" {
				item.wrongText("name", "missing", "a string that is not empty")
			}
			r.Tools = append(r.Tools, tool)
		})
	}
	a.json(&r.Schema, "schema")
	a.count(&r.MaxTokens, "maxTokens", 1)
	a.flag(&r.FixedOutput, "fixedOutput")
	a.count(&r.PromptTokens, "promptTokens", 1)
	a.texts("tags", rt, tags.SetTag)
	if a.end() != nil {
		return r, a.end()
	}
	switch given := r.Prompt != ""; {
	case !given && len(r.Messages) == 0 && chat:
		a.wrongText("prompt or messages", "missing", "one of them")
	case !given && len(r.Messages) == 0:
		a.wrongText("prompt", "missing", "a string that is not empty")
	case given && len(r.Messages) > 0:
		a.wrongText("prompt and messages", "present", "one of them")
	case r.MaxTokens == 0:
		a.wrongText("maxTokens", "missing", "a whole number of at least 1")
	}
	return r, a.end()
}

// result converts a sample to the object that the script gets. Values that are unknown are null.
func result(rt *sobek.Runtime, s *sample.Sample) *sobek.Object {
	o := rt.NewObject()
	set := func(name string, value any) {
		if err := o.Set(name, value); err != nil { // setting a member of an ordinary object does not fail
			panic(err)
		}
	}
	known := s.Outcome == sample.OK
	set("ok", known)
	set("outcome", string(s.Outcome))
	set("error", nil)
	if s.Err != nil {
		set("error", s.Err.Error())
	}
	set("id", s.ID)
	set("status", s.Status)
	set("finish", s.Finish)
	latency := func(name string, of func() (time.Duration, bool)) {
		set(name, nil)
		if d, ok := of(); ok && known {
			set(name, metrics.D(d))
		}
	}
	latency("ttft", s.TTFT)
	latency("tpot", s.TPOT)
	latency("e2e", s.E2E)
	set("promptTokens", s.PromptTokens)
	set("cachedTokens", s.CachedTokens)
	set("outputTokens", s.OutputTokens)
	if a := s.Answer; a != nil {
		set("text", a.Text)
		set("reasoning", a.Reasoning)
		set("toolNames", a.ToolNames())
		set("toolCalls", a.Arguments())
	}
	return o
}
