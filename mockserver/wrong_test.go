package mockserver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// add returns the text of the answer to a sum. right is the right answer.
func (r *rig) add(i int) (text, right string) {
	body := r.must(textPath, fmt.Sprintf(`{"prompt":"What is %d + %d?","max_tokens":50}`, i, 2*i))
	var answer struct{ Choices []struct{ Text string } }
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		r.t.Fatal(err)
	}
	return answer.Choices[0].Text, fmt.Sprintf("%d + %d = %d. The answer is %[3]d.", i, 2*i, 3*i)
}

// all asks n questions at once and returns the wrong answers, keyed by question.
func (r *rig) all(n int) map[int]string {
	wrong := map[int]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			text, right := r.add(i)
			if text != right {
				mu.Lock()
				defer mu.Unlock()
				wrong[i] = text
			}
		})
	}
	wg.Wait()
	return wrong
}

// A wrong answer differs from the right answer in its last number. The same seed makes the same
// requests wrong in the same way.
func TestWrong(t *testing.T) {
	var runs [2]string
	for run := range runs {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, Config{TTFT: time.Second, Faults: []fault.Fault{{Kind: fault.Wrong, Share: 0.3, Seed: 7}}})
			wrong := 0
			for i := range 200 {
				text, right := r.add(i)
				runs[run] += text + "\n"
				if text == right {
					continue
				}
				wrong++
				if last := regexp.MustCompile(`\d+\.$`); last.ReplaceAllString(text, "") != last.ReplaceAllString(right, "") {
					t.Errorf("got %q, want all but the last number of %q", text, right)
				}
			}
			logged := 0
			for _, e := range r.Log() {
				if e.Fault == fault.Wrong {
					logged++
				}
			}
			if wrong != logged || wrong < 40 || wrong > 80 {
				t.Errorf("%d wrong answers, and %d in the log; want about 60 of 200", wrong, logged)
			}
		})
	}
	if runs[0] != runs[1] {
		t.Errorf("two runs with one seed differ")
	}
}

// Without an oracle, the same prompt always gets the same output. A wrong output has other words and
// the same length.
func TestWrongWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const body = `{"prompt":"say something","max_tokens":40,"ignore_eos":true}`
		text := func(faults ...fault.Fault) string {
			out := inMemory(t, Config{Seed: uint64(len(faults)), Jitter: 0.5, TTFT: time.Second, Faults: faults}).must(textPath, body)
			_, out, _ = strings.Cut(out, `"text":"`)
			out, _, _ = strings.Cut(out, `"`)
			return out
		}
		right, again, wrong := text(), text(), text(fault.Fault{Kind: fault.Wrong, Every: 1})
		if right != again {
			t.Errorf("two answers to one prompt: %q and %q", right, again)
		}
		if right == wrong || len(strings.Fields(right)) != len(strings.Fields(wrong)) {
			t.Errorf("a wrong answer is %q, want another one of as many words as %q", wrong, right)
		}
	})
}

func TestShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, Config{Faults: []fault.Fault{{Kind: fault.Short, Every: 1}}})
		if text, right := r.add(7); text != "7 + 14" {
			t.Errorf("got %q, want the first quarter of %q", text, right)
		}
	})
}

// Answers are exchanged in pairs, and only while more than 32 requests are in flight. The log says which
// request got which answer.
func TestSwap(t *testing.T) {
	for name, cfg := range map[string]Config{
		"fixed":    {TTFT: time.Second, PerToken: time.Millisecond},
		"batching": {Engine: &engine.Profile{Step: 1000, Prefill: 5000, PrefillSeqs: 64, MaxBatch: 64}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg.Faults = []fault.Fault{{Kind: fault.Swap, Every: 1, Above: 32}}
				r := inMemory(t, cfg)
				for _, n := range []int{1, 32} {
					if wrong := r.all(n); len(wrong) > 0 {
						t.Errorf("%d at once: %v, want no answer of another", n, wrong)
					}
					synctest.Wait() // until the server has counted the end of each request
				}
				r.Reset()
				wrong := r.all(64)
				if len(wrong) < 20 || len(wrong) > 32 {
					t.Errorf("64 at once: %d answers of others, want most of the 32 beyond 32 at once", len(wrong))
				}
				partner := map[uint64]uint64{}
				for _, e := range r.Log() {
					if e.Swapped != 0 {
						partner[e.Ordinal] = e.Swapped
					}
				}
				if len(partner) != len(wrong) {
					t.Errorf("%d entries of the log name another request, and %d answers are those of others", len(partner), len(wrong))
				}
				for a, b := range partner {
					if partner[b] != a || a == b {
						t.Errorf("%d had the answer of %d, which had that of %d", a, b, partner[b])
					}
				}
				for i, text := range wrong {
					var a, b, sum int
					if _, err := fmt.Sscanf(text, "%d + %d = %d.", &a, &b, &sum); err != nil || wrong[a] != fmt.Sprintf("%d + %d = %d. The answer is %[3]d.", i, 2*i, 3*i) {
						t.Errorf("question %d had %q, and question %d had %q: want an exchange", i, text, a, wrong[a])
					}
				}
			})
		})
	}
}
