package send

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// counted returns a stream with a delta for each count, which is the usage of the same event; 0 means none. The
// last count is of an event without text; 0 means that there is no such event.
func counted(counts ...int) string {
	usage := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf(`,"usage":{"prompt_tokens":5,"completion_tokens":%d}`, n)
	}
	text := ""
	last := len(counts) - 1
	for _, n := range counts[:last] {
		text += `data: {"choices":[{"delta":{"content":"a"}}]` + usage(n) + "}\n\n"
	}
	return text + `data: {"choices":[{"delta":{},"finish_reason":"length"}]` + usage(counts[last]) + "}\n\n" + done
}

// repeated returns n equal counts.
func repeated(n, count int) (all []int) {
	for range n {
		all = append(all, count)
	}
	return all
}

// upTo returns the counts from step to n, each repeated.
func upTo(n, step, times int) (all []int) {
	for i := step; i <= n; i += step {
		all = append(all, repeated(times, i)...)
	}
	return all
}

// TestUsageOfSingleEvents reads streams whose usage is cumulative or is not.
func TestUsageOfSingleEvents(t *testing.T) {
	with := func(counts []int, more ...int) []int { return append(counts, more...) }
	for _, c := range []struct {
		name   string
		counts []int
		want   int // output tokens; 0 means that they are contradicted
	}{
		{"one token with each event", with(repeated(32, 1), 0), 0},
		{"one token with each event, and with the last", with(repeated(32, 1), 1), 0},
		{"one token with each of two events", with(repeated(2, 1), 0), 0},
		{"four tokens with each event", with(repeated(16, 4), 0), 0},
		{"twenty tokens with each of ten events", with(repeated(10, 20), 0), 0},
		{"one to three tokens with each event", []int{1, 3, 2, 1, 1, 2, 3, 1, 0}, 0},
		{"one or two tokens with each event", []int{1, 2, 1, 1, 2, 2, 1, 1, 0}, 0},
		{"cumulative until the last event", with(upTo(32, 1, 1), 1), 0},
		{"much less than deltas", with(repeated(32, 0), 2), 0},

		{"cumulative", with(upTo(32, 1, 1), 0), 32},
		{"cumulative, and with the last", with(upTo(32, 1, 1), 32), 32},
		{"cumulative, the end token counted last", with(upTo(32, 1, 1), 33), 33},
		{"cumulative, the end token not counted at last", with(upTo(32, 1, 1), 31), 31},
		{"cumulative, several tokens in a delta", with(upTo(64, 4, 1), 0), 64},
		{"cumulative, tokens cut into pieces", with(upTo(16, 1, 4), 0), 16},
		{"only at the end", with(repeated(32, 0), 32), 32},
		{"only at the end, several tokens in a delta", with(repeated(8, 0), 64), 64},
		{"with the last text", with(repeated(31, 0), 32, 0), 32},
		{"one token with each event, then all", with(repeated(32, 1), 32), 32},
		{"one token with each event, then all with the last text", with(repeated(31, 1), 32, 0), 32},
		{"the whole length with each event", with(repeated(8, 64), 64), 64},
		{"tokens cut into pieces", with(repeated(64, 0), 16), 16},
		{"a single event", []int{7, 0}, 7},
	} {
		w, p := newTestWorker(t, reply{200, ofType("text/event-stream"), counted(c.counts...)}, Options{Stream: true})
		p.MaxTokens = 64
		s := w.Do(t.Context(), p, 0, false)
		assert.NilError(t, s.Err, c.name)
		assert.Equal(t, s.OutputTokens, c.want, c.name)
		source := sample.FromUsage
		if c.want == 0 {
			source = sample.Contradicted
		}
		assert.Equal(t, s.TokenSource, source, c.name)
		metrics := sample.Summarize(sample.All(s), 1e9, sample.SLO{TPOT: 1}).Metrics
		for _, unit := range []string{"output-tok/s", "total-tok/s", "user-tok/s", "out-tok/req"} {
			_, known := metrics[unit]
			assert.Equal(t, known, c.want > 0, "%s: %s", c.name, unit)
		}
		if c.want == 0 {
			assert.Equal(t, metrics[sample.GoodRate], 0.0, c.name)
			assert.Equal(t, metrics["mean-tpot-ns"], 0.0, c.name)
		}
	}
	// A tokenizer counts the text.
	w, p := newTestWorker(t, reply{200, ofType("text/event-stream"), counted(1, 1, 1, 1, 0)}, Options{Stream: true, Tokenizer: letters{}})
	p.MaxTokens = 64
	s := w.Do(t.Context(), p, 0, false)
	assert.NilError(t, Finished{Sample: &s}.Complete(w.options, w.clock, redact.Secrets{}))
	assert.Equal(t, s.TokenSource, sample.FromTokenizer)
	assert.Equal(t, s.OutputTokens, 4)
}

// letters is a tokenizer whose tokens are letters.
type letters struct{}

func (letters) Count(text string) int { return strings.Count(text, "") - 1 }
