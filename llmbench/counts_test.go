package llmbench

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// factor counts each word as so many tokens.
type factor int

func (f factor) Count(text string) int { return int(f) * len(strings.Fields(text)) }

// TestUnderstatedUsage checks that a benchmark fails if a tokenizer counts twice the tokens that the server
// states, and that the records have the comparison of the first answers of each pass.
func TestUnderstatedUsage(t *testing.T) {
	for _, c := range []struct {
		tokenizer factor
		fails     bool
	}{{1, false}, {2, true}} {
		_, target := loopback(t, mockserver.Config{})
		out, failed := t.TempDir(), false
		t.Setenv("LLMBENCH_OUT", out)
		testing.Benchmark(func(b *testing.B) {
			defer func() { failed = b.Failed() }()
			Run(b, target, Load{Requests: words(tokenizedAnswers+10, 8), Concurrency: 8, Tokenizer: c.tokenizer})
		})
		assert.Equal(t, failed, c.fails)
		files, err := filepath.Glob(filepath.Join(out, "*.jsonl"))
		assert.NilError(t, err)
		run, err := records.Open(files[0])
		assert.NilError(t, err)
		first := run.End.Counts[0]
		assert.Equal(t, first.ComparedRequests, tokenizedAnswers)
		assert.Equal(t, first.ComparedStated, 8*tokenizedAnswers)
		assert.Equal(t, first.ComparedText, int(c.tokenizer)*8*tokenizedAnswers)
		assert.Equal(t, strings.Contains(run.Failed(), "the tokenizer counts 1024 in their text"), c.fails, run.Failed())
	}
}

// answeredTokens returns a successful sample with so many output tokens.
func answeredTokens(output int) sample.Sample {
	return sample.Sample{PromptTokens: 10, OutputTokens: output, TokenSource: sample.FromUsage, Outcome: sample.OK}
}

// A slowCounter agrees with the client from the n-th call on, or never if n is 0.
type slowCounter struct {
	observer
	n, asked int
	loose    bool
	err      error
}

func (c *slowCounter) Counts(context.Context) (Counts, error) {
	c.asked++
	if c.n > 0 && c.asked >= c.n {
		return Counts{1, 10, 5, !c.loose, !c.loose}, c.err
	}
	return Counts{1, 10, 4, !c.loose, !c.loose}, c.err
}

// TestCheckCounts checks that a server has countsDelay, and no longer, to count requests.
func TestCheckCounts(t *testing.T) {
	samples := []sample.Sample{answeredTokens(5)}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, d, err := checkCounts(t.Context(), &slowCounter{n: 4}, judge.CountOwn(sample.All(samples...)), countsDelay)
		assert.NilError(t, err)
		assert.Equal(t, d, judge.Difference{})
		assert.Equal(t, time.Since(start), 7*ms) // 1, 2 and 4

		start = time.Now()
		_, d, err = checkCounts(t.Context(), &slowCounter{}, judge.CountOwn(sample.All(samples...)), countsDelay)
		assert.NilError(t, err)
		assert.Equal(t, d, judge.Difference{Text: "the server counted 4 output tokens, and the client 5 of successful requests", Fewer: true, Fault: true})
		assert.Assert(t, time.Since(start) > 0 && time.Since(start) <= countsDelay)

		// No time makes more of less, or of a server that never counted a part before.
		start = time.Now()
		_, d, err = checkCounts(t.Context(), &slowCounter{n: 1}, judge.CountOwn(sample.All(answeredTokens(4))), countsDelay)
		assert.NilError(t, err)
		assert.Equal(t, d, judge.Difference{Text: "the server counted 5 output tokens, and the client 4", Fewer: false, Fault: true})
		_, d, err = checkCounts(t.Context(), &slowCounter{loose: true}, judge.CountOwn(sample.All(samples...)), 0)
		assert.NilError(t, err)
		assert.Assert(t, d.Fewer && !d.Fault)
		assert.Equal(t, time.Since(start), time.Duration(0))

		_, _, err = checkCounts(t.Context(), &slowCounter{err: errors.New("gone")}, judge.CountOwn(sample.All(samples...)), countsDelay)
		assert.ErrorContains(t, err, "gone")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err = checkCounts(ctx, &slowCounter{}, judge.CountOwn(sample.All(samples...)), countsDelay)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// helperCountsDiffer measures a server that counts more prompt tokens than it states.
func helperCountsDiffer(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	target.Observe = func() Observer { return &slowCounter{observer: observer{b: b}} }
	Run(b, target, Load{Requests: words(1, 5), Concurrency: 1})
}

// helperCountsFewer measures a server of several processes, only one of which counts.
func helperCountsFewer(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	target.Observe = func() Observer { return &slowCounter{observer: observer{b: b}, loose: true} }
	Run(b, target, Load{Requests: words(1, 5), Concurrency: 1})
}

func TestRunChecksCounts(t *testing.T) {
	out, _, code, folder := runHelper(t, "CountsDiffer", nil, nil)
	assert.Equal(t, code, 1)
	row := records.Counts{Requests: 1, Deltas: 5, StatedRequests: 1, StatedPrompt: 4, StatedOutput: 5, ServerRequests: 1, ServerPrompt: 10, ServerOutput: 4}
	assert.DeepEqual(t, ended(t, folder).Counts, []records.Counts{row})
	assert.Assert(t, strings.Contains(out, "pass 0: the server counted 10 prompt tokens, and the client 4"), out)
	out, _, code, folder = runHelper(t, "CountsFewer", nil, nil)
	assert.Equal(t, code, 0, out)
	assert.DeepEqual(t, ended(t, folder).Counts, []records.Counts{row})
	assert.Assert(t, strings.Contains(out, "pass 0: the server counted 4 output tokens, and the client 5 of successful requests"), out)
}
