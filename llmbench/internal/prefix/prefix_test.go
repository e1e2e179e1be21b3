package prefix

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gotest.tools/v3/assert"
)

// TestSent checks which prompts count as repeated.
func TestSent(t *testing.T) {
	long := strings.Repeat("word ", 100)
	var s Sent
	for _, c := range []struct {
		name   string
		server string
		texts  []string
		want   int
	}{
		{"the first", "a", []string{"x" + long}, 0},
		{"the same", "a", []string{"x" + long}, 1},
		{"another end", "a", []string{"x" + long + "end"}, 1},
		{"another beginning", "a", []string{"y" + long}, 0},
		{"another server", "b", []string{"x" + long}, 0},
		{"other messages of the same text", "a", []string{"x", long}, 0},
		{"the same messages", "a", []string{"x", long}, 1},
		{"a short one", "a", []string{"hi"}, 0},
		{"a short one again", "a", []string{"hi"}, 0},
		{"a common system prompt", "a", []string{long[:300], "first"}, 0},
		{"a common system prompt and another question", "a", []string{long[:300], "second"}, 1},
	} {
		assert.Equal(t, s.Add(c.server, []Opening{Of(c.texts...)}), c.want, c.name)
	}
	one := Of(strings.Repeat("z", 100))
	assert.Equal(t, s.Add("a", []Opening{one, one, one}), 2)
}

// TestSentIsBounded checks that at most the maximum number of openings is kept, and that the kept ones are
// still found.
func TestSentIsBounded(t *testing.T) {
	var s Sent
	all := make([]Opening, most+1000)
	for i := range all {
		all[i] = Opening(i + 1)
	}
	assert.Equal(t, s.Add("a", all), 0)
	assert.Equal(t, len(s.all), most)
	assert.Equal(t, s.Add("a", all), most)
}

// TestShuffle checks that a shuffled text has the same words, or the same characters, but another
// beginning.
func TestShuffle(t *testing.T) {
	var words []string
	for i := range 60 {
		words = append(words, fmt.Sprint("word", i))
	}
	for _, text := range []string{strings.Join(words, " "), strings.Repeat("春眠不覚暁処処聞啼鳥", 12)} {
		r := rand.New(rand.NewPCG(1, 2))
		got := Shuffle(text, r)
		assert.Equal(t, len(got), len(text))
		assert.Assert(t, utf8.ValidString(got))
		assert.Assert(t, Of(got) != Of(text) && Of(got) != Of(Shuffle(text, r)))
		separator := ""
		if strings.Contains(text, " ") {
			separator = " "
		}
		before, after := strings.Split(text, separator), strings.Split(got, separator)
		slices.Sort(before)
		slices.Sort(after)
		assert.DeepEqual(t, before, after)
	}
	assert.Equal(t, Shuffle("", rand.New(rand.NewPCG(1, 2))), "")
}

// pairs returns random pairs. The repeated prompt takes the given share of the new prompt's time, with
// noise of the given relative size.
func pairs(r *rand.Rand, n int, share, noise float64) (all []Pair) {
	took := func(mean float64) time.Duration {
		d := mean * (1 + noise*r.ExpFloat64()) * 1e8
		if r.IntN(50) == 0 {
			d *= 5 // another cause delayed the server
		}
		return time.Duration(d)
	}
	for range n {
		all = append(all, Pair{took(share), took(1)})
	}
	return all
}

// TestJudge checks the verdicts on obvious pairs and on few pairs.
func TestJudge(t *testing.T) {
	same := func(n int, repeated, fresh time.Duration) []Pair { return slices.Repeat([]Pair{{repeated, fresh}}, n) }
	for _, c := range []struct {
		name       string
		pairs      []Pair
		warm, cold bool
	}{
		{"none", nil, false, false},
		{"four are too few", same(4, 10, 100), false, false},
		{"five", same(5, 10, 100), true, false},
		{"equal", same(Pairs, 100, 100), false, true},
		{"two contradict", append(same(Pairs-2, 10, 100), same(2, 200, 100)...), true, false},
		{"three contradict", append(same(Pairs-3, 10, 100), same(3, 200, 100)...), false, false},
		{"half of them", append(same(6, 10, 100), same(5, 100, 100)...), false, false},
		{"a little sooner", same(Pairs, 97, 100), false, true},
		{"too little to tell apart", same(Pairs, 96, 100), false, true},
		{"clearly sooner", same(Pairs, 90, 100), true, false},
		{"later", same(Pairs, 150, 100), false, true},
		{"no time at all", same(Pairs, 0, 0), false, false},
	} {
		v := Judge(c.pairs)
		assert.Equal(t, v.Warm, c.warm, c.name)
		assert.Equal(t, v.Cold, c.cold, c.name)
	}
	assert.Equal(t, Judge(same(6, 25, 100)).Ratio, 0.25)
}

// TestJudgeErrors simulates controls. A server without a cache must be called warm in at most 5 % of them.
// A server with a cache that halves the TTFT must never be called cold. In most controls, both get the
// correct verdict.
func TestJudgeErrors(t *testing.T) {
	const runs = 5000
	for _, c := range []struct {
		share, noise       float64
		warmMost, coldMost float64
		toldLeast          float64
	}{
		{1, 0.02, 0, 1, 0.99},
		{1, 0.1, 0.02, 1, 0.6},
		{1, 0.5, 0.05, 1, 0}, // cannot tell, mostly
		{0.5, 0.02, 1, 0, 0.95},
		{0.5, 0.2, 1, 0, 0.95},
		{0.8, 0.1, 1, 0.01, 0.7},
	} {
		r := rand.New(rand.NewPCG(3, 4))
		warm, cold := 0, 0
		for range runs {
			switch v := Judge(pairs(r, Pairs, c.share, c.noise)); {
			case v.Warm:
				warm++
			case v.Cold:
				cold++
			}
		}
		w, k := float64(warm)/runs, float64(cold)/runs
		t.Logf("%v of the time with a noise of %v: warm in %.1f %%, cold in %.1f %% of %d controls", c.share, c.noise, 100*w, 100*k, runs)
		assert.Assert(t, w <= c.warmMost && k <= c.coldMost && w+k >= c.toldLeast, "warm %v, cold %v", w, k)
	}
}
