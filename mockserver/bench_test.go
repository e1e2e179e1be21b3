package mockserver

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/frame"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/pace"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/vocab"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// BenchmarkEvent renders the event of one token.
func BenchmarkEvent(b *testing.B) {
	enc, out := chatEncoder(b, shape.Shape{}, 1)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		out.Clear()
		enc.Tokens(i, i+1)
		i++
	}
	b.SetBytes(int64(len(out.Buf)))
}

// BenchmarkToken sends streams over loopback, as fast as possible, to a client that discards them.
// It reports the time per token.
func BenchmarkToken(b *testing.B) {
	s := mustNew(b, Config{})
	url, stop, err := Listen("127.0.0.1:0", s)
	if err != nil {
		b.Fatal(err)
	}
	defer stop(0)
	const tokens = 100_000
	b.ReportAllocs()
	// One operation is a whole stream, so that the set-up of a stream does not count.
	for b.Loop() {
		resp, err := http.Post(url+textPath, "application/json", strings.NewReader(fmt.Sprintf(`{"prompt":"a","max_tokens":%d,"stream":true}`, tokens)))
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		s.Reset()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tokens, "ns/token")
}

// BenchmarkLateness sends many streams of 50 tokens per second at the same time to
// clients in this process, and reports how long after its deadline a token is written.
func BenchmarkLateness(b *testing.B) {
	for _, streams := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			cfg := Config{TTFT: 200 * time.Millisecond, PerToken: 20 * time.Millisecond}
			s := mustNew(b, cfg)
			url, stop, err := Listen("127.0.0.1:0", s)
			if err != nil {
				b.Fatal(err)
			}
			defer stop(0)
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams}}
			for b.Loop() {
				var wg sync.WaitGroup
				for i := range streams {
					wg.Go(func() {
						time.Sleep(time.Duration(i) * 20 * time.Millisecond / time.Duration(streams))
						resp, err := client.Post(url+textPath, "application/json", strings.NewReader(`{"prompt":"a","max_tokens":100,"stream":true}`))
						if err != nil {
							b.Error(err)
							return
						}
						io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					})
				}
				wg.Wait()
			}
			var late []time.Duration
			for _, e := range s.Log() {
				for k, at := range e.Tokens {
					late = append(late, at-e.Admitted-cfg.TTFT-time.Duration(k)*cfg.PerToken)
				}
			}
			slices.Sort(late)
			b.ReportMetric(float64(late[len(late)/2]), "p50-late-ns")
			b.ReportMetric(float64(late[len(late)*99/100]), "p99-late-ns")
			b.ReportMetric(float64(late[len(late)-1]), "max-late-ns")
		})
	}
}

func TestEventDoesNotAllocate(t *testing.T) {
	s := mustNew(t, Config{})
	x := exchange{clock: s.clock, rec: &record{}, w: &sink{header: http.Header{}, body: make([]byte, 0, 8192)}}
	x.rc = http.NewResponseController(x.w)
	x.enc, x.out = chatEncoder(t, shape.Shape{Ping: true}, 1000)
	x.rec.Tokens = make([]time.Duration, 0, 1000)
	x.place, _ = s.plan.Join(pace.Job{Output: 1000})
	k := 0
	if got := testing.AllocsPerRun(900, func() {
		if x.place.WaitToken(t.Context(), k) != nil {
			t.Fatal("the token's wait was cut short")
		}
		x.enc.Tokens(k, k+1)
		x.send(1, false)
		k++
	}); got != 0 {
		t.Errorf("%v allocations a token, want 0", got)
	}
}

// chatEncoder returns the encoder of a streamed chat and its framer.
func chatEncoder(tb testing.TB, s shape.Shape, output int) (wire.Encoder, *frame.Framer) {
	tb.Helper()
	route, _ := wire.RouteFor(chatPath, "")
	req, fail := route.Decode(wire.Input{
		Body:  fmt.Appendf(nil, `{"messages":[{"content":"a"}],"max_tokens":%d,"stream":true}`, output),
		Words: vocab.LexiconFor(s.TextMode()), Shape: s,
	})
	if fail != nil {
		tb.Fatalf("%+v", fail)
	}
	out := frame.New(s, "")
	return route.Dialect.Encode(wire.Answer{
		Framer: out, Request: req, Words: vocab.LexiconFor(s.TextMode()), Ordinal: 1, Created: time.Unix(1, 0), Model: `"mock"`,
		Cached: func() int { return 0 },
	}), out
}
