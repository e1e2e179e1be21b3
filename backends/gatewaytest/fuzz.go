package gatewaytest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// Fuzz checks a gateway with drawn exchanges: the fault of the upstream and the token at which it occurs, the length and the
// form of the answer, where writes are divided, and whether the client leaves. Like [Run], it starts the upstreams and calls
// start, once in each process of the fuzzer. A finding belongs to the case of Run that is most like it, so that the same
// [Options.Gaps] declare it. [Options.Streams] run beside all exchanges. Classes, Accounted and Upstreams are not used.
func Fuzz(f *testing.F, start func(t testing.TB, upstreams []string) (url string), o Options) {
	f.Helper()
	o.Upstreams = 1
	all, err := newKits(o, nil, func(upstreams []string) (string, error) { return start(f, upstreams), nil }, f.Cleanup)
	if err != nil {
		f.Fatal(err)
	}
	if all.found != nil {
		f.Fatal(all.found)
	}
	k := all.all[0]
	if k.o.Streams > 0 {
		k.load.start(k.o.Streams)
	}
	for i := range len(breaking) + 1 { // the last has no fault
		f.Add([]byte{byte(i), 2, 1, 8, 0, 7, 31})
		f.Add([]byte{byte(i), 2, 0, 8, 1, 3})
	}
	f.Add([]byte{31, 0, 3, 8, 0}) // the client leaves
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, found := range k.drawn(data) {
			if found.Gap == "" {
				t.Error(found)
			}
		}
	})
}

// breaking are the faults that Fuzz draws from.
var breaking = []fault.Kind{
	fault.Truncate, fault.FIN, fault.Reset, fault.ErrorEvent, fault.NamedError, fault.Malformed, fault.Empty, fault.HTTP400, fault.HTTP429, fault.HTTP503,
}

// forms are the forms of answers that Fuzz draws from.
var forms = []shape.Shape{
	{}, {CRLF: true}, {Ping: true}, {TokensPerChunk: 3}, {EventsPerWrite: 2}, {Dumps: true}, {NoSpace: true}, {EventLines: true}, {Reasoning: "reasoning_content"}, {Usage: shape.UsageEach},
}

// mostCuts is the largest number of places where Fuzz divides an answer.
const mostCuts = 100

// drawn runs the exchange that fuzz input stands for, and returns what was wrong with it, and with the streams beside it
// since the last exchange. The bytes are: the fault, or none, its token, flags (1 for a stream, 2 for a client that leaves),
// the tokens of the answer, its form, and the distances between the places where the answer is divided, over and over.
// Missing bytes are 0.
func (k *kit) drawn(data []byte) []Finding {
	at := func(i int) int {
		if i < len(data) {
			return int(data[i])
		}
		return 0
	}
	kind := fault.Kind("")
	if i := at(0) % 32; i < len(breaking) {
		kind = breaking[i]
	}
	p := plan{stream: at(2)&1 != 0, tokens: 1 + at(3)%16, config: mockserver.Config{PerToken: time.Millisecond, Shape: forms[at(4)%len(forms)]}}
	class, name, judge := "fidelity", "stream", judgeSame
	switch leave := at(2)&2 != 0; {
	case leave:
		class, name, judge = "leaving", "mid-stream", judgeLeft
		p.stream, p.leave, p.tokens, p.config.Faults = true, afterEvents, max(p.tokens, 2*leaveEvents), endless.Faults
	case kind != "":
		class, name, judge = "end", string(kind), judgeEnd
		p.config.Faults = []fault.Fault{{Kind: kind, Every: 1}}
		if p.config.Faults[0].Token(p.tokens) >= 0 && kind != fault.Empty {
			p.config.Faults[0].At = at(1) % p.tokens
		}
		if !p.stream {
			name += "-whole"
		}
	case !p.stream:
		name = "whole"
	}
	if len(data) > 5 && p.stream && p.leave == stays {
		distances, next := data[5:], 0
		p.pause = time.Millisecond
		p.cut = func(b []byte, _ *rand.Rand) (cuts []int) {
			for to := 0; next < mostCuts; next++ {
				if to += 1 + int(distances[next%len(distances)]); to >= len(b) {
					break
				}
				cuts = append(cuts, to)
			}
			return cuts
		}
	}
	x := k.once(p)
	found := k.file(class, name, append(judge(x), judgeAlone(x)...), 0)
	return append(found, k.file("fidelity", "stream", k.load.take(), k.o.Streams)...)
}
