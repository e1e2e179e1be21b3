package llmbench

import (
	"iter"
	"math"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

func init() {
	RegisterUnits(
		sample.Unit{Name: "srv-prefix-hit-%", Better: "higher", Core: true},
		sample.Unit{Name: "srv-preempt/op", Better: "lower", Core: true},
	)
}

// TestRegisterUnits checks that RegisterUnits refuses invalid units.
func TestRegisterUnits(t *testing.T) {
	for _, u := range []sample.Unit{{}, {Name: "a b"}, {Name: "req/s"}, {Name: "srv-preempt/op"}, {Name: "a", Family: "none"}} {
		func() {
			defer func() { assert.Assert(t, recover() != nil, "%+v is registered", u) }()
			RegisterUnits(u)
		}()
	}
	n := len(Units())
	assert.Equal(t, Units()[n-1].Name, "srv-preempt/op")
	assert.Equal(t, n, len(sample.Units)+2)
}

// ownUnit is a unit that a user of llmbench defines.
var ownUnit = sample.Unit{Name: "p50-long-ttft-ns", Better: "lower", Family: sample.FamilyTTFT, Statistic: sample.P50}

// helperOwnUnit reports a metric with its own unit, and another metric whose unit does not exist.
func helperOwnUnit(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	Run(b, target, Load{
		Requests: words(2, 5), Concurrency: 1, Units: append(sample.Named("user-tok/s"), ownUnit),
		Figures: func(iter.Seq[*sample.Sample]) map[string]float64 {
			return map[string]float64{ownUnit.Name: 7e6, "mean-e2e-ns": math.Inf(1)}
		},
	})
}

// TestOwnUnit checks that the metadata and the value of a load's own unit are reported.
func TestOwnUnit(t *testing.T) {
	stdout, _, code, _ := runHelper(t, "OwnUnit", []string{"-test.count=2"}, nil)
	assert.Equal(t, code, 0, stdout)
	all, units := results(t, stdout)
	assert.Equal(t, len(all), 2)
	assert.Equal(t, units.GetBetter(tidy(ownUnit.Name)), -1)
	for _, r := range all {
		v, _ := r.Value(tidy(ownUnit.Name))
		assert.Equal(t, v, 7e-3)
		_, has := r.Value("user-tok/s")
		assert.Assert(t, has)
		_, has = r.Value("mean-e2e-sec")
		assert.Assert(t, !has)
	}
	assert.DeepEqual(t, unknownUnits(Load{Units: []sample.Unit{ownUnit}}.units(), map[string]float64{ownUnit.Name: 1, "b": 1, "a": 1, "req/s": 1}), []string{"a", "b"})
}
