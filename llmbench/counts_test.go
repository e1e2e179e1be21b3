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

// factor is a tokenizer that counts each word as that many tokens.
type factor int

func (f factor) Count(text string) int { return int(f) * len(strings.Fields(text)) }

// TestUnderstatedUsage checks that a benchmark fails if a tokenizer counts twice as many tokens as the
// server reports. It also checks that the records hold the comparison of the first answers of each pass.
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

// answeredTokens returns a successful sample with the given number of output tokens.
func answeredTokens(output int) sample.Sample {
	return sample.Sample{PromptTokens: 10, OutputTokens: output, TokenSource: sample.FromUsage, Outcome: sample.OK}
}

// A slowCounter reports too few tokens until its n-th call, and the right number from then on. If n is 0,
// it always reports too few.
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

// TestCheckCounts checks that a server may take up to countsDelay to count requests.
func TestCheckCounts(t *testing.T) {
	samples := []sample.Sample{answeredTokens(5)}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, d, err := checkCounts(t.Context(), &slowCounter{n: 4}, judge.CountOwn(sample.All(samples...)), countsDelay)
		assert.NilError(t, err)
		assert.Equal(t, d, judge.Difference{})
		assert.Equal(t, time.Since(start), 7*ms) // waits of 1, 2 and 4 ms

		start = time.Now()
		_, d, err = checkCounts(t.Context(), &slowCounter{}, judge.CountOwn(sample.All(samples...)), countsDelay)
		assert.NilError(t, err)
		assert.Equal(t, d, judge.Difference{Text: "the server counted 4 output tokens, and the client 5 of successful requests", Fewer: true, Fault: true})
		assert.Assert(t, time.Since(start) > 0 && time.Since(start) <= countsDelay)

		// Waiting does not help if the server has counted more, or if it never counted a part of an earlier
		// pass.
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

// helperCountsDiffer measures a server whose counters have more prompt tokens than its answers report.
func helperCountsDiffer(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	target.Observe = func() Observer { return &slowCounter{observer: observer{b: b}} }
	Run(b, target, Load{Requests: words(1, 5), Concurrency: 1})
}

// helperCountsFewer measures a server of which only one of several processes counts.
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
