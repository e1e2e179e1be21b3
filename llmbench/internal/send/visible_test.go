package send

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestVisible checks which texts have something to see.
func TestVisible(t *testing.T) {
	for _, text := range []string{"a", " a", "\n\n.", "\u200b你", "{", "\U0001f600", "\xf0\x9f", "\ufffd", "\u0301", "<", "\u00a0|"} {
		assert.Assert(t, visible([]byte(text)), "%q", text)
	}
	for _, text := range []string{"", " ", "\n", "\r\n\t", "\u00a0", "\u2003", "\u3000", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad",
		"\u200e\u202a", "\u2028", "\x00", "\x1b", "\u0085", "\u3164", "\u115f", "\uffa0", "\ufe0f", "\U000e0020", "\u034f", "\u2800", "\U000f0000"} {
		assert.Assert(t, !visible([]byte(text)), "%q", text)
	}
}

// chunk returns an event with a text in the given member.
func chunk(member, text string) string {
	quoted, _ := json.Marshal(text)
	return `data: {"choices":[{"delta":{"` + member + `":` + string(quoted) + `}}]}` + "\n\n"
}

// TestBlankBeforeText reads streams whose text comes after 100 ms, one token each 10 ms. Blank deltas come before
// it.
func TestBlankBeforeText(t *testing.T) {
	texts := func(n int) (all []step) {
		for i := range n {
			all = append(all, step{10 * ms, chunk("content", "word")})
			if i == 0 {
				all[0].after = 0
			}
		}
		return all
	}
	for _, c := range []struct {
		name             string
		before           []step
		texts, usage     int
		ttft, tpot, ttfo time.Duration
		blank, itls      int
	}{
		{"no blank delta", []step{{100 * ms, ""}}, 4, 4, 100 * ms, 10 * ms, 100 * ms, 0, 3},
		{"a space", []step{{ms, chunk("content", " ")}, {99 * ms, ""}}, 4, 4, 100 * ms, 10 * ms, 100 * ms, 1, 3},
		{"a zero-width space", []step{{ms, chunk("content", "\u200b")}, {99 * ms, ""}}, 4, 4, 100 * ms, 10 * ms, 100 * ms, 1, 3},
		{"line feeds and a byte order mark", []step{{ms, chunk("content", "\n")}, {30 * ms, chunk("content", "\ufeff")}, {69 * ms, ""}}, 4, 4, 100 * ms, 10 * ms, 100 * ms, 2, 3},
		{"blank reasoning", []step{{ms, chunk("reasoning_content", " ")}, {99 * ms, ""}}, 4, 4, 100 * ms, 10 * ms, 100 * ms, 1, 3},
		{"blank deltas that the server counts", []step{{ms, chunk("content", " ")}, {99 * ms, ""}}, 4, 5, 100 * ms, 7500 * time.Microsecond, 100 * ms, 1, 3},
		// The model's first token is blank, and the others follow at their pace.
		{"a blank token", []step{{90 * ms, chunk("content", "\n\n")}, {10 * ms, ""}}, 4, 5, 100 * ms, 10 * ms, 100 * ms, 1, 3},
		{"two blank tokens", []step{{80 * ms, chunk("content", "\n")}, {10 * ms, chunk("content", "\n")}, {10 * ms, ""}}, 4, 6, 100 * ms, 10 * ms, 100 * ms, 2, 3},
		{"blank with text", []step{{100 * ms, chunk("content", "\n\nThe")}, {10 * ms, ""}}, 3, 4, 100 * ms, 10 * ms, 100 * ms, 0, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			usage := `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":` + string(rune('0'+c.usage)) + `}}` + "\n\n"
			all := script(slices.Concat(c.before, texts(c.texts), []step{{ms, finish + usage + done}}))
			w, p := newTestWorker(t, all, Options{Stream: true})
			p.MaxTokens = 8
			s := w.Do(t.Context(), p, 0, true)
			assert.NilError(t, s.Err, c.name)
			assert.NilError(t, s.Check(), c.name)
			ttft, _ := s.TTFT()
			tpot, _ := s.TPOT()
			ttfo, _ := s.TTFO()
			assert.Equal(t, ttft, c.ttft, c.name)
			assert.Equal(t, tpot, c.tpot, c.name)
			if s.Outputs < s.Deltas {
				assert.Equal(t, ttfo, c.ttfo, c.name)
			}
			assert.Equal(t, s.Blank, c.blank, c.name)
			assert.Equal(t, len(s.ITLs()), c.itls, c.name)
			assert.Equal(t, s.OutputTokens, c.usage, c.name)
			assert.Equal(t, s.Deltas, c.blank+c.itls+1, c.name) // other tools count all of them
			assert.Equal(t, s.First, c.before[0].after, c.name)
			m := sample.Summarize(sample.All(s), time.Second, sample.SLO{}).Metrics
			assert.Equal(t, m["p50-itl-ns"], float64(10*ms), c.name)
		})
	}
}

// TestBlankAfterReasoning checks that the time to first output ends at the text, and not at the line feeds that
// follow the reasoning.
func TestBlankAfterReasoning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p := newTestWorker(t, script{{20 * ms, chunk("reasoning_content", "hm")}, {10 * ms, chunk("content", "\n\n")}, {30 * ms, chunk("content", "a")},
			{10 * ms, chunk("content", "b")}, {ms, finish + usage + done}}, Options{Stream: true})
		s := w.Do(t.Context(), p, 0, true)
		assert.NilError(t, s.Err)
		assert.Equal(t, s.Seen(), 20*ms)
		ttfo, _ := s.TTFO()
		assert.Equal(t, ttfo, 60*ms)
		assert.Equal(t, s.Outputs, 3)
	})
}

// TestNothingToSee checks that an answer with nothing to see counts from its first delta.
func TestNothingToSee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p := newTestWorker(t, script{{20 * ms, chunk("content", " ")}, {10 * ms, chunk("content", "\n")}, {ms, finish + usage + done}}, Options{Stream: true})
		s := w.Do(t.Context(), p, 0, true)
		assert.NilError(t, s.Err)
		assert.Equal(t, s.Blank, 0)
		ttft, _ := s.TTFT()
		assert.Equal(t, ttft, 20*ms)
	})
}

// TestHeartbeatsAreNoTokens checks the tokens of an answer whose deltas are counted, because the server reports no
// usage: deltas that only keep the connection open do not count, but a blank token does.
func TestHeartbeatsAreNoTokens(t *testing.T) {
	for _, c := range []struct {
		before step
		want   int
	}{
		{step{50 * ms, chunk("content", " ")}, 4},
		{step{ms, chunk("content", "\n")}, 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			pause := 10 * ms
			if c.want == 4 {
				pause = 90 * ms
			}
			all := script{c.before, {pause, chunk("content", "a")}}
			for range 3 {
				all = append(all, step{10 * ms, chunk("content", "a")})
			}
			w, p := newTestWorker(t, append(all, step{ms, finish + done}), Options{Stream: true})
			s := w.Do(t.Context(), p, 0, true)
			assert.NilError(t, s.Err)
			assert.Equal(t, s.TokenSource, sample.FromDeltas)
			assert.Equal(t, s.OutputTokens, c.want)
			tpot, _ := s.TPOT()
			assert.Equal(t, tpot, 10*ms)
		})
	}
}
