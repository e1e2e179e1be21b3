package scenarios

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// A holdGateway forwards the events of a stream, and holds some of them back. The events that it holds leave in one
// write, as bytes do that Nagle's algorithm kept until the acknowledgement of the bytes before.
type holdGateway struct {
	client *http.Client
	// hold is how long the first event after `before` tokens waits. Events that come meanwhile wait with it.
	hold   time.Duration
	before int
	group  int           // forward so many tokens at once; 0 means each as it comes
	slow   time.Duration // added to each event
	ahead  bool          // forward each event when the next one comes
}

func (g *holdGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, _ := http.NewRequestWithContext(r.Context(), r.Method, "http://mem"+r.URL.RequestURI(), r.Body)
	req.Header = r.Header.Clone()
	resp, err := g.client.Do(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		io.Copy(w, resp.Body)
		return
	}
	events := make(chan upstreamEvent, 4096)
	go readEvents(resp.Body, events)
	var kept []byte
	var due <-chan time.Time // when the kept events leave; nil if they do not wait for that
	tokens, inGroup := 0, 0
	flush := func() {
		w.Write(kept)
		http.NewResponseController(w).Flush()
		kept, inGroup, due = nil, 0, nil
	}
	for {
		select {
		case <-due:
			flush()
		case e, more := <-events:
			if !more {
				flush()
				return
			}
			time.Sleep(time.Until(e.at.Add(g.slow)))
			if g.ahead {
				flush()
			}
			kept = append(kept, e.text...)
			if bytes.Contains(e.text, []byte(`"content":" `)) {
				if tokens == g.before && g.hold > 0 {
					due = time.After(time.Until(e.at.Add(g.hold)))
				}
				tokens++
				inGroup++
			}
			if due == nil && inGroup >= g.group && !g.ahead {
				flush()
			}
		}
	}
}

// TestHeld measures gateways that hold tokens back in virtual time, each with the server's log and without it.
func TestHeld(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name   string
		server holdGateway // how the server itself sends: a gateway that belongs to it
		front  holdGateway
		pace   time.Duration
		tokens int
		gap    bool // added-itl-ms is reported
		note   string
	}{
		{"a plain gateway", holdGateway{}, holdGateway{}, 5 * ms, 32, true, ""},
		{"a gateway that collects short answers", holdGateway{}, holdGateway{group: 99}, 5 * ms, 16, false, "the gateway buffers streams: through it, 36 of 36 answers come in one piece; without it, an answer takes 75 ms"},
		{"a server that sends short answers at once", holdGateway{group: 99}, holdGateway{}, 5 * ms, 16, true, ""},
		{"a slow gateway", holdGateway{}, holdGateway{slow: 30 * ms}, 5 * ms, 32, true, ""},
		{"Nagle and a delayed acknowledgement", holdGateway{}, holdGateway{hold: 43 * ms}, 5 * ms, 64, false, "the gateway holds back the first 9 tokens for about 43 ms (Nagle and delayed acknowledgement?)"},
		{"another pace", holdGateway{}, holdGateway{hold: 40 * ms}, 15 * ms / 10, 128, false, "the gateway holds back the first 27 tokens for about 40 ms"},
		{"two tokens", holdGateway{}, holdGateway{hold: 12 * ms}, 10 * ms, 32, false, "the gateway holds back the first 2 tokens for about 12 ms"},
		{"most of the answer", holdGateway{}, holdGateway{hold: 130 * ms}, 10 * ms, 20, false, "the gateway holds back the first 14 tokens for about 130 ms"},
		{"the first token leaves at once", holdGateway{}, holdGateway{hold: 43 * ms, before: 1}, 5 * ms, 64, false, "the gateway holds back tokens 2 to 10 for about 43 ms"},
		{"one token", holdGateway{}, holdGateway{hold: 8 * ms}, 10 * ms, 32, true, ""},
		{"each token waits for the next", holdGateway{}, holdGateway{ahead: true}, 5 * ms, 32, false, "the gateway holds back the first token: it adds 5 ms to the first and 0 ms to the last"},
		{"a buffer", holdGateway{}, holdGateway{group: 10}, 5 * ms, 60, false, "the gateway buffers streams: through it, answers come in bursts (36 of 36 streams, 10 deltas a burst, 50ms apart); without it, 0 of 36 do"},
		{"a server that sends two tokens at once", holdGateway{group: 2}, holdGateway{}, 4 * ms, 32, true, ""},
		{"a server that buffers", holdGateway{group: 10}, holdGateway{}, 5 * ms, 60, false, "answers come in bursts without the gateway (36 of 36 streams, 10 deltas a burst, 50ms apart): "},
		{"a server that holds back the first tokens itself", holdGateway{hold: 43 * ms}, holdGateway{}, 5 * ms, 64, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, err := mockserver.New(mockserver.Config{TTFT: 20 * ms, PerToken: tt.pace})
				assert.NilError(t, err)
				var wg sync.WaitGroup
				var stop []func()
				serve := func(h http.Handler) *memnet.Listener {
					l, s := memnet.Listen(), &http.Server{Handler: h}
					wg.Go(func() { s.Serve(l) })
					stop = append(stop, func() { s.Close() })
					return l
				}
				in := func(g holdGateway, behind *memnet.Listener) *memnet.Listener {
					transport := &http.Transport{DialContext: behind.Dial, MaxIdleConnsPerHost: 64}
					stop = append(stop, transport.CloseIdleConnections)
					g.client = &http.Client{Transport: transport}
					return serve(&g)
				}
				defer func() {
					for _, f := range slices.Backward(stop) {
						f()
					}
					wg.Wait()
				}()
				direct := serve(srv)
				if tt.server != (holdGateway{}) {
					direct = in(tt.server, direct)
				}
				gateway := in(tt.front, direct)
				pass := func(at *memnet.Listener) *llmbench.Result {
					requests := slices.Repeat([]llmbench.Request{{Prompt: "a b", MaxTokens: tt.tokens, FixedOutput: true}}, 6)
					r, err := llmbench.Pass(t.Context(), "", llmbench.Target{URL: "http://mem", Model: "mock", Dial: at.Dial, Simulated: true}, llmbench.Load{Requests: requests, Concurrency: 1})
					assert.NilError(t, err)
					return r
				}
				first, through := pass(direct), pass(gateway)
				defer first.Close()
				defer through.Close()
				log := serverLog{}
				for _, e := range srv.Log() {
					log[e.ID] = logEntry{ID: e.ID, Accepted: e.Accepted, Tokens: e.Tokens, End: e.End}
				}
				for _, log := range []serverLog{nil, log} {
					o := overheadOf(inRounds(first), inRounds(through), log, 0)
					_, gap := o.figures["added-itl-ms"]
					assert.Equal(t, o.figures[heldShare], map[bool]float64{true: 100}[strings.HasPrefix(tt.note, "the gateway holds back")])
					assert.Equal(t, gap, tt.gap, "%v %q", o.figures, o.notes)
					_, gap = overheadOf(first.All(), through.All(), log, 0).figures["added-itl-ms"] // of one round, without an interval
					assert.Equal(t, gap, tt.gap)
					notes := strings.Join(o.notes, "\n")
					assert.Assert(t, strings.HasPrefix(notes, tt.note) && (tt.note == "") == (notes == ""), "%q", notes)
					if want := tt.front.hold + tt.front.slow; gap && tt.front.before == 0 {
						assert.Equal(t, fmt.Sprintf("%.1f", o.figures["added-ttft-ms"]), fmt.Sprintf("%.1f", want.Seconds()*1000))
					}
				}
			})
		})
	}
}

// inRounds returns the samples of a pass as if they came from as many passes as an interval needs.
func inRounds(r *llmbench.Result) iter.Seq[*sample.Sample] {
	return func(yield func(*sample.Sample) bool) {
		for pass := range minObservations {
			for s := range r.All() {
				s.Pass = pass
				if !yield(s) {
					return
				}
			}
		}
	}
}
