package llmbench

import (
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestAsked checks that samples have the lengths that their requests asked for.
func TestAsked(t *testing.T) {
	_, target := loopback(t, mockserver.Config{})
	for _, fixed := range []bool{false, true} {
		samples := onePass(t, target, Load{Concurrency: 1, Requests: []Request{{
			Prompt: "a b", MaxTokens: 3, FixedOutput: fixed, PromptTokens: 7,
			Then: []Turn{{Prompt: "c", MaxTokens: 4, FixedOutput: !fixed}},
		}}})
		assert.Equal(t, samples[0].AskedTokens, 7)
		assert.Equal(t, samples[0].MaxTokens, 3)
		assert.Equal(t, samples[0].FixedOutput, fixed)
		assert.Equal(t, samples[1].AskedTokens, 0)
		assert.Equal(t, samples[1].MaxTokens, 4)
		assert.Equal(t, samples[1].FixedOutput, !fixed)
	}
}

// textsOf returns the texts of notes.
func textsOf(notes []records.Note) (texts []string) {
	for _, n := range notes {
		texts = append(texts, n.Text)
	}
	return texts
}

// TestCachedPrompts checks that prompts from the server's cache are logged if they are more
// than 10 % of the prompts' tokens.
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
		got := notes(findFacts(sample.All(samples...), time.Second, &Load{}))
		assert.DeepEqual(t, textsOf(got), c.want)
		for _, n := range got {
			assert.Assert(t, !n.Doubt && n.Units == nil, "%v: there is no TTFT", n)
		}
	}
	metrics := map[string]float64{"cached-%": 20, "p99-ttft-ns": 2, "p50-ttft-ns": 1, "output-tok/s": 1}
	for _, n := range notes(facts{summary: sample.Summary{Metrics: metrics, Sources: map[sample.TokenSource]int{sample.FromUsage: 1}}}) {
		assert.Assert(t, n.Doubt && slices.Equal(n.Units, []string{"p50-ttft-ns", "p99-ttft-ns"}), "%v", n)
	}
	unit := sample.Named("cached-%")[0]
	assert.Assert(t, unit.Core)
	assert.Equal(t, unit.Line(), "Unit cached-% better=higher same=5")
}

// TestShortAnswers checks that answers shorter than 95 % of a fixed length that was asked for
// are logged, and that others are not.
func TestShortAnswers(t *testing.T) {
	for _, c := range []struct {
		asked, output int
		atMost        bool // no fixed length
		want          []string
	}{
		{683, 46, false, []string{"answers are shorter than asked: mean 46 of 683 output tokens; figures depend on the length"}},
		{683, 683, false, nil},
		{100, 95, false, nil},
		{100, 94, false, []string{"answers are shorter than asked: mean 94 of 100 output tokens; figures depend on the length"}},
		{683, 46, true, nil},
	} {
		s := answered(c.output)
		s.MaxTokens, s.FixedOutput, s.Streamed = c.asked, !c.atMost, true
		samples := []sample.Sample{s, s}
		got := notes(findFacts(sample.All(samples...), time.Second, &Load{}))
		assert.DeepEqual(t, textsOf(got), c.want)
		for _, n := range got {
			assert.Assert(t, n.Doubt && n.Units == nil, "%v", n)
		}
	}
}
