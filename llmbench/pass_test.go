package llmbench

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestPassIsJudged checks that Pass returns ErrClientBound if the client may not distort anything, unless
// distorted figures are reported.
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
		if tt.limited { // the workers' time between two requests alone sees to that
			assert.ErrorContains(t, err, "output-tok/s", tt.name)
		} else {
			assert.NilError(t, err, tt.name)
		}
	}
}

// TestPassKeepsRecords checks that the records of a pass that was given up are written.
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

// helperWithheld runs with a client that may not distort anything.
func helperWithheld(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: ms})
	calls := 0.0
	Run(b, target, Load{Requests: words(20, 4), Concurrency: 1, ClientBound: BoundWithheld, MaxDistortion: 1e-12,
		Withheld: func(units []string, _ error) {
			if slices.Contains(units, "output-tok/s") {
				calls++
			}
		}})
	b.ReportMetric(calls, "calls")
}

// TestRunWithholds checks that Run withholds distorted figures and calls Load.Withheld.
func TestRunWithholds(t *testing.T) {
	stdout, _, code, _ := runHelper(t, "Withheld", nil, nil)
	assert.Equal(t, code, 0, stdout)
	all, _ := results(t, stdout)
	calls, _ := all[0].Value("calls")
	_, reported := all[0].Value("output-tok/s")
	assert.Assert(t, calls == 1 && !reported && strings.Contains(stdout, "the client may distort"), stdout)
}

// measured returns the measurement of one pass in which a read was that late, of streams on the
// user clock and of as many control streams. It sends nothing.
func measured(t *testing.T, bound ClientBound, late time.Duration, streams int, clockSet bool) *measurement {
	l, err := Load{Requests: words(1, 4), Concurrency: 1, ClientBound: bound}.check()
	assert.NilError(t, err)
	m := &measurement{load: l, bound: bound, samples: inMemoryOnly().samples}
	for i := range 2 {
		at := time.Duration(i) * 100 * ms
		one := &sample.Sample{Request: i, Due: at, Start: at, Streamed: true, Outcome: sample.OK, Clock: sample.UserClock, Deltas: 1, First: at + 100*ms, Last: at + 100*ms, End: at + 100*ms}
		assert.NilError(t, m.samples.Add(one))
	}
	e := distortion.Errors{Streams: streams, Late: slices.Repeat([]time.Duration{late}, 9*streams)}
	m.add(passResult{Pass: distortion.Pass{Samples: m.all(), Workers: 1, Errors: e, ClockSet: clockSet}})
	return m
}

// TestUnknownDistortion checks that a pass is not taken for a true one if nothing is known about
// the client's distortion: if the wall clock was set, and if there were few control streams.
func TestUnknownDistortion(t *testing.T) {
	for _, tt := range []struct {
		name        string
		bound       ClientBound
		late        time.Duration
		streams     int
		clockChange time.Duration
		want        string // in the error; "": none
	}{
		{"an exact client", BoundFails, 0, 9, 0, ""},
		{"a client that distorts", BoundFails, 50 * ms, 9, 0, "p50-ttft-ns (likely 101%, at most 127%)"},
		{"the wall clock was set", BoundFails, 0, 9, -time.Hour, "the wall clock was set by -1h0m0s during the pass"},
		{"the wall clock was set, withheld", BoundWithheld, 0, 9, time.Hour, "the wall clock was set by 1h0m0s during the pass"},
		{"few control streams", BoundFails, 0, 4, 0, "in 1 of 1 passes nothing tells how late the client read"},
		{"no control stream", BoundFails, 0, 0, 0, "in 1 of 1 passes nothing tells how late the client read"},
		{"no judgement", BoundReported, 0, 9, time.Hour, ""},
	} {
		err := measured(t, tt.bound, tt.late, tt.streams, tt.clockChange != 0).checkSingle(tt.clockChange)
		if tt.want == "" {
			assert.NilError(t, err, tt.name)
			continue
		}
		assert.ErrorIs(t, err, ErrClientBound, tt.name)
		assert.ErrorContains(t, err, tt.want, tt.name)
	}
}

// TestBursts checks what Pass and Run do with answers that come in bursts: an error says so, the
// figures that mean nothing are left out, and the client is not blamed for them.
func TestBursts(t *testing.T) {
	wrong := distortion.Pass{Samples: sample.All(), Strain: strain.Strain{Throttled: time.Second}} // which distorts everything
	for _, tt := range []struct {
		bound ClientBound
		local bool // the server is part of this process
		slo   sample.SLO
		want  []string // units that are left out
	}{
		{BoundFails, false, sample.SLO{}, []string{"p50-ttft-ns", "p99-itl-ns"}},
		{BoundWithheld, false, sample.SLO{TTFT: ms}, []string{"good-req/s", "p50-ttft-ns", "p99-itl-ns"}},
		{BoundFails, false, sample.SLO{E2E: ms}, []string{"p50-ttft-ns", "p99-itl-ns"}},
		{BoundReported, false, sample.SLO{}, nil},
		{BoundFails, true, sample.SLO{}, nil},
	} {
		m := measured(t, tt.bound, 0, 9, false)
		m.estimate.Add(wrong)
		m.local, m.load.SLO = tt.local, tt.slo
		var withheld []string
		m.load.Withheld = func(units []string, why error) {
			if why == ErrBursts {
				withheld = units
			}
		}
		one := &sample.Sample{Streamed: true, Outcome: sample.OK, Clock: sample.KernelClock, Deltas: 101, First: 100 * ms, Last: 100 * ms, End: 100 * ms,
			Gaps: make([]time.Duration, 100), Lags: make([]time.Duration, 101)}
		for range 3 { // more than the two of measured
			assert.NilError(t, m.samples.Add(one))
		}
		metrics := sample.Summarize(m.all(), m.elapsed, m.load.SLO).Metrics
		err := m.judgeBursts(metrics, sample.FindBursts(m.all()))
		assert.Equal(t, errors.Is(err, ErrBursts), !tt.local, "%v", err)
		assert.DeepEqual(t, withheld, tt.want)
		assert.DeepEqual(t, m.end.Buffered, tt.want)
		for _, unit := range tt.want {
			_, has := metrics[unit]
			assert.Assert(t, !has, unit)
		}
		_, has := metrics["p50-e2e-ns"]
		assert.Assert(t, has)
		d, judgeErr := m.judge(metrics)
		assert.NilError(t, judgeErr)
		blamed := slices.Contains(d.Units, "p99-itl-ns")
		assert.Equal(t, blamed, tt.local, "%+v", tt)
		if !tt.local {
			assert.ErrorContains(t, err, "answers come in bursts: 3 of 3 streams, 101 deltas a burst, each answer in one piece: something between buffers the stream (nginx: proxy_buffering off)\n  ")
			assert.ErrorContains(t, err, "p50-ttft-ns")
		}
	}
	m := measured(t, BoundReported, 0, 9, false)
	assert.NilError(t, m.judgeBursts(sample.Summarize(m.all(), m.elapsed, sample.SLO{}).Metrics, sample.FindBursts(m.all())))
}

// TestUnknownClientError checks that client-err-% is left out if there were few control streams.
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
			d, err := m.judge(metrics)
			assert.NilError(t, err)
			_, has := metrics[sample.ClientError]
			assert.Equal(t, has, !tt.unknown)
			assert.Equal(t, d.Unknown != "", tt.unknown)
		}
	}
}
