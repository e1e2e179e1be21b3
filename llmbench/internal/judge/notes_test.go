package judge

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// textsOf returns the texts of notes.
func textsOf(notes []records.Note) (texts []string) {
	for _, n := range notes {
		texts = append(texts, n.Text)
	}
	return texts
}

// TestCachedPrompts checks that prompts from the server's cache are logged if they have more than 10 % of
// all prompt tokens.
func TestCachedPrompts(t *testing.T) {
	for _, c := range []struct {
		cached int // of 10 prompt tokens in one of two requests
		want   []string
	}{
		{0, nil},
		{2, nil},
		{3, []string{"the server took 15% of the prompts' tokens from its cache, which shortens the TTFT: prompts have a common beginning, or were sent before, in this process or without Target.Salt in another"}},
	} {
		cached := answered(5)
		cached.CachedTokens = c.cached
		samples := []sample.Sample{answered(5), cached}
		got := FindFacts(sample.All(samples...), time.Second, 0, sample.SLO{}, Tolerated{}).Notes()
		assert.DeepEqual(t, textsOf(got), c.want)
		for _, n := range got {
			assert.Assert(t, !n.Doubt && n.Units == nil, "%v: there is no TTFT", n)
		}
	}
	metrics := map[string]float64{"cached-%": 20, "p99-ttft-ns": 2, "p50-ttft-ns": 1, "output-tok/s": 1}
	for _, n := range (Facts{Summary: sample.Summary{Metrics: metrics, Sources: map[sample.TokenSource]int{sample.FromUsage: 1}}}).Notes() {
		assert.Assert(t, n.Doubt && slices.Equal(n.Units, []string{"p50-ttft-ns", "p99-ttft-ns"}), "%v", n)
	}
	unit := sample.Named("cached-%")[0]
	assert.Assert(t, unit.Core)
	assert.Equal(t, unit.Line(), "Unit cached-% better=higher same=5")
}

// TestHeldStart checks that the first deltas of most streams are told if they came together, and only then. Streams that
// come in bursts have a note of their own.
func TestHeldStart(t *testing.T) {
	stream := func(first, pace time.Duration, together, n int) sample.Sample {
		s := sample.Sample{Outcome: sample.OK, Streamed: true, TokenSource: sample.FromUsage, OutputTokens: n, Clock: sample.KernelClock, Deltas: n, First: first, Last: first, Lags: make([]time.Duration, n)}
		for i := 1; i < n; i++ {
			gap := pace
			if i < together {
				gap = 0
			}
			s.Gaps = append(s.Gaps, gap)
			s.Last += gap
		}
		return s
	}
	const ms = time.Millisecond
	held, plain, burst := stream(63*ms, 5*ms, 9, 64), stream(20*ms, 5*ms, 1, 64), stream(330*ms, 5*ms, 64, 64)
	for _, tt := range []struct {
		samples []sample.Sample
		want    []string
	}{
		{[]sample.Sample{plain, plain}, nil},
		{[]sample.Sample{held, plain}, nil},
		{[]sample.Sample{held, held, plain}, []string{"the first 9 deltas came together in 2 of 3 streams, and the later ones one by one: the server or a gateway holds them back for 40ms or longer (Nagle and delayed acknowledgement?). LLMBENCH_DIRECT tells which of the two"}},
		{[]sample.Sample{held, burst, burst}, nil},
	} {
		f := FindFacts(sample.All(tt.samples...), time.Second, 0, sample.SLO{}, Tolerated{})
		assert.DeepEqual(t, textsOf(f.Notes()), tt.want)
		f.Compared = true // another arm tells which of the two
		for _, text := range textsOf(f.Notes()) {
			assert.Assert(t, strings.HasSuffix(text, "(Nagle and delayed acknowledgement?)"), text)
		}
	}
}

// TestShortAnswers checks that answers are logged if they are shorter than 95 % of a fixed length that was
// requested, and only then.
func TestShortAnswers(t *testing.T) {
	for _, c := range []struct {
		asked, output int
		atMost        bool // the request had only a limit, no fixed length
		want          []string
	}{
		{683, 46, false, []string{"answers are shorter than asked: mean 46 of 683 output tokens; metrics depend on the length"}},
		{683, 683, false, nil},
		{100, 95, false, nil},
		{100, 94, false, []string{"answers are shorter than asked: mean 94 of 100 output tokens; metrics depend on the length"}},
		{683, 46, true, nil},
	} {
		s := answered(c.output)
		s.MaxTokens, s.FixedOutput, s.Streamed = c.asked, !c.atMost, true
		samples := []sample.Sample{s, s}
		got := FindFacts(sample.All(samples...), time.Second, 0, sample.SLO{}, Tolerated{}).Notes()
		assert.DeepEqual(t, textsOf(got), c.want)
		for _, n := range got {
			assert.Assert(t, n.Doubt && n.Units == nil, "%v", n)
		}
	}
}

// TestHiddenReasoning checks that there is a note about reasoning that the server counts but does not
// stream.
func TestHiddenReasoning(t *testing.T) {
	s := answered(4)
	s.Streamed, s.Deltas, s.Outputs, s.ReasoningTokens = true, 2, 2, 2
	got := FindFacts(sample.All(s), time.Second, 0, sample.SLO{}, Tolerated{}).Notes()
	assert.DeepEqual(t, textsOf(got), []string{"the server counted reasoning tokens that it did not stream in 1 of 1 requests: these have no TPOT"})
}

// TestExcess checks that there is a text about answers with more tokens than the request allowed.
func TestExcess(t *testing.T) {
	right, more := answered(3), answered(3)
	right.ID, right.MaxTokens = "a", 3
	more.ID, more.MaxTokens = "b", 2
	assert.Equal(t, excess(sample.All(right)), "")
	assert.Equal(t, excess(sample.All(right, more)), "the server reports more output tokens than were allowed in 1 of 2 requests; the first is b of pass 0, 3 of 2")
}

// TestContradictedUsage checks the note about answers whose usage cannot be their number of tokens.
func TestContradictedUsage(t *testing.T) {
	bad := answered(0)
	bad.TokenSource = sample.Contradicted
	got := FindFacts(sample.All(answered(5), bad), time.Second, 0, sample.SLO{}, Tolerated{}).Notes()
	assert.DeepEqual(t, textsOf(got), []string{"the figures of output tokens, and the TPOT, are omitted: in 1 of 2 answers the reported usage cannot be the number of output tokens: it counts single events, or decreases. Set LLMBENCH_TOKENIZER, which counts the tokens of the text, or make the server report the usage of the whole answer at the end"})
}

// TestOnlyCommon checks when cached tokens are explained by what all prompts have in common.
func TestOnlyCommon(t *testing.T) {
	for _, c := range []struct {
		metrics map[string]float64
		common  int
		want    bool
	}{
		{map[string]float64{"cached-%": 12.7, "in-tok/req": 32}, 10, true},
		{map[string]float64{"cached-%": 12.7, "in-tok/req": 32}, 0, false},
		{map[string]float64{"srv-prefix-hit-%": 30, "in-tok/req": 32}, 10, true},
		{map[string]float64{"cached-%": 50, "in-tok/req": 32}, 10, false},
		{map[string]float64{"cached-%": 50, "srv-prefix-hit-%": 0, "in-tok/req": 32}, 10, false},
		{map[string]float64{"cached-%": 50, "in-tok/req": 1000}, 10, false},
		{map[string]float64{"in-tok/req": 32}, 10, false},
		{nil, 10, false},
	} {
		assert.Equal(t, OnlyCommon(c.metrics, c.common), c.want, "%+v", c)
	}
}
