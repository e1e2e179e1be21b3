package backends_test

import (
	"context"
	"iter"
	"math"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/router"
)

// An extra is an Observer of its own.
type extra struct{ before int }

func (e *extra) Before(context.Context) error { e.before++; return nil }
func (e *extra) After(context.Context) (map[string]float64, error) {
	return map[string]float64{"extra": float64(e.before)}, nil
}
func (e *extra) FiguresOf(iter.Seq[*sample.Sample]) map[string]float64 {
	return map[string]float64{"extra-of": 1}
}

// TestFleet sends three prefixes four times each in turn, in two passes, to two replicas behind a router.
// The units were computed by hand.
func TestFleet(t *testing.T) {
	caching := mockserver.Config{Engine: &engine.Profile{MaxBatch: 1, PrefixCache: true}}
	for name, want := range map[string]map[string]float64{
		// Each replica gets each prefix twice. The second time it has 32 of the 48 tokens.
		"round-robin": {
			"fleet-hit-%": 100. / 3, "replica1-hit-%": 100. / 3, "replica2-hit-%": 100. / 3, "fleet-imbalance": 1,
			"fleet-full-req/op": 0, "fleet-dead-req/op": 0, "fleet-queue-req": 0, "fleet-max-queue-req": 0,
		},
		// One replica gets all four requests of a prefix, and three of them hit.
		"prefix-hash": {"fleet-hit-%": 50},
	} {
		target := backends.Fleet{Replicas: []mockserver.Config{caching, caching}, Policy: router.Policies()[name]}.Start(t)
		assert.Equal(t, target.Truth.PrefixCache, true)
		assert.DeepEqual(t, target.Config, map[string]string{"backend": "fleet", "replicas": "2"})
		got, ok := observedPasses(t, target)
		assert.Equal(t, ok, 24)
		for unit, v := range want {
			assert.Assert(t, math.Abs(got[unit]-v) < 1e-9, "%s: %s is not %v in %v", name, unit, v, got)
		}
	}
}

// TestFleetLosses sends the same requests to three replicas in turn. The second refuses every other
// request. The third dies in the first pass with the second of its requests, which the router sends again
// because it ended a kept connection: three requests reach a dead server there, and four in the second pass.
func TestFleetLosses(t *testing.T) {
	target := backends.Fleet{Replicas: []mockserver.Config{
		{},
		{Faults: []fault.Fault{{Kind: fault.HTTP429, Every: 2}}},
		{Faults: []fault.Fault{{Kind: fault.Die, Every: 2}}},
	}}.Start(t)
	got, ok := observedPasses(t, target)
	assert.Equal(t, got["fleet-full-req/op"], 2.0)
	assert.Equal(t, got["fleet-dead-req/op"], 3.5)
	assert.Equal(t, ok, 4+2+1+4+2)
}

// TestObserveFleet checks that a target's own Observer remains.
func TestObserveFleet(t *testing.T) {
	fleet, urls := backends.Fleet{Replicas: []mockserver.Config{{}}}.Serve(t)
	target := backends.ObserveFleet(llmbench.Target{URL: urls[0], Observe: func() llmbench.Observer { return &extra{} }}, fleet)
	got, ok := observedPasses(t, target)
	assert.Equal(t, ok, 24)
	assert.Equal(t, got["extra"], 2.0)
	assert.Equal(t, got["fleet-imbalance"], 1.0)
	o, isSamples := target.Observe().(llmbench.SamplesObserver)
	assert.Equal(t, isSamples, true)
	assert.DeepEqual(t, o.FiguresOf(nil), map[string]float64{"extra-of": 1})
}

func TestFleetErrors(t *testing.T) {
	assert.Assert(t, strings.Contains(startError(t, backends.Fleet{}), "no replicas: want at least one"))
	assert.Assert(t, strings.Contains(startError(t, backends.Fleet{Replicas: []mockserver.Config{{}, {Slots: -1}}}), "replica 2: mockserver: slots: -1"))
}

// observedPasses sends the trace in two passes. It returns the units of the target's Observer and the
// number of answers.
func observedPasses(t *testing.T, target llmbench.Target) (figures map[string]float64, ok int) {
	t.Helper()
	o := target.Observe()
	for range 2 {
		assert.NilError(t, o.Before(t.Context()))
		ok += sendTrace(t, target)
		var err error
		figures, err = o.After(t.Context())
		assert.NilError(t, err)
	}
	return figures, ok
}

// sendTrace sends twelve prompts, one after the other, and returns the number of answers.
func sendTrace(t *testing.T, target llmbench.Target) (ok int) {
	t.Helper()
	for i := range 12 {
		prompt := strings.Repeat("prefix-"+string(rune('a'+i%3))+" ", 32) + strings.Repeat("own"+string(rune('a'+i))+" ", 16)
		s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: prompt, MaxTokens: 1}, true)
		if s.Outcome == sample.OK {
			ok++
		}
	}
	return ok
}
