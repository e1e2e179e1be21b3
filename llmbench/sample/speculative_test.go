package sample

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// spoken returns a sample whose deltas came 10 ms apart.
func spoken(tokens ...int32) Sample {
	s := Sample{Outcome: OK, Streamed: true, TokenSource: FromUsage, Deltas: len(tokens), DeltaTokens: tokens, Gaps: slices.Repeat([]time.Duration{10 * time.Millisecond}, len(tokens)-1)}
	for _, n := range tokens {
		s.OutputTokens += int(n)
	}
	s.Last = time.Duration(len(s.Gaps)) * 10 * time.Millisecond
	return s
}

// TestTokenGaps checks the ITL of tokens, which is not the ITL of deltas.
func TestTokenGaps(t *testing.T) {
	const ms = time.Millisecond
	s := spoken(1, 2, 0, 4)
	assert.DeepEqual(t, slices.Collect(s.TokenGaps()), []time.Duration{5 * ms, 5 * ms, 5 * ms, 5 * ms, 5 * ms, 5 * ms})
	got := Summarize(All(spoken(1, 4, 4, 4)), time.Second, SLO{})
	assert.Equal(t, got.Metrics["mean-itl-ns"], 10e6)
	assert.Equal(t, got.Metrics["mean-token-itl-ns"], 2.5e6)
	one := spoken(1, 1, 1)
	one.DeltaTokens = nil
	got = Summarize(All(one), time.Second, SLO{})
	_, known := got.Metrics["mean-token-itl-ns"]
	assert.Assert(t, !known)
	assert.Equal(t, got.DescribeDeltas(), "")
}

func TestDeltaTokens(t *testing.T) {
	unstated := spoken(1, 4, 4)
	unstated.DeltaTokens = nil
	hidden := spoken(1, 2, 2)
	hidden.ReasoningTokens, hidden.OutputTokens, hidden.Outputs = 100, 105, 3
	left := spoken(1, 9)
	left.Outcome = Left
	for _, c := range []struct {
		name    string
		samples []Sample
		want    float64 // tok/delta; 0 means omitted
		text    string
	}{
		{"as stated", []Sample{spoken(1, 2, 4), spoken(2, 3)}, 3, "tokens of a delta: 2 33.3%, 3 33.3%, 4 33.3%"},
		{"by usage", []Sample{unstated}, 4, "because the server reports tokens only for whole answers"},
		{"one each", []Sample{spoken(1, 1, 1)}, 0, ""},
		{"the end has no delta", []Sample{spoken(slices.Repeat([]int32{1}, 30)...), {Outcome: OK, Streamed: true, TokenSource: FromUsage, Deltas: 30, OutputTokens: 31}}, 0, ""},
		{"hidden reasoning and clients that left", []Sample{hidden, left}, 0, ""},
	} {
		got := Summarize(All(c.samples...), time.Second, SLO{})
		assert.Equal(t, got.Metrics["tok/delta"], c.want, c.name)
		assert.Assert(t, strings.Contains(got.DescribeDeltas(), c.text) && (c.text == "") == (got.DescribeDeltas() == ""), "%s: %s", c.name, got.DescribeDeltas())
	}
	got := Summarize(All(hidden, spoken(1, 1)), time.Second, SLO{})
	assert.Equal(t, got.Metrics["hidden-tok/req"], 50.0)
	assert.Equal(t, got.Metrics["reason-tok/req"], 50.0)
}

// TestManySizes checks that the description of many sizes is shortened.
func TestManySizes(t *testing.T) {
	var tokens []int32
	for n := range int32(40) {
		tokens = append(tokens, n+1)
	}
	got := Summarize(All(spoken(tokens...)), time.Second, SLO{})
	assert.Assert(t, strings.HasSuffix(got.DescribeDeltas(), " 16 2.6%, 17 2.6%, 18 to 40 59.0%"), got.DescribeDeltas())
}

// TestAccepted checks how drafts that answers report are counted.
func TestAccepted(t *testing.T) {
	steps := Sample{Outcome: OK, OutputTokens: 101, Server: ServerTimings{DecodeSteps: 40}}
	drafts := Sample{Outcome: OK, OutputTokens: 50, Server: ServerTimings{OutputTokens: 51, DraftTokens: 60, AcceptedTokens: 30}}
	for _, c := range []struct {
		samples []Sample
		want    map[string]float64
	}{
		{[]Sample{steps}, map[string]float64{"accept-len": 2.5}},
		{[]Sample{drafts}, map[string]float64{"accept-len": 2.5, "accept-%": 50}},
		{[]Sample{steps, drafts}, map[string]float64{"accept-len": 2.5, "accept-%": 50}},
		{[]Sample{{Outcome: OK, OutputTokens: 101}}, map[string]float64{}},
		{[]Sample{{Outcome: OK, OutputTokens: 1, Server: ServerTimings{DecodeSteps: 1}}}, map[string]float64{}},
		{[]Sample{{Outcome: OK, Server: ServerTimings{OutputTokens: 5, DraftTokens: 60, AcceptedTokens: 30}}}, map[string]float64{"accept-%": 50}},
	} {
		got := Summarize(All(c.samples...), time.Second, SLO{}).Metrics
		for _, unit := range []string{"accept-len", "accept-%"} {
			v, known := got[unit]
			want, should := c.want[unit]
			assert.Assert(t, known == should && v == want, "%s is %v, %v; want %v, %v", unit, v, known, want, should)
		}
	}
}
