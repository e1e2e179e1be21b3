package gatewaytest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A testCase is one thing that is checked of a gateway.
type testCase struct {
	class, name string
	does        string // what the upstream or the client does
	plan        plan
	judge       func(*exchange) []Finding   // judges one exchange with the plan
	run         func(*kit, testCase) Result // runs a case of several exchanges; nil means one that judge judges
	upstreams   int                         // the least number of upstreams
	alone       bool                        // it does not run beside streams, which would fail, or change what it measures
}

// id returns class and name.
func (c testCase) id() string { return c.class + "/" + c.name }

// classes returns the names of all classes, in their order.
func classes() (names []string) {
	for _, c := range cases {
		names = append(names, c.class)
	}
	return slices.Compact(names)
}

// A Case names a case and what happens in it.
type Case struct{ Class, Name, Does string }

// Cases returns all cases, in their order.
func Cases() (all []Case) {
	for _, c := range cases {
		all = append(all, Case{c.class, c.name, c.does})
	}
	return all
}

// paced is a server that sends a token every 5 ms, so that what it sends comes in several reads.
func paced(s shape.Shape) mockserver.Config {
	return mockserver.Config{PerToken: 5 * time.Millisecond, Shape: s}
}

// failing is a server with a fault, which occurs at token 3 if it occurs at a token.
func failing(kind fault.Kind) mockserver.Config {
	c := paced(shape.Shape{})
	c.Faults = []fault.Fault{{Kind: kind, Every: 1}}
	if c.Faults[0].Token(8) >= 0 && kind != fault.Empty {
		c.Faults[0].At = 3
	}
	return c
}

// longPause is the time for which an upstream is silent.
const longPause = time.Second

// forever is a time to the first token that no request waits for.
const forever = time.Hour

// endless is a server that sends tokens until its client leaves.
var endless = mockserver.Config{PerToken: 2 * time.Millisecond, Faults: []fault.Fault{{Kind: fault.Endless, Every: 1}}}

// cases are all cases, in the order in which they run. It is filled by init, because cases refer to functions that read it.
var cases []testCase

func init() {
	cases = slices.Concat(fidelityCases, endCases(), leavingCases, usageCases, isolationCases, translationCases(), failoverCases, limitCases, leakCases)
}

var fidelityCases = []testCase{
	same("stream", "a stream whose upstream writes each event when the client has the one before", plan{stream: true, lockstep: true}),
	same("whole", "an answer that is not streamed", plan{}),
	same("utf8-split", "writes that end within characters", plan{stream: true, cut: insideCharacters, pause: 2 * time.Millisecond}),
	same("byte-split", "each byte is a write of its own", plan{stream: true, tokens: 3, cut: everyByte}),
	same("line-split", "writes that end before and after each line end", plan{stream: true, tokens: 4, cut: aroundLines, pause: time.Millisecond}),
	same("random-split", "writes that end anywhere", plan{stream: true, cut: anywhere, pause: time.Millisecond}),
	same("coalesced", "several events in a write", plan{stream: true, config: paced(shape.Shape{EventsPerWrite: 3})}),
	same("several-tokens", "several tokens in an event", plan{stream: true, config: paced(shape.Shape{TokensPerChunk: 4})}),
	same("burst", "2,000 events without a pause", plan{stream: true, tokens: 2000}),
	same("silence", "a second of silence before the first token", plan{stream: true, config: mockserver.Config{TTFT: longPause}}),
	same("whole-silence", "a second of silence before an answer that is not streamed", plan{config: mockserver.Config{TTFT: longPause}}),
	same("large-event", "an event of 300 kB", plan{stream: true, tokens: 12_000, config: mockserver.Config{Shape: shape.Shape{TokensPerChunk: 11_000}}}),
	same("large-whole", "an answer of 1 MB that is not streamed", plan{tokens: 40_000}),
	same("comments", "comments between events", plan{stream: true, config: paced(shape.Shape{Ping: true})}),
	same("crlf", "lines that end in CR LF", plan{stream: true, config: paced(shape.Shape{CRLF: true})}),
	same("blank-lines", "blank lines between events", plan{stream: true, config: paced(shape.Shape{}), edit: moreBlankLines}),
	same("no-space", "no space after data:", plan{stream: true, config: paced(shape.Shape{NoSpace: true})}),
	same("event-lines", "events with id, type and retry", plan{stream: true, config: paced(shape.Shape{EventLines: true})}),
	same("escapes", "characters written as \\u escapes", plan{stream: true, config: paced(shape.Shape{Dumps: true})}),
	same("role-alone", "a first event without text, well before the text", plan{stream: true, config: mockserver.Config{TTFT: 20 * time.Millisecond, Shape: shape.Shape{RoleFirst: true, FinishAlone: true}}}),
	same("empty-choices", "events without a choice", plan{stream: true, config: paced(shape.Shape{EmptyChoices: true})}),
	same("reasoning", "reasoning before the answer", plan{stream: true, lockstep: true, config: mockserver.Config{Shape: shape.Shape{Reasoning: "reasoning_content"}}}),
	same("reasoning-whole", "reasoning in an answer that is not streamed", plan{config: mockserver.Config{Shape: shape.Shape{Reasoning: "reasoning_content"}}}),
	same("tool-call", "a tool call in a stream", plan{stream: true, tools: true, config: paced(shape.Shape{})}),
	same("tool-call-whole", "a tool call in an answer that is not streamed", plan{tools: true}),
	{class: "fidelity", name: "request", does: "a request of 1 MB", plan: plan{prompt: 1 << 20}, judge: func(x *exchange) []Finding { return slices.Concat(judgeSame(x), judgeRequest(x)) }},
	{class: "fidelity", name: "hop-by-hop", does: "header fields that are for one connection", plan: plan{hop: true}, judge: judgeHop},
}

// same returns a case of an answer that must come as it was written.
func same(name, does string, p plan) testCase {
	return testCase{class: "fidelity", name: name, does: does, plan: p, judge: judgeSame}
}

// everyByte divides after each byte.
func everyByte(b []byte, _ *rand.Rand) (cuts []int) {
	for i := 1; i < len(b); i++ {
		cuts = append(cuts, i)
	}
	return cuts
}

// insideCharacters divides after the first byte of each character that has several.
func insideCharacters(b []byte, _ *rand.Rand) (cuts []int) {
	for i := range b {
		if utf8.RuneStart(b[i]) && b[i] >= utf8.RuneSelf && i+1 < len(b) {
			cuts = append(cuts, i+1)
		}
	}
	return cuts
}

// aroundLines divides before and after each line end.
func aroundLines(b []byte, _ *rand.Rand) (cuts []int) {
	for i := range b {
		if b[i] == '\n' {
			cuts = append(cuts, i, i+1)
		}
	}
	return slices.DeleteFunc(slices.Compact(cuts), func(i int) bool { return i == 0 || i >= len(b) })
}

// anywhere divides at random places.
func anywhere(b []byte, r *rand.Rand) (cuts []int) {
	for i := 1; i < len(b); i++ {
		if r.IntN(40) == 0 {
			cuts = append(cuts, i)
		}
	}
	return cuts
}

// moreBlankLines doubles the blank lines after events.
func moreBlankLines(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n\n"), []byte("\n\n\n\n")) }

// endCases are what an upstream does wrong, in streams and in answers that are not streamed.
func endCases() (all []testCase) {
	for _, f := range []struct {
		kind fault.Kind
		does string
	}{
		{fault.Truncate, "the answer ends cleanly in the middle"},
		{fault.FIN, "the connection is closed in the middle of the answer"},
		{fault.Reset, "the connection is reset in the middle of the answer"},
		{fault.Empty, "status 200 and no body"},
		{fault.ErrorEvent, "an error object in the middle of the answer"},
		{fault.NamedError, "an event named error in the middle of the answer"},
		{fault.ErrorString, "an error as a string in the middle of the answer"},
		{fault.Malformed, "an event that is not JSON"},
		{fault.HTML200, "a page in HTML with status 200"},
		{fault.WrongType, "an answer with content type text/html"},
		{fault.HTML502, "a page in HTML with status 502"},
		{fault.HTTP400, "status 400"}, {fault.HTTP401, "status 401"}, {fault.HTTP404, "status 404"}, {fault.HTTP413, "status 413"},
		{fault.HTTP422, "status 422"}, {fault.HTTP429, "status 429 with Retry-After"}, {fault.HTTP500, "status 500"},
		{fault.HTTP503, "status 503"}, {fault.HTTP529, "status 529"},
	} {
		all = append(all, testCase{class: "end", name: string(f.kind), does: f.does, plan: plan{stream: true, lockstep: true, config: failing(f.kind)}, judge: judgeEnd})
		all = append(all, testCase{class: "end", name: string(f.kind) + "-whole", does: f.does + ", not streamed", plan: plan{config: failing(f.kind)}, judge: judgeEnd})
	}
	return append(all,
		testCase{class: "end", name: "reset-first", does: "the connection is reset before the first token", plan: plan{stream: true, config: mockserver.Config{Faults: []fault.Fault{{Kind: fault.Reset, Every: 1}}}}, judge: judgeEnd},
		testCase{class: "end", name: "stall", does: "the stream stands still", plan: plan{stream: true, config: failing(fault.Stall)}, run: stalled})
}

var leavingCases = []testCase{
	{class: "leaving", name: "before-first", does: "the client of a stream leaves before the first token", plan: plan{stream: true, leave: onArrival, config: mockserver.Config{TTFT: forever}}, run: leaves},
	{class: "leaving", name: "mid-stream", does: "the client leaves in the middle of a stream", plan: plan{stream: true, leave: afterEvents, config: endless}, run: leaves},
	{class: "leaving", name: "pause", does: "the client leaves while the stream pauses", plan: plan{stream: true, leave: afterEvents, config: failing(fault.Stall)}, run: leaves},
	{class: "leaving", name: "whole", does: "the client leaves before an answer that is not streamed", plan: plan{leave: onArrival, config: mockserver.Config{TTFT: forever}}, run: leaves},
}

// cached is a server with a prefix cache.
var cached = mockserver.Config{Engine: &engine.Profile{Step: 100, Prefill: 100, MaxBatch: 8, PrefixCache: true}}

var usageCases = []testCase{
	{class: "usage", name: "stream", does: "usage in an event of its own", plan: plan{stream: true}, run: accounted},
	{class: "usage", name: "last", does: "usage in the event with the finish reason", plan: plan{stream: true, config: mockserver.Config{Shape: shape.Shape{Usage: shape.UsageLast}}}, run: accounted},
	{class: "usage", name: "each", does: "usage in each event, growing", plan: plan{stream: true, config: mockserver.Config{Shape: shape.Shape{Usage: shape.UsageEach}}}, run: accounted},
	{class: "usage", name: "null", does: "usage null in all events but one", plan: plan{stream: true, config: mockserver.Config{Shape: shape.Shape{Usage: shape.UsageNull}}}, run: accounted},
	{class: "usage", name: "whole", does: "usage of an answer that is not streamed", plan: plan{}, run: accounted},
	{class: "usage", name: "reasoning", does: "usage of an answer with reasoning", plan: plan{stream: true, config: mockserver.Config{Shape: shape.Shape{Reasoning: "reasoning_content"}}}, run: accounted},
	{class: "usage", name: "cached", does: "usage of a prompt that the upstream has in its cache", plan: plan{stream: true, prompt: 2000, config: cached}, run: accounted},
	{class: "usage", name: "cut", does: "a stream that breaks: the tokens before that count", plan: plan{stream: true, config: failing(fault.FIN)}, run: accounted},
	{class: "usage", name: "left", does: "a client that leaves: the tokens until then count", plan: plan{stream: true, leave: afterEvents, config: endless}, run: accounted},
}

var isolationCases = []testCase{
	{class: "isolation", name: "keys", does: "a tenant's key stays in the gateway", plan: plan{}, judge: judgeKeys},
	{class: "isolation", name: "upstream-key", does: "the upstream names its key in an error", plan: plan{config: failing(fault.HTTP400)}, run: namesKey},
	{class: "isolation", name: "streams", does: "2, 8, 32 and 100 streams at once, of different tenants", plan: plan{stream: true, tokens: 16, config: mockserver.Config{PerToken: time.Millisecond}}, run: together},
	{class: "isolation", name: "whole", does: "2, 8, 32 and 100 answers at once that are not streamed", plan: plan{tokens: 16, config: mockserver.Config{TTFT: time.Millisecond}}, run: together},
	{class: "isolation", name: "broken", does: "streams at once, of which some break and some clients leave", plan: plan{stream: true, tokens: 16, config: failing(fault.Reset)}, run: togetherBroken},
}

var failoverCases = []testCase{
	{class: "failover", name: "dead", does: "all upstreams refuse connections, and come back", plan: plan{}, run: deadAll, alone: true},
	{class: "failover", name: "dead-stream", does: "all upstreams refuse connections, to a stream", plan: plan{stream: true}, run: deadAll, alone: true},
	{class: "failover", name: "one-dead", does: "one of two upstreams refuses connections, and comes back", plan: plan{stream: true}, run: deadOne, upstreams: 2, alone: true},
	{class: "failover", name: "one-cuts", does: "one of two upstreams breaks its streams", plan: plan{stream: true, lockstep: true, config: failing(fault.Reset)}, run: faultyOne, upstreams: 2, alone: true},
	{class: "failover", name: "one-full", does: "one of two upstreams answers with status 503", plan: plan{stream: true, config: failing(fault.HTTP503)}, run: faultyOne, upstreams: 2, alone: true},
}
