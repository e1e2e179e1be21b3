package llmbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/check"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// slow is a tokenizer that takes a millisecond per text.
type slow struct{}

func (slow) Count(string) int {
	time.Sleep(ms)
	return 1
}

// TestCheck checks that each answer is judged by the check of its own request, that a failed request is not
// judged, and that the text of an answer is dropped after its check.
func TestCheck(t *testing.T) {
	l := Load{Requests: words(5, 3), Concurrency: 1, Tokenizer: slow{}}
	l.Requests[0].Check = check.Exact("the quick brown")
	l.Requests[1].Check = check.Exact("the quick red")
	l.Requests[2].Check = func(a Answer) error { return errors.New(a.Finish + strings.Repeat("ä", 1000)) }
	l.Requests[3].Check = check.Exact("the quick brown")
	for _, l.NoStream = range []bool{false, true} {
		for _, l.KeepText = range []bool{false, true} {
			bubble(t, mockserver.Config{Faults: []fault.Fault{{Kind: fault.HTTP500, Every: 4}}}, l, func(samples []sample.Sample, _ *mockserver.Server) {
				right, wrong, long, failed, unchecked := samples[0], samples[1], samples[2], samples[3], samples[4]
				assert.Assert(t, right.Checked && right.Correct && right.Wrong == "")
				assert.Assert(t, wrong.Checked && !wrong.Correct)
				assert.Equal(t, wrong.Wrong, `want the text "the quick red", and the answer is "the quick brown"`)
				assert.Assert(t, strings.HasPrefix(long.Wrong, "lengthää") && strings.HasSuffix(long.Wrong, "ä…") && len(long.Wrong) <= sample.MaxWrong)
				assert.Assert(t, failed.Outcome == sample.HTTP && !failed.Checked && !failed.Correct)
				assert.Assert(t, !unchecked.Checked)
				assert.Equal(t, right.Answer != nil, l.KeepText)
				m := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{}).Metrics
				assert.Equal(t, m[sample.CheckedRequests], 3.)
				assert.Equal(t, m[sample.Accuracy], 100./3)
				_, reported := sample.Summarize(sample.All(unchecked), 1, sample.SLO{}).Metrics[sample.Accuracy]
				assert.Assert(t, !reported)
			})
		}
	}
}

// helperWrong checks answers that are all wrong. The prompts contain a credential and a control character.
func helperWrong(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	target.Header = http.Header{"X-Key": {"a-secret-key"}}
	l := Load{Requests: words(3, 3), Concurrency: 1}
	for i := range l.Requests {
		l.Requests[i].Prompt = strings.Repeat("long ", 100) + "a-secret-key\nHow many?"
		l.Requests[i].Check = func(a Answer) error { return fmt.Errorf("want a-secret-key\x1b[2J\nand got %q", a.Text) }
	}
	Run(b, target, l)
}

// TestNoneRight checks that a result without any right answer shows one of the wrong answers.
func TestNoneRight(t *testing.T) {
	stdout, _, code, _ := runHelper(t, "Wrong", []string{"-test.benchtime=2x"}, nil)
	assert.Equal(t, code, 0, stdout)
	const want = `llmbench notes (answers: accuracy-%): 0 of 6 right; for example asked "…`
	assert.Assert(t, strings.Contains(stdout, want), stdout)
	assert.Assert(t, strings.Contains(stdout, `long [redacted]\nHow many?": want [redacted]\x1b[2J and got "`), stdout)
	assert.Assert(t, !strings.Contains(stdout, "secret"), stdout)
}

// TestCheckTurns checks that each turn of a session has its own check.
func TestCheckTurns(t *testing.T) {
	l := Load{Requests: words(1, 3), Concurrency: 1}
	l.Requests[0].Check = check.Exact("the quick brown")
	l.Requests[0].Then = []Turn{{Prompt: "a", MaxTokens: 1, FixedOutput: true, Check: check.Exact("red")}, {Prompt: "b", MaxTokens: 1, FixedOutput: true}}
	bubble(t, mockserver.Config{}, l, func(samples []sample.Sample, _ *mockserver.Server) {
		assert.Assert(t, samples[0].Correct)
		assert.Assert(t, samples[1].Checked && !samples[1].Correct)
		assert.Assert(t, !samples[2].Checked)
	})
}

// TestCheckPanics checks that a check that panics ends the pass with an error that names the request.
func TestCheckPanics(t *testing.T) {
	l := Load{Requests: words(2, 1), Concurrency: 1}
	l.Requests[1].Check = func(Answer) error { panic("no such key") }
	_, target := loopback(t, mockserver.Config{})
	_, err := Pass(t.Context(), "BenchmarkX", target, l)
	assert.ErrorContains(t, err, `the Check of request 1, turn 0, panicked: no such key; the answer is " the"`)
}

// TestCheckRecords checks what the records say about the check of an answer.
func TestCheckRecords(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LLMBENCH_OUT", dir)
	l := Load{Requests: words(3, 1), Concurrency: 1}
	l.Requests[0].Check, l.Requests[1].Check = check.Exact("the"), check.Exact("a")
	_, target := loopback(t, mockserver.Config{})
	r, err := Pass(t.Context(), "BenchmarkX", target, l)
	assert.NilError(t, err)
	assert.NilError(t, r.Close())
	data, err := os.ReadFile(filepath.Join(dir, "BenchmarkX.1.jsonl"))
	assert.NilError(t, err)
	var got []string
	for _, line := range strings.Split(string(data), "\n")[1:4] {
		var q struct {
			Correct json.RawMessage
			Wrong   string
			Answer  any
		}
		assert.NilError(t, json.Unmarshal([]byte(line), &q))
		assert.Assert(t, q.Answer == nil)
		got = append(got, string(q.Correct)+" "+q.Wrong)
	}
	assert.DeepEqual(t, got, []string{"true ", `false want the text "a", and the answer is "the"`, " "})
}
