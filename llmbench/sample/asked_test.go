package sample

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestAskedOutput checks that the requested output tokens are reported if all successful requests asked for
// a fixed number, and the actual numbers are different.
func TestAskedOutput(t *testing.T) {
	asked := func(tokens int) Sample {
		s := answer(0, 100, 200, 10)
		s.OutputTokens, s.MaxTokens, s.FixedOutput = 10, tokens, true
		return s
	}
	atMost := asked(16)
	atMost.FixedOutput = false
	failed := asked(1000)
	failed.Outcome = Truncated
	for _, c := range []struct {
		samples []Sample
		want    float64 // 0 means omitted
	}{
		{[]Sample{asked(16), asked(10)}, 13},
		{[]Sample{asked(9), asked(10)}, 9.5},
		{[]Sample{asked(10), asked(10)}, 0},
		{[]Sample{atMost, atMost}, 0},
		{[]Sample{asked(12), atMost}, 0},
		{[]Sample{asked(12), failed}, 12},
		{[]Sample{failed}, 0},
	} {
		got, has := Summarize(All(c.samples...), time.Second, SLO{}).Metrics["asked-out-tok/req"]
		assert.Equal(t, got, c.want)
		assert.Equal(t, has, c.want > 0)
	}
}

// TestAskedTokens checks that the intended lengths of prompts are reported if they are known for all
// successful requests, and different from the actual lengths.
func TestAskedTokens(t *testing.T) {
	asked := func(tokens int) Sample {
		s := answer(0, 100, 200, 10) // 10 prompt tokens
		s.AskedTokens = tokens
		return s
	}
	silent := asked(9)
	silent.PromptTokens = 0
	failed := asked(1000)
	failed.Outcome = Truncated
	for _, c := range []struct {
		samples []Sample
		want    float64 // 0 means omitted
	}{
		{[]Sample{asked(12), asked(11)}, 11.5},
		{[]Sample{asked(10), asked(10)}, 0},
		{[]Sample{asked(12), asked(0)}, 0},
		{[]Sample{asked(12), failed}, 12},
		{[]Sample{silent}, 9},
		{[]Sample{failed}, 0},
	} {
		got, has := Summarize(All(c.samples...), time.Second, SLO{}).Metrics["asked-in-tok/req"]
		assert.Equal(t, got, c.want)
		assert.Equal(t, has, c.want > 0)
	}
}
