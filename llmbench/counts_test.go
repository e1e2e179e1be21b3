package llmbench

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// answered returns a successful streamed request of 10 prompt tokens whose usage the server stated.
func answered(output int) sample.Sample {
	return sample.Sample{PromptTokens: 10, OutputTokens: output, TokenSource: sample.FromUsage, Outcome: sample.OK}
}

func TestCompareCounts(t *testing.T) {
	two := func(change func(s *sample.Sample)) []sample.Sample {
		samples := []sample.Sample{answered(5), answered(6)} // 20 prompt tokens, 11 of output
		if change != nil {
			change(&samples[1])
		}
		return samples
	}
	agrees := Counts{2, 20, 11, true, true}
	more, loose := Counts{2, 20, 12, true, true}, Counts{2, 20, 12, false, false}
	left := func(s *sample.Sample) { s.Outcome = sample.Left }
	const part = ": these are not the counters of all processes that answered, and the server's figures are those of a part"
	const others = ": cannot tell whether the counts agree, because the server also served others; its figures include these"
	const perhaps = ": cannot tell whether the counts agree, because the server may also have served others; its figures then include these"
	const before = ": it also counted requests of before the pass"
	for _, c := range []struct {
		name    string
		server  Counts
		samples []sample.Sample
		want    difference
	}{
		{"as many", agrees, two(nil), difference{}},
		{"as many, and neither", Counts{2, 20, 11, false, false}, two(nil), difference{}},
		{"the server counts nothing", Counts{-1, -1, -1, true, true}, two(nil), difference{}},
		{"a request too few", Counts{1, 20, 11, false, false}, two(nil), difference{"the server counted 1 requests, and the client 2 of successful requests" + part, true, false}},
		{"a prompt too short", Counts{2, 19, 11, false, false}, two(nil), difference{"the server counted 19 prompt tokens, and the client 20 of successful requests" + part, true, false}},
		{"an output too short", Counts{2, 20, 10, true, true}, two(nil), difference{"the server counted 10 output tokens, and the client 11 of successful requests", true, true}},
		{"a token too many", more, two(nil), difference{"the server counted 12 output tokens, and the client 11", false, true}},
		{"a request too many", Counts{3, 20, 11, true, true}, two(nil), difference{"the server counted 3 requests, and the client 2", false, true}},
		{"other clients", Counts{3, 30, 20, false, false}, two(nil), difference{text: "the server counted 3 requests, and the client sent 2" + others}},
		{"other clients of a server that counts no requests", Counts{-1, 30, 20, false, false}, two(nil), difference{text: "the server counted 30 prompt tokens, and its answers state 20" + perhaps}},
		{"other clients, and one replica of several", Counts{3, 30, 10, false, false}, two(nil), difference{"the server counted 10 output tokens, and the client 11 of successful requests" + part, true, false}},
		{"the server counts what its answers do not state", loose, two(nil), difference{text: "the server counted 12 output tokens, and its answers state 11"}},
		{"an output too short, and other clients", Counts{3, 30, 10, true, false}, two(nil), difference{"the server counted 10 output tokens, and the client 11 of successful requests", true, true}},
		{"other clients, and nothing is missing", Counts{3, 30, 20, true, false}, two(nil), difference{text: "the server counted 3 requests, and the client sent 2" + others}},
		{"a request of before the pass", Counts{3, 20, 11, false, true}, two(nil), difference{text: "the server counted 3 requests, and its answers state 2" + before}},
		{"one was not successful", more, two(left), difference{}},
		{"one was not successful, and is counted", loose, two(left), difference{}},
		{"one was not successful, and there are other clients", Counts{3, 30, 20, false, false}, two(left), difference{text: "the server counted 3 requests, and the client sent 2" + others}},
		{"too few tokens, and one request was not successful", Counts{2, 20, 4, true, true}, two(left), difference{"the server counted 4 output tokens, and the client 5 of successful requests", true, true}},
		{"one was sent twice", more, two(func(s *sample.Sample) { s.Resent = 1 }), difference{}},
		{"one was sent twice and counted twice", Counts{3, 30, 17, false, false}, two(func(s *sample.Sample) { s.Resent = 1 }), difference{}},
		{"one has no usage", more, two(func(s *sample.Sample) { s.TokenSource = sample.FromDeltas }), difference{}},
		{"too few tokens, and one request has no usage", Counts{2, 20, 5, true, true}, two(func(s *sample.Sample) { s.TokenSource = sample.FromDeltas }), difference{}},
		{"the length of a prompt is unknown", Counts{2, 25, 11, true, true}, two(func(s *sample.Sample) { s.PromptTokens = 0 }), difference{}},
	} {
		assert.Equal(t, countOwn(sample.All(c.samples...)).compare(c.server), c.want, c.name)
	}
}

// TestCountsContradict checks which answers contradict the output tokens that they state, and the row of
// the records.
func TestCountsContradict(t *testing.T) {
	answer := func(deltas, reasoning, tokens int) sample.Sample {
		s := answered(tokens)
		s.Streamed, s.Deltas, s.Outputs = true, deltas, deltas-reasoning
		return s
	}
	silent := answer(30, 0, 30)
	silent.TokenSource = sample.FromTokenizer
	failed := answer(30, 0, 1)
	failed.Outcome = sample.Truncated
	for _, c := range []struct {
		name    string
		samples []sample.Sample
		want    string
	}{
		{"a token a delta", []sample.Sample{answer(10, 0, 10)}, ""},
		{"an end token", []sample.Sample{answer(10, 0, 11)}, ""},
		{"several tokens a delta", []sample.Sample{answer(3, 0, 12)}, ""},
		{"a held back character and a tool's name", []sample.Sample{answer(12, 0, 10)}, ""},
		{"more deltas than tokens", []sample.Sample{answer(13, 0, 10)}, "in 1 of 1 successful requests the answer came in more deltas"},
		{"half of the tokens", []sample.Sample{answer(20, 0, 10), answer(30, 0, 15), answer(10, 0, 10)}, "in 2 of 3 successful requests"},
		{"one answer in ten", append(slices.Repeat([]sample.Sample{answer(10, 0, 10)}, 9), answer(20, 0, 10)), ""},
		{"reasoning that is not counted", []sample.Sample{answer(110, 100, 10)}, ""},
		{"not stated", []sample.Sample{silent}, ""},
		{"a failed request", []sample.Sample{failed, answer(10, 0, 10)}, ""},
		{"nothing", nil, ""},
	} {
		got := countOwn(sample.All(c.samples...)).contradiction()
		assert.Assert(t, strings.HasPrefix(got, c.want) && (got == "") == (c.want == ""), "%s: %q", c.name, got)
	}
	row := countOwn(sample.All(answer(10, 0, 11), silent, failed)).record(3, Counts{2, 20, -1, true, true})
	assert.DeepEqual(t, row, records.Counts{Pass: 3, Requests: 2, Deltas: 40, StatedRequests: 1, StatedPrompt: 20, StatedOutput: 11, Tokenizer: 30, ServerRequests: 2, ServerPrompt: 20, ServerOutput: -1})
}

// TestUnderstated checks which texts have more tokens than a server may have stated.
func TestUnderstated(t *testing.T) {
	answer := func(stated, text int) sample.Sample {
		s := answered(stated)
		s.TextTokens = text
		return s
	}
	for _, c := range []struct {
		name    string
		samples []sample.Sample
		want    string
	}{
		{"equal", []sample.Sample{answer(100, 100)}, ""},
		{"a tenth and two more", []sample.Sample{answer(100, 112)}, ""},
		{"more", []sample.Sample{answer(100, 113)}, "the server states 100 output tokens in 1 answers, and the tokenizer counts 113 in their text"},
		{"half is stated", slices.Repeat([]sample.Sample{answer(50, 100)}, 3), "the server states 150 output tokens in 3 answers, and the tokenizer counts 300 in their text"},
		{"hidden reasoning", []sample.Sample{answer(1000, 10)}, ""},
		{"not counted", []sample.Sample{answer(1, 0)}, ""},
		{"nothing", nil, ""},
	} {
		err := countOwn(sample.All(c.samples...)).understated()
		if c.want == "" {
			assert.NilError(t, err, c.name)
		} else {
			assert.ErrorContains(t, err, c.want, c.name)
		}
	}
}

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
	samples := []sample.Sample{answered(5)}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, d, err := checkCounts(t.Context(), &slowCounter{n: 4}, countOwn(sample.All(samples...)), countsDelay)
		assert.NilError(t, err)
		assert.Equal(t, d, difference{})
		assert.Equal(t, time.Since(start), 7*ms) // 1, 2 and 4

		start = time.Now()
		_, d, err = checkCounts(t.Context(), &slowCounter{}, countOwn(sample.All(samples...)), countsDelay)
		assert.NilError(t, err)
		assert.Equal(t, d, difference{"the server counted 4 output tokens, and the client 5 of successful requests", true, true})
		assert.Assert(t, time.Since(start) > 0 && time.Since(start) <= countsDelay)

		// No time makes more of less, or of a server that never counted a part before.
		start = time.Now()
		_, d, err = checkCounts(t.Context(), &slowCounter{n: 1}, countOwn(sample.All(answered(4))), countsDelay)
		assert.NilError(t, err)
		assert.Equal(t, d, difference{"the server counted 5 output tokens, and the client 4", false, true})
		_, d, err = checkCounts(t.Context(), &slowCounter{loose: true}, countOwn(sample.All(samples...)), 0)
		assert.NilError(t, err)
		assert.Assert(t, d.fewer && !d.fault)
		assert.Equal(t, time.Since(start), time.Duration(0))

		_, _, err = checkCounts(t.Context(), &slowCounter{err: errors.New("gone")}, countOwn(sample.All(samples...)), countsDelay)
		assert.ErrorContains(t, err, "gone")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err = checkCounts(ctx, &slowCounter{}, countOwn(sample.All(samples...)), countsDelay)
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
