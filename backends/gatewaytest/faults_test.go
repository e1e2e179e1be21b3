package gatewaytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// A planted is a fault of the reference gateway.
type planted struct {
	finding string                                   // that must be found by the class alone: class/case/rule, as a pattern
	part    func(g *reference) func(b []byte) []byte // returns what changes the parts of a stream, as they are read
	events  bool                                     // the parts are whole events, and nil at the end
	whole   func(g *reference, body []byte) []byte   // changes an answer that is not streamed
}

// each returns a planted fault that changes events one by one.
func each(finding string, change func(event string) string) planted {
	return planted{finding: finding, events: true, part: func(*reference) func([]byte) []byte {
		return func(b []byte) []byte { return []byte(change(string(b))) }
	}}
}

// without drops events that contain all of the texts.
func without(finding string, texts ...string) planted {
	return each(finding, func(event string) string {
		for _, text := range texts {
			if !strings.Contains(event, text) {
				return event
			}
		}
		return ""
	})
}

// replace replaces a text of events and of whole answers.
func replace(finding, pattern string, with func(string) string) planted {
	re := regexp.MustCompile(pattern)
	p := each(finding, func(event string) string { return re.ReplaceAllStringFunc(event, with) })
	p.whole = func(_ *reference, body []byte) []byte { return []byte(re.ReplaceAllStringFunc(string(body), with)) }
	return p
}

var number = regexp.MustCompile(`\d+`)

// faults are the planted faults, by what the gateway does.
var faults map[string]planted

func init() {
	faults = map[string]planted{
		"buffers the whole answer": {finding: "fidelity/stream/held"},
		"replaces halves of characters": {finding: "fidelity/utf8-split/text", part: func(*reference) func([]byte) []byte {
			return func(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("\ufffd")) }
		}},
		"ends an event at the end of each read": {finding: "fidelity/random-split/*", part: func(*reference) func([]byte) []byte {
			return func(b []byte) []byte { return append(bytes.Clone(b), "\n\n"...) }
		}},
		"holds each event back until the next": {finding: "fidelity/stream/held", events: true, part: func(*reference) func([]byte) []byte {
			var kept []byte
			return func(b []byte) []byte {
				out := kept
				kept = bytes.Clone(b)
				return out
			}
		}},
		"changes the order of events": {finding: "fidelity/stream/*", events: true, part: func(*reference) func([]byte) []byte {
			var kept []byte
			return func(b []byte) []byte {
				if kept == nil && b != nil {
					kept = bytes.Clone(b)
					return nil
				}
				out := append(bytes.Clone(b), kept...)
				kept = nil
				return out
			}
		}},
		"repeats events": each("fidelity/stream/text", func(event string) string { return event + event }),
		"loses event 700": {finding: "fidelity/burst/text", events: true, part: func(*reference) func([]byte) []byte {
			n := 0
			return func(b []byte) []byte {
				if n++; n == 700 {
					return nil
				}
				return b
			}
		}},
		"drops tool calls":              without("fidelity/tool-call/tool-call", `"arguments"`),
		"drops reasoning":               without("fidelity/reasoning/reasoning", `"reasoning_content"`),
		"drops the finish reason":       replace("fidelity/stream/failed", `"finish_reason":"[a-z_]+"`, func(string) string { return `"finish_reason":null` }),
		"changes the finish reason":     replace("fidelity/*/finish", `"finish_reason":"stop"`, func(string) string { return `"finish_reason":"length"` }),
		"drops the event with the role": without("fidelity/role-alone/events", `"role"`, `"content":""`),
		"loses large events":            each("fidelity/large-event/text", func(event string) string { return event[:len(event)*b2i(len(event) < 64<<10)] }),
		"adds a member":                 replace("fidelity/*/*", `"object":"chat`, func(s string) string { return `"cost":0.1,` + s }),
		"adds an event": each("fidelity/stream/events", func(event string) string {
			return strings.Replace(event, "data: [DONE]", "data: {\"choices\":[],\"note\":\"ad\"}\n\ndata: [DONE]", 1)
		}),
		"changes the content type":        {finding: "fidelity/stream/content-type"},
		"passes hop-by-hop fields":        {finding: "fidelity/hop-by-hop/hop-request"},
		"loses the end of large requests": {finding: "fidelity/request/request"},
		"hangs at tool calls":             {finding: "fidelity/tool-call/hang"},

		"ends a cut stream with [DONE]":                {finding: "end/reset/success"},
		"ends a cut stream cleanly":                    {finding: "end/fin/clean-end"},
		"sends the request again after the first byte": {finding: "end/fin/retried"},
		"turns 429 into 200":                           {finding: "end/http-429/status"},
		"turns 400 into 500":                           {finding: "end/http-400/status"},
		"drops Retry-After":                            {finding: "end/http-429/retry-after"},
		"swallows error objects":                       without("end/error-event/error-object", `"error"`),
		"drops events that are not JSON":               without("end/malformed/success", "{\"choices\":[{\"index\":0,\n\n"),
		"makes errors pages": {finding: "end/http-500/error-object", whole: func(_ *reference, body []byte) []byte {
			if bytes.Contains(body, []byte(`"error"`)) {
				return []byte("<html>Error</html>")
			}
			return body
		}},
		"hides the upstream's message": {finding: "end/http-400/error-message", whole: func(_ *reference, body []byte) []byte {
			return regexp.MustCompile(`"message":"[^"]*"`).ReplaceAll(body, []byte(`"message":"something went wrong"`))
		}},

		"reads on after the client left": {finding: "leaving/mid-stream/goes-on"},

		"drops the usage event": without("usage/stream/usage", `"choices":[]`, `"usage":{`),
		"counts usage twice": replace("usage/whole/usage", `"completion_tokens":\d+`, func(s string) string {
			n, _ := strconv.Atoi(number.FindString(s))
			return fmt.Sprintf(`"completion_tokens":%d`, 2*n)
		}),
		"forgets cached tokens": replace("usage/cached/usage", `"cached_tokens":\d+`, func(string) string { return `"cached_tokens":0` }),

		"leaks the tenant's key":       {finding: "isolation/keys/tenant-key"},
		"passes the upstream's key on": {finding: "isolation/upstream-key/upstream-key"},
		"mixes streams": {finding: "isolation/streams/foreign", events: true, part: func(g *reference) func([]byte) []byte {
			me := g.count.Add(1)
			return func(b []byte) []byte {
				g.mu.Lock()
				defer g.mu.Unlock()
				out := b
				if g.owner != 0 && g.owner != me { // once with each event that was kept
					out, g.owner = bytes.Clone(g.last), 0
				} else if bytes.Contains(b, []byte("gwt")) {
					g.last, g.owner = bytes.Clone(b), me
				}
				return out
			}
		}},
		"answers from a cache": {finding: "isolation/whole/foreign"},

		"answers 200 for a dead upstream":   {finding: "failover/dead/success"},
		"hangs up for a dead upstream":      {finding: "failover/dead/no-answer"},
		"answers a dead upstream in HTML":   {finding: "failover/dead/error-object"},
		"does not try another upstream":     {finding: "failover/one-dead/failed"},
		"forgets an upstream that was dead": {finding: "failover/dead/recovery"},
	}
}

// allowed is what a gateway may do, in the same form.
var allowed = map[string]planted{
	"drops comments": {events: true, part: func(*reference) func([]byte) []byte {
		comment := regexp.MustCompile(`(?m)^:.*\n\n?`)
		return func(b []byte) []byte { return comment.ReplaceAll(b, nil) }
	}},
	"leaves the upstream at [DONE]": {part: func(*reference) func([]byte) []byte {
		return func(b []byte) []byte { return b }
	}},
	"adds comments": each("", func(event string) string { return ": hello\n\n" + event }),
	"sends each byte alone": {part: func(*reference) func([]byte) []byte {
		return func(b []byte) []byte { return b }
	}},
	"spells JSON anew": each("", func(event string) string {
		data, found := strings.CutPrefix(strings.TrimSpace(event), "data:")
		var v any
		if !found || json.Unmarshal([]byte(data), &v) != nil {
			return event
		}
		again, _ := json.MarshalIndent(v, "data: ", "\t")
		return "data: " + string(again) + "\r\n\r\n"
	}),
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// early answers in place of an upstream's answer, or reports false.
func (g *reference) early(w http.ResponseWriter, resp *http.Response) bool {
	if g.fault != "answers from a cache" || resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last == nil {
		g.last = make([]byte, 1<<20)
		n, _ := resp.Body.Read(g.last)
		g.last = g.last[:n]
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(g.last)
	return true
}

// TestFaults plants one fault after another in the reference gateway. The class of the fault alone must find it.
func TestFaults(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup // the gateways mostly wait, so that they need no processor each
	defer wg.Wait()
	room := make(chan struct{}, 8)
	for name, p := range faults {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			t.Run(name, func(t *testing.T) { finds(t, name, p.finding, Options{}) })
		})
	}
}

// finds checks that a class finds a fault.
func finds(t *testing.T, fault, finding string, o Options) {
	o.Upstreams, o.UpstreamKey = 2, upstreamKey
	switch path.Base(finding) {
	case "hang":
		o.Wait = 5 * time.Second
	case "serves-hang":
		o.Wait = 3 * time.Second
	case "left-behind":
		o.LeaveWithin = time.Second
	case "recovery":
		o.RecoverWithin = time.Second
	}
	k, err := newKits(o, nil, func(upstreams []string) (string, error) { return startReference(fault)(t, upstreams), nil }, t.Cleanup)
	assert.NilError(t, err)
	assert.Assert(t, k.found == nil)
	class, _, _ := strings.Cut(finding, "/")
	if o.Measure != nil {
		class = path.Dir(finding) // the other cases take long
	}
	var found []string
	for _, c := range cases {
		if !covers(class, c.id()) {
			continue
		}
		for _, f := range k.of(c).run(c).Findings {
			if covers(finding, f.ID()) {
				t.Log(f)
				return
			}
			found = append(found, f.String())
		}
	}
	t.Errorf("want a finding %s, got %d:\n%s", finding, len(found), strings.Join(found, "\n"))
}

// TestHonest checks that the reference gateway passes without a fault.
func TestHonest(t *testing.T) {
	Run(t, startReference(""), Options{Upstreams: 2, UpstreamKey: upstreamKey, Measure: MeasureSelf})
}
