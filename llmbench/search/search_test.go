package search

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// upTo simulates a server that meets loads up to a limit.
func upTo(limit float64) func(float64) (bool, error) {
	return func(load float64) (bool, error) { return load <= limit, nil }
}

// TestHighest checks that limits anywhere in the range are found within the tolerance, with fewer than
// twelve trials.
func TestHighest(t *testing.T) {
	for limit := 1.0; limit < 60; limit *= 1.013 {
		got, err := Highest{From: 1, To: 64}.Find(upTo(limit))
		assert.NilError(t, err)
		assert.Assert(t, got.Low <= limit && limit < got.High, "%v is not in [%v, %v)", limit, got.Low, got.High)
		assert.Assert(t, got.High <= got.Low*1.05, "[%v, %v)", got.Low, got.High)
		assert.Assert(t, len(got.Trials) < 12, "%v", got.Trials)
	}
	for limit := range 199 {
		got, err := Highest{From: 1, To: 200, Whole: true, Tolerance: 0.01}.Find(upTo(float64(limit + 1)))
		assert.NilError(t, err)
		low, high := int(got.Low), int(got.High)
		assert.Assert(t, low <= limit+1 && limit+1 < high && float64(high-1) <= 1.01*float64(low), "limit %d: [%d, %d)", limit+1, low, high)
		for _, trial := range got.Trials {
			assert.Equal(t, trial.Load, math.Trunc(trial.Load))
		}
	}
}

// TestHighestTrials checks all trials of one search.
func TestHighestTrials(t *testing.T) {
	got, err := Highest{From: 1, To: 100, Whole: true}.Find(upTo(11))
	assert.NilError(t, err)
	assert.Equal(t, fmt.Sprint(got), "{11 12 [1 met 4 met 16 missed 8 met 11 met 13 missed 12 missed 11 met 12 missed]}")
}

// TestHighestStart checks searches that begin at a good or a bad guess.
func TestHighestStart(t *testing.T) {
	for _, c := range []struct {
		start float64
		want  string
	}{
		{10, "{10 10.5 [10 met 10.5 missed 10 met 10.5 missed]}"},
		{10.3, "{9.81 10.3 [10.3 missed 9.81 met 9.81 met 10.3 missed]}"},
		{9, "{9.923 10.42 [9 met 9.45 met 10.42 missed 9.923 met 9.923 met 10.42 missed]}"},
		{64, "{9.972 10.41 [64 missed 60.95 missed 55.29 missed 45.48 missed 30.79 missed 14.1 missed 3.526 met 7.052 met 9.972 met 11.86 missed 10.87 missed 10.41 missed 9.972 met 10.41 missed]}"},
	} {
		got, err := Highest{From: 1, To: 64, Start: c.start}.Find(upTo(10.1))
		assert.NilError(t, err)
		assert.Assert(t, got.Low <= 10.1 && 10.1 < got.High && got.High <= 1.0501*got.Low)
		assert.Equal(t, fmt.Sprintf("{%.4g %.4g %v}", got.Low, got.High, got.Trials), c.want)
	}
	for limit := 1.0; limit < 60; limit *= 1.013 {
		for start := 1.0; start <= 64; start *= 1.7 {
			got, err := Highest{From: 1, To: 64, Start: start}.Find(upTo(limit))
			assert.NilError(t, err)
			assert.Assert(t, got.Low <= limit && limit < got.High && got.High <= got.Low*1.0501, "from %v: %v is not in [%v, %v)", start, limit, got.Low, got.High)
		}
	}
}

func TestHighestCannotJudge(t *testing.T) {
	broken := errors.New("no server")
	// seq returns the given answers in turn, then the answers of a server with a limit of 11.
	seq := func(answers ...bool) func(float64) (bool, error) {
		n := 0
		return func(load float64) (bool, error) {
			if n++; n <= len(answers) {
				return answers[n-1], nil
			}
			return load <= 11, nil
		}
	}
	for _, c := range []struct {
		name string
		h    Highest
		try  func(float64) (bool, error)
		want string
	}{
		{"the lowest load misses", Highest{From: 2, To: 64}, upTo(1), "cannot judge: the lowest load, 2, misses (2 missed)"},
		{"the highest load meets", Highest{From: 1, To: 9}, upTo(9), "cannot judge: the highest load, 9, still meets (1 met, 4 met, 9 met)"},
		{"the low end is not confirmed", Highest{From: 1, To: 100, Whole: true}, seq(true, true, false, true, true, false, false, false, false, false, false),
			"cannot judge: not monotone: 5 contradicts an earlier trial (1 met, 4 met, 16 missed, 8 met, 11 met, 13 missed, 12 missed, 11 missed, 10 missed, 8 missed, 5 missed)"},
		{"the high end is not confirmed", Highest{From: 1, To: 100, Whole: true}, seq(true, true, false, true, true, false, false, true, true, true, true, true),
			"cannot judge: not monotone: 25 contradicts an earlier trial (1 met, 4 met, 16 missed, 8 met, 11 met, 13 missed, 12 missed, 11 met, 12 met, 14 met, 17 met, 25 met)"},
		{"no room to move the low end", Highest{From: 1, To: 3, Whole: true}, seq(true, false, true, false, false),
			"cannot judge: not monotone: 1 contradicts an earlier trial (1 met, 3 missed, 2 met, 2 missed, 1 missed)"},
		{"an error", Highest{From: 1, To: 2}, func(float64) (bool, error) { return false, broken }, "no server"},
		{"the lowest load misses, from above", Highest{From: 2, To: 64, Start: 2.5, Tolerance: 0.1}, upTo(1), "cannot judge: the lowest load, 2, misses (2.5 missed, 2.273 missed, 2 missed)"},
		{"the highest load meets, from below", Highest{From: 1, To: 9, Start: 8, Tolerance: 0.1}, upTo(9), "cannot judge: the highest load, 9, still meets (8 met, 8.8 met, 9 met)"},
		{"a start outside", Highest{From: 1, To: 9, Start: 10}, upTo(9), "search: a start at 10 of a search from 1 to 9: want one between them, and no whole numbers"},
		{"a start of whole numbers", Highest{From: 1, To: 9, Start: 2, Whole: true}, upTo(9), "search: a start at 2 of a search from 1 to 9: want one between them, and no whole numbers"},
		{"empty range", Highest{From: 2, To: 2}, upTo(1), "search: from 2 to 2 within 0.05: want 0 < from < to, and a tolerance above 0"},
		{"empty range of whole numbers", Highest{From: 1.5, To: 2.5, Whole: true}, upTo(1), "search: from 2 to 2 within 0.05: want 0 < from < to, and a tolerance above 0"},
		{"NaN and infinity", Highest{From: math.NaN(), To: math.Inf(1)}, upTo(1), "search: from NaN to +Inf within 0.05: want 0 < from < to, and a tolerance above 0"},
	} {
		got, err := c.h.Find(c.try)
		assert.Error(t, err, c.want, c.name)
		assert.Equal(t, errors.Is(err, ErrCannotJudge), strings.HasPrefix(c.want, "cannot judge"))
		assert.Equal(t, got.Low+got.High, 0.0)
	}
}

// TestHighestMovesEnd checks that an end that is not confirmed is moved outwards, and that the interval is
// then narrowed again.
func TestHighestMovesEnd(t *testing.T) {
	seen := map[float64]int{}
	got, err := Highest{From: 1, To: 100, Whole: true}.Find(func(load float64) (bool, error) {
		seen[load]++
		return load < 11 || load == 11 && seen[load] == 1, nil
	})
	assert.NilError(t, err)
	assert.Equal(t, fmt.Sprint(got), "{10 11 [1 met 4 met 16 missed 8 met 11 met 13 missed 12 missed 11 missed 10 met 10 met 12 missed 11 missed 10 met 11 missed]}")
}

// TestHighestConfirmsEnds checks that both ends give the same answer twice in a row, for a
// server whose answers are random near its limit.
func TestHighestConfirmsEnds(t *testing.T) {
	for seed := range uint64(2000) {
		chance := rand.New(rand.NewPCG(seed, 1))
		got, err := Highest{From: 1, To: 64}.Find(func(load float64) (bool, error) {
			return chance.Float64() < 1/(1+math.Pow(load/10, 20)), nil // 0.5 at a load of 10, 0.87 at 9.1
		})
		if err != nil {
			assert.ErrorIs(t, err, ErrCannotJudge)
			continue
		}
		for _, end := range []Trial{{got.Low, true}, {got.High, false}} {
			last := 0 // number of successive trials at that load, at the end, with the expected answer
			for _, trial := range got.Trials {
				switch {
				case trial == end:
					last++
				case trial.Load == end.Load:
					last = 0
				}
			}
			assert.Assert(t, last >= 2, "seed %d: %v was confirmed %d times: %v", seed, end, last, got.Trials)
		}
	}
}

func TestKnee(t *testing.T) {
	// A closed loop on a server with eight slots of one second each: up to eight users the throughput
	// increases, and with more users the latency increases.
	slots := func(loads ...float64) (all []Point) {
		for _, n := range loads {
			all = append(all, Point{n, min(n, 8), max(1, n/8)})
		}
		return all
	}
	for _, c := range []struct {
		name   string
		points []Point
		want   int
		err    string
	}{
		{"slots", slots(1, 2, 4, 8, 16), 3, ""},
		{"between two loads", slots(3, 6, 12, 24), 1, ""}, // 6 users: 6/1; 12: 8/1.5
		{"one at a time", []Point{{1, 2, 0.5}, {2, 2, 1}}, 0, ""},
		{"throughput that falls", []Point{{1, 1, 1}, {2, 2, 1}, {4, 1.5, 2.7}}, 1, ""},
		{"the knee may be higher", slots(1, 2, 4, 8), 0, "cannot judge: throughput / latency is greatest at 8, the highest of 4 loads: want higher loads"},
		{"throughput that still rises", []Point{{1, 1, 1}, {2, 2, 1}, {4, 2.6, 1.54}}, 1, ""},
		{"further loads do not move it", slots(1, 2, 4, 8, 16, 32, 64, 128, 256), 3, ""},
		{"one point", slots(1), 0, "cannot judge: 1 loads: want two or more"},
		{"no points", nil, 0, "cannot judge: 0 loads: want two or more"},
		{"nothing at all", []Point{{1, 0, 1}}, 0, "cannot judge: at a load of 1 throughput 0 and latency 1: want both above 0"},
		{"out of order", slots(2, 1), 0, "cannot judge: a load of 1 after 2: want increasing loads"},
	} {
		got, err := Knee(c.points)
		if c.err == "" {
			assert.NilError(t, err, c.name)
		} else {
			assert.Error(t, err, c.err)
			assert.ErrorIs(t, err, ErrCannotJudge)
		}
		assert.Equal(t, got, c.want, c.name)
	}
}
