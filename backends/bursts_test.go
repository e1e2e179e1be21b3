package backends_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/nginxtest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// TestBursts measures a mock server directly and through real proxies, and checks which answers are
// recognised as bursts. A busy machine delays single tokens. The tokens are so far apart that such
// delays neither turn most tokens into bursts, nor hide most bursts.
func TestBursts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		proxy   *nginxtest.Options // nil means no proxy
		shape   shape.Shape
		pace    time.Duration // the time between two tokens
		tokens  int           // the number of tokens of an answer
		streams int
		behind  int // the number of tokens that the server has sent before the first delta arrives
		found   bool
	}{
		{"nginx", &nginxtest.Options{}, shape.Shape{}, 10 * time.Millisecond, 64, 4, 15, true},
		{"nginx, 64 streams", &nginxtest.Options{}, shape.Shape{}, 10 * time.Millisecond, 64, 64, 15, true},
		{"nginx, buffers of 8 KiB", &nginxtest.Options{Directives: "proxy_buffer_size 8k; proxy_buffers 8 8k;"}, shape.Shape{}, 10 * time.Millisecond, 128, 4, 30, true},
		{"nginx, events of half the size", &nginxtest.Options{}, shape.Shape{TokensPerChunk: 4}, 5 * time.Millisecond, 400, 4, 60, true},
		{"nginx, larger events", &nginxtest.Options{}, shape.Shape{Ping: true, PingEvent: true, EventLines: true, Dumps: true}, 10 * time.Millisecond, 64, 4, 8, true},
		{"nginx, each answer in one piece", &nginxtest.Options{Directives: "proxy_buffer_size 64k; proxy_buffers 8 64k;"}, shape.Shape{}, 150 * time.Millisecond, 20, 6, 20, true},
		{"nginx, proxy_buffering off", &nginxtest.Options{Unbuffered: true}, shape.Shape{}, 10 * time.Millisecond, 64, 4, 1, false},
		{"nginx, HTTP/1.1 to the server, proxy_buffering off", &nginxtest.Options{Unbuffered: true, HTTP11: true}, shape.Shape{}, 10 * time.Millisecond, 64, 4, 1, false},
		{"nginx, HTTP/1.1 to the server", &nginxtest.Options{HTTP11: true}, shape.Shape{}, 10 * time.Millisecond, 64, 4, 1, false},
		{"direct", nil, shape.Shape{}, 10 * time.Millisecond, 64, 4, 1, false},
		{"direct, 64 streams", nil, shape.Shape{}, 10 * time.Millisecond, 64, 64, 1, false},
		{"4 tokens a delta", nil, shape.Shape{TokensPerChunk: 4}, 10 * time.Millisecond, 96, 4, 1, false},
		{"16 deltas at once", nil, shape.Shape{EventsPerWrite: 16}, 10 * time.Millisecond, 160, 4, 16, true},
		{"each delta in two parts", nil, shape.Shape{Split: shape.SplitJSON}, 100 * time.Millisecond, 20, 4, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.found { // the other cases are measured one at a time, because a server that is delayed sends bursts
				t.Parallel()
			}
			srv, mock := backends.Mock{Config: &mockserver.Config{TTFT: 10 * time.Millisecond, PerToken: tt.pace, Shape: tt.shape}}.Serve(t)
			target := llmbench.Target{URL: mock.URL, Model: mock.Model}
			waited := func() time.Duration { return 0 }
			if tt.proxy != nil {
				tt.proxy.Upstream = mock.URL
				proxy := nginxtest.Start(t, *tt.proxy)
				target.URL, waited = proxy.URL, proxy.Waited
			}
			load := llmbench.Load{Concurrency: tt.streams, Requests: make([]llmbench.Request, tt.streams), ClientBound: llmbench.BoundWithheld}
			for i := range load.Requests {
				load.Requests[i] = llmbench.Request{Prompt: "Tell me about the sea.", MaxTokens: tt.tokens, FixedOutput: true}
			}
			pass := foundPass
			if !tt.found {
				pass = steadyPass(srv, waited, tt.pace)
			}
			result, units, err := pass(t, target, load)
			b := sample.FindBursts(result.All(), 0)
			assert.Equal(t, b.Streams, tt.streams)
			assert.Equal(t, b.Found(), tt.found, "%v", b)
			assert.Equal(t, errors.Is(err, llmbench.ErrBursts), tt.found, "%v", err)
			for _, unit := range []string{"p50-ttft-ns", "mean-tpot-ns", "p99-itl-ns"} {
				assert.Equal(t, slices.Contains(units, unit), tt.found, "%s in %q", unit, units)
			}
			for _, unit := range []string{"p50-e2e-ns", "output-tok/s", "req/s"} {
				assert.Assert(t, !slices.Contains(units, unit), unit)
			}
			checkBehind(t, srv, result, tt.behind)
		})
	}
}

// A flusher is a proxy that passes an answer on in different pieces.
type flusher struct {
	upstream string
	pass     func(w io.Writer, flush func(), events <-chan []byte) // writes the events of an answer
}

func (f flusher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, f.upstream+r.URL.Path, r.Body)
	if err != nil {
		panic(err)
	}
	req.Header, req.ContentLength = r.Header, r.ContentLength
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	maps.Copy(w.Header(), resp.Header)
	events := make(chan []byte, 1000)
	go func() {
		defer close(events)
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			events <- append(bytes.Clone(s.Bytes()), '\n')
		}
	}()
	f.pass(w, w.(http.Flusher).Flush, events)
}

// TestFlushers measures a mock server through proxies that hold answers back. The values that the
// proxies spoil must be left out, and the client must not be blamed for them.
func TestFlushers(t *testing.T) {
	everyTime := func(w io.Writer, flush func(), events <-chan []byte) {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case line, more := <-events:
				if !more {
					return
				}
				w.Write(line)
			case <-tick.C:
				flush()
			}
		}
	}
	everyCount := func(w io.Writer, flush func(), events <-chan []byte) {
		n := 0
		for line := range events {
			w.Write(line)
			if bytes.HasPrefix(line, []byte("data:")) {
				if n++; n%8 == 0 {
					flush()
				}
			}
		}
	}
	held := func(pause time.Duration) func(w io.Writer, flush func(), events <-chan []byte) {
		return func(w io.Writer, flush func(), events <-chan []byte) {
			var all [][]byte
			for line := range events {
				all = append(all, line)
			}
			for i, line := range all {
				w.Write(line)
				if i == len(all)/2 {
					flush()
					time.Sleep(pause)
				}
			}
		}
	}
	for name, pass := range map[string]func(io.Writer, func(), <-chan []byte){
		"every 50 ms": everyTime, "every 8 events": everyCount,
		"whole, in two writes": held(0), "whole, in two writes, a short pause": held(2 * time.Millisecond), "whole, in two writes, a long pause": held(50 * time.Millisecond),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, mock := backends.Mock{Config: &mockserver.Config{TTFT: 20 * time.Millisecond, PerToken: 5 * time.Millisecond}}.Serve(t)
			proxy := httptest.NewServer(flusher{mock.URL, pass})
			defer proxy.Close()
			// On a busy machine the client may change latencies and rates by 100 %. If it were blamed
			// for an answer that a proxy held back, that would be 1000 %.
			load := llmbench.Load{Concurrency: 4, Requests: make([]llmbench.Request, 8), ClientBound: llmbench.BoundWithheld, MaxDistortion: 5}
			for i := range load.Requests {
				load.Requests[i] = llmbench.Request{Prompt: "Tell me about the sea.", MaxTokens: 64, FixedOutput: true}
			}
			result, units, err := foundPass(t, llmbench.Target{URL: proxy.URL, Model: mock.Model}, load)
			b := sample.FindBursts(result.All(), 0)
			assert.Assert(t, errors.Is(err, llmbench.ErrBursts), "%v: %v", b, err)
			assert.Assert(t, !errors.Is(err, llmbench.ErrClientBound), "%v: %v", b, err)
			for _, unit := range []string{"p50-ttft-ns", "mean-tpot-ns", "p99-itl-ns"} {
				assert.Assert(t, slices.Contains(units, unit), "%s in %q", unit, units)
			}
		})
	}
}

// foundPass makes passes until one finds that most streams came in bursts, but at most 21. A client that
// gets too little CPU does not read bursts in time, so it may miss them. But it must never take other
// streams for bursts.
func foundPass(t *testing.T, target llmbench.Target, load llmbench.Load) (result *llmbench.Result, units []string, err error) {
	t.Helper()
	for range 21 {
		if result, units, err = burstPass(t, target, load); sample.FindBursts(result.All(), 0).Found() {
			break
		}
	}
	return result, units, err
}

// steadyPass returns a function that makes a pass whose answers should not come in bursts. On a busy machine, answers may
// really come in bursts: if the mock server waits for a CPU, it sends the tokens that are due at once, and so does nginx.
// So the pass is made again, at most 20 times, if it finds bursts, and the log of the mock server has bursts too, or
// nginx waited for a CPU for at least a tenth of a second. Waited returns how long nginx has waited until now.
func steadyPass(srv *mockserver.Server, waited func() time.Duration, pace time.Duration) func(*testing.T, llmbench.Target, llmbench.Load) (*llmbench.Result, []string, error) {
	return func(t *testing.T, target llmbench.Target, load llmbench.Load) (result *llmbench.Result, units []string, err error) {
		t.Helper()
		for range 21 {
			srv.Reset()
			before := waited()
			result, units, err = burstPass(t, target, load)
			if !sample.FindBursts(result.All(), 0).Found() || waited()-before < 100*time.Millisecond && !sentBursts(srv.Log(), pace) {
				break
			}
		}
		return result, units, err
	}
}

// sentBursts reports whether more than a fifth of the writes of tokens came less than half of pace after the previous
// write.
func sentBursts(log []mockserver.Entry, pace time.Duration) bool {
	soon, all := 0, 0
	for _, e := range log {
		writes := slices.Compact(slices.Clone(e.Tokens))
		for i := 1; i < len(writes); i++ {
			if all++; writes[i]-writes[i-1] < pace/2 {
				soon++
			}
		}
	}
	return 5*soon > all
}

// burstPass makes one pass. It returns the units that were withheld because of bursts, and the
// error that the pass returned.
func burstPass(t *testing.T, target llmbench.Target, load llmbench.Load) (result *llmbench.Result, units []string, err error) {
	t.Helper()
	load.Withheld = func(withheld []string, why error) {
		if why == llmbench.ErrBursts {
			units = withheld
		}
	}
	result, err = llmbench.Pass(t.Context(), "", target, load)
	assert.Assert(t, result != nil, "%v", err)
	t.Cleanup(func() { result.Close() })
	return result, units, err
}

// checkBehind compares samples with the log of the mock server. Each answer must have all its
// tokens. Its first delta must come after the server has sent a number of tokens, which is behind.
// Its last delta must come after all tokens. This shows what the TTFT means behind a proxy that
// buffers, and why the E2E latency is right.
func checkBehind(t *testing.T, srv *mockserver.Server, result *llmbench.Result, behind int) {
	t.Helper()
	log := map[string]mockserver.Entry{}
	for _, e := range srv.Log() {
		log[e.ID] = e
	}
	for s := range result.All() {
		e := log[s.ID]
		assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
		assert.Equal(t, s.OutputTokens, e.OutputTokens)
		sent := func(token int) time.Duration { // in the clock of the sample
			return time.Unix(0, srv.EpochUnixNano()).Add(e.Tokens[token-1]).Sub(s.Epoch) - sample.ClockError
		}
		assert.Assert(t, s.First >= sent(behind), "the first delta came at %v, token %d was sent at %v", s.First, behind, sent(behind))
		assert.Assert(t, s.Last >= sent(e.OutputTokens), "the last delta came at %v, the last token was sent at %v", s.Last, sent(e.OutputTokens))
	}
}

// TestServeBehindProxy runs BenchmarkServe in a separate process, behind an nginx that buffers. The
// values that mean nothing must be left out, the log must say why, and the records must name them.
func TestServeBehindProxy(t *testing.T) {
	t.Parallel()
	_, mock := backends.Mock{Config: &mockserver.Config{TTFT: 10 * time.Millisecond, PerToken: 10 * time.Millisecond}}.Serve(t)
	proxy := nginxtest.Start(t, nginxtest.Options{Upstream: mock.URL})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	out := t.TempDir()
	cmd := exec.CommandContext(ctx, scenariostest.Program(t), "-test.run=^$", "-test.bench=Serve", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), "LLMBENCH_URL="+proxy.URL, "LLMBENCH_MODEL=mock", "LLMBENCH_OUT="+out,
		"LLMBENCH_CONCURRENCY=4", "LLMBENCH_REQUESTS=8", "LLMBENCH_INPUT=16", "LLMBENCH_OUTPUT=64", "LLMBENCH_CLIENT_BOUND=withhold")
	text, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", text)
	assert.Assert(t, strings.Contains(string(text), "answers come in bursts: "), "%s", text)
	assert.Assert(t, strings.Contains(string(text), "something between buffers the stream (nginx: proxy_buffering off)"), "%s", text)
	r := benchfmt.NewReader(strings.NewReader(string(text)), "output")
	rows := 0
	for r.Scan() {
		if row, ok := r.Result().(*benchfmt.Result); ok {
			rows++
			for _, unit := range []string{"p50-ttft-ns", "p99-ttft-ns", "mean-tpot-ns", "p99-itl-ns"} {
				_, has := row.Value(unit)
				assert.Assert(t, !has, "%s in:\n%s", unit, text)
			}
			tokens, _ := row.Value("out-tok/req")
			assert.Equal(t, tokens, 64.0)
		}
	}
	assert.Equal(t, rows, 1, "%s", text)
	files, err := filepath.Glob(filepath.Join(out, "*.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, len(files), 1)
	records, err := os.ReadFile(files[0])
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(records), `"buffered":["p50-ttft-ns",`), "%s", records)
}
