package watch

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

// Reruns that agree with a night are no reason to call it an outlier, even if there are too few nights to tell.
func TestAgreeingRerunsDoNotClear(t *testing.T) {
	for seed := range 20 {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		w := New(Options{Nights: 100, Min: 0.01})
		one := func(level float64, reruns int) Result {
			v := Value{X: level + 0.01*rng.NormFloat64()}
			for range reruns {
				v.Reruns = append(v.Reruns, level+0.01*rng.NormFloat64())
			}
			return w.Night([]Value{v})
		}
		for range fewest {
			one(0, 0)
		}
		findings := one(math.Log(1.5), 25).Findings
		assert.Equal(t, len(findings), 1)
		assert.Assert(t, findings[0].Kind != Cleared && findings[0].Reruns == 0, "%+v", findings[0])
	}
}

// A change directly after a new baseline is found, before it becomes a part of the baseline.
func TestYoungBaseline(t *testing.T) {
	for before := fewest; before <= 20; before++ {
		for _, reruns := range []int{0, 2} {
			rng := rand.New(rand.NewPCG(uint64(before), 4))
			w := New(Options{Nights: 100, Min: 0.01})
			one := func(level float64, reruns int) (kinds []Kind) {
				v := Value{X: level + 0.01*rng.NormFloat64()}
				for range reruns {
					v.Reruns = append(v.Reruns, level+0.01*rng.NormFloat64())
				}
				for _, f := range w.Night([]Value{v}).Findings {
					kinds = append(kinds, f.Kind)
				}
				return kinds
			}
			for range before {
				one(0, 0)
			}
			nights := 1
			for ; !slices.Contains(one(math.Log(1.5), reruns), Worse); nights++ {
				assert.Assert(t, nights < enough, "%d nights before, %d reruns", before, reruns)
			}
		}
	}
}

// A change of many times the noise is found in at most five nights, also among many series, which make the limit of each
// one strict.
func TestYoungBaselineOfManySeries(t *testing.T) {
	const series = 20
	for before := fewest + 1; before <= 20; before++ {
		rng := rand.New(rand.NewPCG(uint64(before), 6))
		w := New(Options{Nights: 100, Min: 0.01})
		found := -1
		for night := range before + enough {
			values := make([]Value, series)
			for i := range values {
				values[i] = Value{Series: i, X: 0.01 * rng.NormFloat64()}
			}
			if night >= before {
				values[3].X += 0.2
			}
			for _, f := range w.Night(values).Findings {
				if f.Kind == Worse && f.Series == 3 {
					found = night
				}
			}
		}
		assert.Assert(t, found >= before, "%d nights before", before)
	}
}

// TestDetectable checks that four of five changes of the promised size are found in seven nights.
func TestDetectable(t *testing.T) {
	const series, repeat = 20, 40
	for _, before := range []int{7, 10, 20, 40} {
		found := 0
		for seed := range repeat {
			rng := rand.New(rand.NewPCG(uint64(seed), 7))
			w := New(Options{Nights: 100, Min: 0.01})
			night := func(step float64) (worse bool) {
				values := make([]Value, series)
				for i := range values {
					values[i] = Value{Series: i, X: 0.02 * rng.NormFloat64()}
				}
				values[3].X += step
				for _, f := range w.Night(values).Findings {
					worse = worse || f.Kind == Worse && f.Series == 3
				}
				return worse
			}
			for range before {
				night(0)
			}
			_, step := w.Detectable(3)
			for range 7 {
				if night(step) {
					found++
					break
				}
			}
		}
		assert.Check(t, found >= repeat*7/10, "%d of %d after %d nights", found, repeat, before)
	}
}

// TestAllSeries checks nights in which all series are worse.
func TestAllSeries(t *testing.T) {
	const series = 12
	for name, c := range map[string]struct {
		again  float64
		before int // an equally slow night is this number of nights ago; 0 means never
		kind   Kind
	}{
		"reruns confirm":                     {again: 0.4, kind: Worse},
		"reruns are fast":                    {again: 0, kind: Cleared},
		"slow nights are usual":              {again: 0.4, before: 30, kind: SlowOnce},
		"a slow night more than 100 ago":     {again: 0.4, before: 110, kind: Worse},
		"slow nights are usual, but not now": {again: 0, before: 30, kind: Cleared},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 5))
			w := New(Options{Nights: 100, Min: 0.01})
			one := func(level, again float64, reruns int) Result {
				var values []Value
				for i := range series {
					v := Value{Series: i, X: level + 0.02*rng.NormFloat64()}
					for range reruns {
						v.Reruns = append(v.Reruns, again+0.02*rng.NormFloat64())
					}
					values = append(values, v)
				}
				return w.Night(values)
			}
			for night := range 140 {
				level := 0.0
				if c.before > 0 && night == 140-c.before {
					level = 0.4
				}
				one(level, 0, 0)
			}
			asked := w.clone()
			f := shared(t, one(0.4, c.again, 4))
			assert.Equal(t, f.Kind, c.kind)
			assert.Equal(t, f.Reruns, 0)
			if c.kind == Worse {
				assert.Assert(t, !w.Gone(f, 0))
			}
			w = asked
			f = shared(t, one(0.4, 0, 0))
			assert.Equal(t, f.Kind, SlowOnce)
			assert.Assert(t, f.Reruns >= 1 && f.Reruns <= 4, "%d", f.Reruns)
		})
	}
}

// TestAllSeriesOfYoungBaseline checks that a night in which all series are worse is told as soon as series are judged,
// and that reruns confirm it.
func TestAllSeriesOfYoungBaseline(t *testing.T) {
	const series = 10
	for before := fewest; before <= 12; before++ {
		for _, size := range []float64{0.1, 0.3, 0.5} {
			rng := rand.New(rand.NewPCG(uint64(before), 8))
			w := New(Options{Nights: 100, Min: 0.01})
			night := func(level float64, reruns int) Result {
				values := make([]Value, series)
				for i := range values {
					values[i] = Value{Series: i, X: level + 0.01*rng.NormFloat64()}
					for range reruns {
						values[i].Reruns = append(values[i].Reruns, level+0.01*rng.NormFloat64())
					}
				}
				return w.Night(values)
			}
			for range before {
				assert.Equal(t, len(night(0, 0).Findings), 0)
			}
			asked := w.clone()
			assert.Equal(t, shared(t, night(size, 0)).Kind, SlowOnce, "%d nights before, %v", before, size)
			w = asked
			assert.Equal(t, shared(t, night(size, 6)).Kind, Worse, "%d nights before, %v", before, size)
		}
	}
}

// TestAllSeriesAgain checks that a second change of all series is told in the nights after the first one, whose level has
// no baseline yet, and that it is found in at most five nights.
func TestAllSeriesAgain(t *testing.T) {
	for after := range 9 {
		rng := rand.New(rand.NewPCG(uint64(after), 9))
		w := New(Options{Nights: 100, Min: 0.01})
		night := func(level float64, reruns int) Result {
			values := make([]Value, 10)
			for i := range values {
				values[i] = Value{Series: i, X: level + 0.01*rng.NormFloat64()}
				for range reruns {
					values[i].Reruns = append(values[i].Reruns, level+0.01*rng.NormFloat64())
				}
			}
			return w.Night(values)
		}
		for range 14 {
			night(0, 0)
		}
		assert.Equal(t, shared(t, night(0.3, 6)).Kind, Worse)
		for range after {
			assert.Equal(t, len(night(0.3, 0).Findings), 0)
		}
		for nights := 1; ; nights++ {
			found := night(0.6, 0).Findings
			assert.Assert(t, len(found) > 0 && nights <= enough, "night %d, %d after the first change", nights, after)
			f := found[0]
			assert.Assert(t, f.Shared && math.Abs(f.Size-0.3) < 0.02, "%+v", f)
			if f.Kind == Worse {
				break
			}
			assert.Equal(t, f.Kind, SlowOnce)
		}
		assert.Equal(t, len(night(0.6, 0).Findings), 0)
	}
}

// shared returns the finding about all series, which must be the only finding.
func shared(t *testing.T, r Result) Finding {
	t.Helper()
	assert.Equal(t, len(r.Findings), 1, "%+v", r.Findings)
	assert.Assert(t, r.Findings[0].Shared)
	return r.Findings[0]
}

// TestUnshared checks that a change of most series is not taken for the opposite change of the others, and that it does not
// hide a change of one of these. With odd seeds, these series have reruns.
func TestUnshared(t *testing.T) {
	for _, size := range []float64{-0.2, -0.05, 0.05, 0.2} {
		for seed := range uint64(20) {
			rng, again := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 1))
			w := New(Options{Nights: 100, Min: 0.01})
			var found []Finding
			for night := range 90 {
				var values []Value
				for i := range 10 {
					level := 0.0
					if night >= 30 && i < 8 {
						level = size
					}
					if night >= 60 && i == 8 {
						level = 0.05 // a change of a series that had no part in the other
					}
					v := Value{Series: i, X: level + 0.005*rng.NormFloat64()}
					if seed%2 == 1 && i >= 8 {
						v.Reruns = []float64{level + 0.005*again.NormFloat64(), level + 0.005*again.NormFloat64()}
					}
					values = append(values, v)
				}
				for _, f := range w.Night(values).Findings {
					if (f.Kind == Worse || f.Kind == Better) && math.Abs(f.Size) > 0.02 { // smaller ones are chance
						found = append(found, f)
					}
				}
			}
			own := 0
			for _, f := range found {
				switch {
				case f.Shared:
					assert.Assert(t, (f.Size > 0) == (size > 0), "size %v, seed %d: %+v", size, seed, f)
				case f.Series == 8 && f.First >= 58:
					own++
					assert.Assert(t, f.Kind == Worse && math.Abs(f.Size-0.05) < 0.02, "size %v, seed %d: %+v", size, seed, f)
				default:
					t.Errorf("size %v, seed %d: %+v", size, seed, f)
				}
			}
			assert.Equal(t, own, 1, "size %v, seed %d: %+v", size, seed, found)
		}
	}
}
