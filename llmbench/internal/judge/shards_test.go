package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// deal returns the samples of n requests that take about 1.3 s each. They are given to shards in turn. The
// function more returns by how much a request takes longer.
func deal(seed uint64, n, shards int, more func(request, shard int) time.Duration) []sample.Sample {
	r := rand.New(rand.NewPCG(seed, 1))
	all := make([]sample.Sample, n)
	for i := range all {
		e2e := time.Duration(1.3e9 * math.Exp(0.3*r.NormFloat64()))
		if more != nil {
			e2e += more(i, i%shards)
		}
		all[i] = sample.Sample{Outcome: sample.OK, Request: i, Shard: i % shards, Start: time.Second, Due: time.Second, Deltas: 1, End: time.Second + e2e, Last: time.Second + e2e}
	}
	return all
}

func TestOutliers(t *testing.T) {
	const outage = 3 * time.Second
	for _, tt := range []struct {
		name     string
		requests int
		shards   int
		more     func(request, shard int) time.Duration
		want     []int
	}{
		{"a link that is down for 3 s", 1000, 4, func(i, s int) time.Duration {
			if s == 2 && i >= 400 && i < 432 { // eight of its requests are in flight
				return outage
			}
			return 0
		}, []int{2}},
		{"a server that stops for 3 s", 1000, 4, func(i, s int) time.Duration {
			if i >= 400 && i < 432 {
				return outage
			}
			return 0
		}, nil},
		{"a slow machine", 200, 4, func(_, s int) time.Duration { return time.Duration(s/3) * 500 * time.Millisecond }, []int{3}},
		{"one of two", 200, 2, func(_, s int) time.Duration { return time.Duration(s) * 500 * time.Millisecond }, []int{1}},
		{"a little slower", 1000, 4, func(_, s int) time.Duration { return time.Duration(s/3) * 100 * time.Millisecond }, nil},
		{"too few to tell", 20, 4, func(_, s int) time.Duration { return time.Duration(s/3) * outage }, nil},
		{"one shard", 100, 1, nil, nil},
	} {
		var got []int
		for _, o := range Outliers(sample.All(deal(7, tt.requests, tt.shards, tt.more)...), tt.shards) {
			assert.Assert(t, o.Own > o.Others, "%s: %v", tt.name, o)
			got = append(got, o.Shard)
		}
		assert.DeepEqual(t, got, tt.want)
	}
}

// TestOutliersByChance checks that equally fast shards are not called outliers, even if a session has many
// slow turns.
func TestOutliersByChance(t *testing.T) {
	found := 0
	for seed := range uint64(1000) {
		all := deal(seed, 50+int(seed/2), 2+int(seed%7), nil)
		slow := slices.Clone(all[:1])
		for range 30 { // turns of the first request
			slow[0].End, slow[0].Last = 20*time.Second, 20*time.Second
			all = append(all, slow[0])
		}
		found += len(Outliers(sample.All(all...), 2+int(seed%7)))
	}
	assert.Assert(t, found <= 3, "%d of 1000: want about one at most", found)
}

// TestAtLeast checks probabilities that can be computed by hand.
func TestAtLeast(t *testing.T) {
	for _, tt := range []struct {
		k, drawn, marked, all int
		want                  float64
	}{
		{0, 2, 2, 4, 1}, {1, 2, 2, 4, 5. / 6}, {2, 2, 2, 4, 1. / 6}, {3, 2, 2, 4, 0}, {1, 1, 1, 10, 0.1},
	} {
		assert.Assert(t, math.Abs(atLeast(tt.k, tt.drawn, tt.marked, tt.all)-tt.want) < 1e-9, "%v: %v", tt, atLeast(tt.k, tt.drawn, tt.marked, tt.all))
	}
}

func TestOutlierText(t *testing.T) {
	assert.Equal(t, Outlier{2, 0.9, 3612345678, 1287654321}.String(), "its p90 E2E latency is 3.61s, and 1.29s in the other shards")
}
