package llmbench

import (
	"context"
	"errors"
	"iter"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestPassIsJudged checks that Pass returns ErrClientBound if no distortion by the client is tolerated,
// unless the load wants distorted metrics to be reported.
func TestPassIsJudged(t *testing.T) {
	_, simulated := loopback(t, mockserver.Config{TTFT: ms})
	far := simulated
	far.Simulated = false
	for _, tt := range []struct {
		name    string
		target  Target
		bound   ClientBound
		limited bool
	}{
		{"not simulated", far, "", true},
		{"not simulated, withheld", far, BoundWithheld, true},
		{"not simulated, reported", far, BoundReported, false},
		{"simulated", simulated, "", false},
		{"simulated, fails", simulated, BoundFails, true},
	} {
		var units []string
		l := Load{Requests: words(20, 4), Concurrency: 1, ClientBound: tt.bound, MaxDistortion: 1e-12, Withheld: func(all []string, why error) {
			units = all
			assert.Equal(t, why, ErrClientBound)
		}}
		result, err := Pass(t.Context(), "", tt.target, l)
		assert.Equal(t, errors.Is(err, ErrClientBound), tt.limited, "%s: %v", tt.name, err)
		assert.Equal(t, slices.Contains(units, "output-tok/s"), tt.limited, "%s: %v", tt.name, units)
		assert.Assert(t, len(ordered(result.All())) == 20 && result.Elapsed > 0, tt.name)
		if tt.limited { // each worker takes some time between two requests, which lowers this rate
			assert.ErrorContains(t, err, "output-tok/s", tt.name)
		} else {
			assert.NilError(t, err, tt.name)
		}
	}
}

// TestPassKeepsRecords checks that the records of an interrupted pass are written.
func TestPassKeepsRecords(t *testing.T) {
	out := t.TempDir()
	t.Setenv("LLMBENCH_OUT", out)
	_, target := loopback(t, mockserver.Config{})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	result, err := Pass(ctx, "given-up", target, Load{Requests: words(3, 2), Concurrency: 1})
	assert.ErrorContains(t, err, "enough")
	assert.ErrorContains(t, err, "given-up.1.jsonl")
	assert.Assert(t, result == nil)
	_, lines := readRecords(t, filepath.Join(out, "given-up.1.jsonl"))
	assert.Equal(t, len(lines), 3)
}

// helperWithheld runs a load that tolerates no distortion by the client, and that also has a metric that
// cannot be distorted.
func helperWithheld(b *testing.B) {
	runWithheld(b, withExact(Load{Requests: words(20, 4), MaxDistortion: 1e-300}))
}

// helperNothingLeft runs a load while two goroutines share the only CPU with the client, which therefore reads every
// token much too late.
func helperNothingLeft(b *testing.B) {
	runtime.GOMAXPROCS(1)
	var ended atomic.Bool
	defer ended.Store(true)
	for range 2 {
		go func() {
			for !ended.Load() {
			}
		}()
	}
	runWithheld(b, Load{Requests: words(8, 4), MaxDistortion: 0.001})
}

// runWithheld measures a server over connections without kernel timestamps, so that the client may have
// distorted every metric that depends on time.
func runWithheld(b *testing.B, l Load) {
	_, target := loopback(b, mockserver.Config{TTFT: ms})
	target.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		return struct{ net.Conn }{c}, err
	}
	calls := 0.0
	l.Concurrency, l.ClientBound = 1, BoundWithheld
	l.Withheld = func(units []string, _ error) {
		if slices.Contains(units, "output-tok/s") {
			calls++
		}
	}
	Run(b, target, l)
	b.ReportMetric(calls, "calls")
}

// TestRunWithholds checks that Run withholds distorted metrics, calls Load.Withheld, and reports the other
// metrics.
func TestRunWithholds(t *testing.T) {
	stdout, _, code, _ := runHelper(t, "Withheld", nil, nil)
	assert.Equal(t, code, 0, stdout)
	all, _ := results(t, stdout)
	calls, _ := all[0].Value("calls")
	_, reported := all[0].Value("output-tok/s")
	_, exact := all[0].Value("exact-sec")
	assert.Assert(t, calls == 1 && !reported && exact && strings.Contains(stdout, "withheld: the client may have changed them. To get them"), stdout)
	assert.Assert(t, !strings.Contains(stdout, "goroutine"), stdout)
}

// TestNothingLeft checks that a benchmark fails if the client distorted all rates and latencies.
func TestNothingLeft(t *testing.T) {
	stdout, _, code, _ := runHelper(t, "NothingLeft", nil, nil)
	assert.Equal(t, code, 1, stdout)
	assert.Assert(t, strings.Contains(stdout, "client-bound: neither a rate nor a latency is left"), stdout)
	// benchgate sets this variable.
	stdout, _, code, _ = runHelper(t, "NothingLeft", nil, nil, "LLMBENCH_CLIENT_BOUND=withhold")
	assert.Equal(t, code, 0, stdout)
}

// measured returns a measurement of one pass, without sending anything. The pass has two streams on the
// client's clock, and the given number of control streams, each of whose deltas was read late by the given
// time.
func measured(t *testing.T, bound ClientBound, late time.Duration, streams int, clockSet bool) *measurement {
	l, err := Load{Requests: words(1, 4), Concurrency: 1, ClientBound: bound}.check()
	assert.NilError(t, err)
	m := &measurement{load: l, client: &send.Client{}, bound: bound, party: process.Join("test"), samples: store.New(store.Bound, "")}
	for i := range 2 {
		at := time.Duration(i) * 100 * ms
		one := &sample.Sample{Request: i, Due: at, Start: at, Streamed: true, Outcome: sample.OK, Clock: sample.UserClock, Deltas: 1, First: at + 100*ms, Last: at + 100*ms, End: at + 100*ms}
		assert.NilError(t, m.samples.Add(one))
	}
	e := distortion.Errors{Streams: streams, Late: slices.Repeat([]time.Duration{late}, 9*streams)}
	r := passResult{samples: m.all(), errors: e}
	if clockSet {
		r.ClockChange = time.Hour
	}
	m.add(r)
	return m
}

// TestUnknownDistortion checks that a pass does not count as undistorted if the distortion is unknown,
// because the wall clock was set or because there were few control streams.
func TestUnknownDistortion(t *testing.T) {
	for _, tt := range []struct {
		name        string
		bound       ClientBound
		late        time.Duration
		streams     int
		clockChange time.Duration
		want        string // text in the error; "" means no error
	}{
		{"an exact client", BoundFails, 0, 9, 0, ""},
		{"a client that distorts", BoundFails, 50 * ms, 9, 0, "p50-ttft-ns"},
		{"the wall clock was set", BoundFails, 0, 9, -time.Hour, "the wall clock was set by -1h0m0s during the pass"},
		{"the wall clock was set, withheld", BoundWithheld, 0, 9, time.Hour, "the wall clock was set by 1h0m0s during the pass"},
		{"few control streams", BoundFails, 0, 4, 0, "in 1 of 1 passes nothing tells how late the client read"},
		{"no control stream", BoundFails, 0, 0, 0, "in 1 of 1 passes nothing tells how late the client read"},
		{"no judgement", BoundReported, 0, 9, time.Hour, ""},
	} {
		c, err := measured(t, tt.bound, tt.late, tt.streams, tt.clockChange != 0).checkSingle(tt.clockChange)
		assert.NilError(t, err, tt.name)
		err = errorOf(c)
		if tt.want == "" {
			assert.NilError(t, err, tt.name)
			continue
		}
		assert.ErrorIs(t, err, ErrClientBound, tt.name)
		assert.ErrorContains(t, err, tt.want, tt.name)
	}
}

// TestBursts checks what Pass and Run do if answers come in bursts: the error says so, the metrics that
// mean nothing are withheld, and the client is not blamed for them.
func TestBursts(t *testing.T) {
	wrong := distortion.Pass{Samples: sample.All(), Strain: strain.Strain{Throttled: time.Second}} // distorts every metric
	for _, tt := range []struct {
		bound ClientBound
		local bool // the server is part of this process
		slo   sample.SLO
		want  []string // units that are withheld
	}{
		{BoundFails, false, sample.SLO{}, []string{"p50-ttft-ns", "p99-itl-ns"}},
		{BoundWithheld, false, sample.SLO{TTFT: ms}, []string{"good-req/s", "p50-ttft-ns", "p99-itl-ns"}},
		{BoundFails, false, sample.SLO{E2E: ms}, []string{"p50-ttft-ns", "p99-itl-ns"}},
		{BoundReported, false, sample.SLO{}, nil},
		{BoundFails, true, sample.SLO{}, nil},
	} {
		m := measured(t, tt.bound, 0, 9, false)
		m.estimate.Add(wrong)
		m.target.Simulated, m.load.SLO = tt.local, tt.slo
		var withheld []string
		m.load.Withheld = func(units []string, why error) {
			if why == ErrBursts {
				withheld = units
			}
		}
		one := &sample.Sample{Streamed: true, Outcome: sample.OK, Clock: sample.KernelClock, Deltas: 101, First: 100 * ms, Last: 100 * ms, End: 100 * ms,
			Gaps: make([]time.Duration, 100), Lags: make([]time.Duration, 101)}
		for range 3 { // more samples than the two that measured adds
			assert.NilError(t, m.samples.Add(one))
		}
		metrics := sample.Summarize(m.all(), m.elapsed, m.load.SLO).Metrics
		v, err := m.judge(metrics, judge.Facts{Bursts: sample.FindBursts(m.all(), 0)})
		assert.NilError(t, err)
		assert.Equal(t, v.bursts != "", !tt.local, v.bursts)
		assert.Equal(t, metrics[sample.BurstShare], map[bool]float64{false: 100}[tt.local])
		assert.DeepEqual(t, withheld, tt.want)
		assert.DeepEqual(t, m.end.Buffered, tt.want)
		for _, unit := range tt.want {
			_, has := metrics[unit]
			assert.Assert(t, !has, unit)
		}
		assert.Assert(t, !slices.Contains(v.Hidden, "p50-e2e-ns"))
		blamed := slices.Contains(v.client.Units(), "p99-itl-ns")
		assert.Equal(t, blamed, tt.local, "%+v", tt)
		if !tt.local {
			assert.Assert(t, strings.HasPrefix(v.bursts, "answers come in bursts: 3 of 3 streams, 101 deltas a burst, each answer in one piece: something between buffers the stream (nginx: proxy_buffering off; HAProxy: option http-no-delay; Caddy: flush_interval -1; Apache: flushpackets=on; Envoy: no buffer filter), or lacks CPU\n  "), v.bursts)
			assert.Assert(t, strings.Contains(v.bursts, "p50-ttft-ns"), v.bursts)
		}
	}
	m := measured(t, BoundReported, 0, 9, false)
	v, err := m.judge(sample.Summarize(m.all(), m.elapsed, sample.SLO{}).Metrics, judge.Facts{Bursts: sample.FindBursts(m.all(), 0)})
	assert.NilError(t, err)
	assert.Equal(t, v.bursts, "")
}

// TestUnknownClientError checks that client-err-% is omitted if there were few control streams.
func TestUnknownClientError(t *testing.T) {
	for _, tt := range []struct {
		streams int
		unknown bool
	}{
		{5, false}, {4, true}, {0, true},
	} {
		for _, bound := range []ClientBound{BoundFails, BoundWithheld, BoundReported} {
			m := measured(t, bound, ms, tt.streams, false)
			metrics := sample.Summarize(m.all(), m.elapsed, sample.SLO{}).Metrics
			v, err := m.judge(metrics, judge.Facts{})
			assert.NilError(t, err)
			_, has := metrics[sample.ClientError]
			assert.Equal(t, has, !tt.unknown)
			b, bounded := m.end.Bounds["mean-ttft-ns"]
			assert.Equal(t, bounded, !tt.unknown)
			assert.Assert(t, !bounded || b.Low < 99.5e6 && b.Low > 98e6 && b.High == 100e6, "%v", b) // a lag of 1 ms in a TTFT of 100 ms
			assert.Equal(t, v.client.Unknown != "", tt.unknown)
		}
	}
}

// TestClient checks that each request of a Client has one sample and one record, that the server has seen
// the identifier in the sample, and that t0 is when Do was called.
func TestClient(t *testing.T) {
	out := t.TempDir()
	t.Setenv("LLMBENCH_OUT", out)
	srv, target := loopback(t, mockserver.Config{TTFT: ms, PerToken: ms})
	c, err := NewClient("single", target, Load{Tokenizer: countingTokenizer{}})
	assert.NilError(t, err)
	const workers, each = 8, 10
	samples := make([][]sample.Sample, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for _, r := range words(each, 4) {
				called := c.clock.Now()
				s, err := c.Do(t.Context(), r)
				if assert.Check(t, err); s.Due < called || s.Due > s.Admitted || !s.Scheduled || s.Answer != nil {
					t.Errorf("called at %v: %+v", called, s)
				}
				samples[i] = append(samples[i], s)
			}
		})
	}
	wg.Wait()
	assert.NilError(t, c.Close())
	assert.NilError(t, c.Close())
	_, err = c.Do(t.Context(), words(1, 4)[0])
	assert.Equal(t, err, errClosed)

	run, err := records.Open(filepath.Join(out, "single.1.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, run.Failed(), "")
	assert.Equal(t, run.Len(), workers*each)
	assert.Equal(t, run.Figures().Metrics["out-tok/req"], 4.0)
	ids, numbers := map[string]bool{}, map[int]bool{}
	for _, s := range slices.Concat(samples...) {
		assert.Equal(t, s.Outcome, sample.OK)
		ids[s.ID], numbers[s.Request] = true, true
	}
	assert.Equal(t, len(numbers), workers*each)
	assert.Assert(t, numbers[0] && numbers[workers*each-1])
	for _, e := range srv.Log() {
		assert.Assert(t, ids[e.ID], e.ID)
		delete(ids, e.ID)
	}
	assert.Equal(t, len(ids), 0)
}

// countingTokenizer panics if it is called, because the server reports usage.
type countingTokenizer struct{}

func (countingTokenizer) Count(text string) int { panic("the server states usage: " + text) }

// TestClientFails checks the samples of requests that fail or are canceled, and that the records say why
// the client was closed.
func TestClientFails(t *testing.T) {
	out := t.TempDir()
	t.Setenv("LLMBENCH_OUT", out)
	_, target := loopback(t, mockserver.Config{TTFT: time.Hour})
	c, err := NewClient("fails", target, Load{Timeout: 20 * ms})
	assert.NilError(t, err)
	s, err := c.Do(t.Context(), words(1, 4)[0])
	assert.NilError(t, err)
	assert.Equal(t, s.Outcome, sample.Timeout)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	s, err = c.Do(ctx, words(1, 4)[0])
	assert.NilError(t, err)
	assert.Equal(t, s.Outcome, sample.Canceled)
	assert.Error(t, s.Err, "enough")
	assert.NilError(t, c.CloseWithError(errors.New("interrupted")))
	run, err := records.Open(filepath.Join(out, "fails.1.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, run.Len(), 2)
	assert.Equal(t, run.Failed(), "interrupted")
}

// TestClientKeepsRecords checks that a record that cannot be written is an error, that nothing is sent
// after it, and that the end of the records holds the error.
func TestClientKeepsRecords(t *testing.T) {
	srv, target := loopback(t, mockserver.Config{})
	c, err := NewClient("", target, Load{})
	assert.NilError(t, err)
	full := &fullDisk{}
	c.records = &book{to: full}
	s, err := c.Do(t.Context(), words(1, 4)[0])
	assert.Error(t, err, "records: no space left")
	assert.Equal(t, s.Outcome, sample.OK)
	_, err = c.Do(t.Context(), words(1, 4)[0])
	assert.Error(t, err, "records: no space left")
	assert.Equal(t, len(srv.Log()), 1)
	assert.Error(t, c.Close(), "records: no space left")
	assert.DeepEqual(t, full.end, records.End{Outcome: records.EndedFailed, Why: "records: no space left"})
}

// A fullDisk fails to write any record.
type fullDisk struct{ end records.End }

func (*fullDisk) Name() string                  { return "full" }
func (*fullDisk) Write(*sample.Sample) error    { return errors.New("no space left") }
func (*fullDisk) Flush() error                  { return nil }
func (d *fullDisk) Close(end records.End) error { d.end = end; return nil }

// TestClientRefuses checks the errors for invalid clients and requests.
func TestClientRefuses(t *testing.T) {
	srv, target := loopback(t, mockserver.Config{})
	for _, tt := range []struct {
		target Target
		load   Load
		want   string
	}{
		{target, Load{Concurrency: 8, Warmup: words(1, 1)}, "load: Concurrency, Warmup for single requests: want NoStream, Timeout, IdleTimeout, SLO, KeepText and Tokenizer at most"},
		{target, Load{Timeout: -1}, "load: timeout -1ns, idle timeout 1m0s, pass timeout 0s; none may be negative"},
		{target, Load{NoStream: true, SLO: sample.SLO{TTFT: 1}}, "load: SLO ttft=1ns; answers that are not streamed have no TTFT and no TPOT"},
		{Target{URL: "ftp://host"}, Load{}, `target: URL "ftp://host": want a base URL`},
	} {
		_, err := NewClient("", tt.target, tt.load)
		assert.ErrorContains(t, err, tt.want)
	}
	t.Run("shards", func(t *testing.T) {
		t.Setenv("LLMBENCH_RENDEZVOUS", "127.0.0.1:1")
		t.Setenv("LLMBENCH_SHARD", "0/2")
		_, err := NewClient("", target, Load{})
		assert.Error(t, err, "single requests are sent by one process: want no LLMBENCH_RENDEZVOUS")
	})
	c, err := NewClient("", target, Load{})
	assert.NilError(t, err)
	defer c.Close()
	for _, tt := range []struct {
		request Request
		want    string
	}{
		{Request{Prompt: "a", MaxTokens: 1, Then: []Turn{{Prompt: "b", MaxTokens: 1}}}, "request: a session of 2 turns: want one request for each turn"},
		{Request{Prompt: "a"}, "request: "},
	} {
		s, err := c.Do(t.Context(), tt.request)
		assert.ErrorContains(t, err, tt.want)
		assert.Equal(t, s.ID, "")
	}
	assert.Equal(t, len(srv.Log()), 0)
}

// TestPassBounds checks that the result of a pass has bounds for the load's own metric, and no bounds if
// the client's delays are unknown or not judged.
func TestPassBounds(t *testing.T) {
	kept := sample.Unit{Name: "kept-%", Better: "higher", Family: sample.FamilyTTFT}
	for _, tt := range []struct {
		bound   ClientBound
		streams int
		known   bool
	}{
		{BoundWithheld, 9, true}, {BoundFails, 9, true}, {BoundWithheld, 0, false}, {BoundReported, 9, false},
	} {
		m := measured(t, tt.bound, 50*ms, tt.streams, false) // two TTFTs of 100 ms, of which 50 ms may be a lag
		m.load.Units = []sample.Unit{kept}
		m.load.Figures = func(samples iter.Seq[*sample.Sample]) map[string]float64 {
			n := 0
			for s := range samples {
				if d, ok := s.TTFT(); ok && d < 60*ms {
					n++
				}
			}
			return map[string]float64{kept.Name: 50 * float64(n)}
		}
		_, err := m.checkSingle(0)
		assert.NilError(t, err)
		b, known := m.result().Bounds[kept.Name]
		assert.Equal(t, known, tt.known)
		assert.Assert(t, !known || b.Low == 0 && b.Likely == 100 && b.High >= 100, "%v", b)
	}
}

// TestClientOpen checks that a request uses a connection that was opened ahead.
func TestClientOpen(t *testing.T) {
	_, target := loopback(t, mockserver.Config{})
	c, err := NewClient("BenchmarkOpen", target, Load{})
	assert.NilError(t, err)
	defer c.Close()
	assert.Equal(t, c.Open(t.Context(), 3), 3)
	s, err := c.Do(t.Context(), Request{Prompt: "one", MaxTokens: 2})
	assert.NilError(t, err)
	assert.Equal(t, s.Connect, time.Duration(0))
}
