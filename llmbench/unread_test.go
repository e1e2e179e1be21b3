package llmbench

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// chatServer serves streams of the chat API: the given deltas, then a finish reason and a number of tokens.
func chatServer(tb testing.TB, reason string, tokens int, deltas ...string) Target {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, d := range deltas {
			fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{%s},"finish_reason":null}]}`+"\n\n", d)
		}
		fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":%q}],"usage":{"prompt_tokens":4,"completion_tokens":%d}}`+"\n\ndata: [DONE]\n\n", reason, tokens)
	}))
	tb.Cleanup(s.Close)
	return Target{URL: s.URL, Model: "m"}
}

// musing are deltas with an unknown member before the text.
var musing = []string{`"role":"assistant"`, `"musing":"hm"`, `"content":"a"`, `"content":"b"`}

// TestUnread checks that Pass returns ErrUnread if answers have a member that may have text and is not read, and that
// the records name the member and the units that mean nothing.
func TestUnread(t *testing.T) {
	out := t.TempDir()
	t.Setenv("LLMBENCH_OUT", out)
	target := chatServer(t, "stop", 4, musing...)
	var withheld []string
	l := Load{Requests: words(20, 4), Concurrency: 1, ClientBound: BoundWithheld, Withheld: func(units []string, why error) {
		if why == ErrUnread {
			withheld = units
		}
	}}
	result, err := Pass(t.Context(), "unread", target, l)
	assert.Assert(t, result != nil && errors.Is(err, ErrUnread), "%v", err)
	defer result.Close()
	assert.ErrorContains(t, err, "streams by member: delta.musing 20")
	assert.Assert(t, slices.Contains(withheld, "p50-ttft-ns") && slices.Contains(withheld, "mean-tpot-ns") && !slices.Contains(withheld, "p50-e2e-ns"), withheld)

	run, err := records.Open(filepath.Join(out, "unread.1.jsonl"))
	assert.NilError(t, err)
	assert.DeepEqual(t, run.End.Unread, withheld)
	for s := range result.All() {
		assert.Assert(t, s.Unread == "delta.musing" && s.Err == nil, "%+v", s)
	}
	text, err := os.ReadFile(filepath.Join(out, "unread.1.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, strings.Count(string(text), `"unread":"delta.musing"`), 20)
}

// TestUnknownFinishReason checks what a benchmark says about answers with a finish reason that is not documented.
func TestUnknownFinishReason(t *testing.T) {
	for tokens, want := range map[string]string{
		"4": `llmbench notes (finish): 8 of 8 answers ended with a finish reason that the API does not document: "bored" 8; they have all tokens that were asked for`,
		"2": `the finish reason "bored" is unknown, and the answer has 2 output tokens; the request asked for exactly 4`,
	} {
		stdout, _, code, _ := runHelper(t, "UnknownFinish", nil, nil, "TEST_HELPER_TOKENS="+tokens)
		assert.Assert(t, strings.Contains(stdout, want) && (code == 0) == (tokens == "4"), stdout)
	}
}

// TestRunUnread checks that a benchmark reports rates but no times to deltas if text may not have been read.
func TestRunUnread(t *testing.T) {
	stdout, _, code, _ := runHelper(t, "Unread", nil, nil)
	all, _ := results(t, stdout)
	_, ttft := all[0].Value("p50-ttft-sec")
	_, rate := all[0].Value("req/s")
	assert.Assert(t, code == 0 && !ttft && rate && strings.Contains(stdout, "llmbench warns (unread: ") && strings.Contains(stdout, "delta.musing 8"), stdout)
}

func helperUnread(b *testing.B) {
	target := chatServer(b, "stop", 4, musing...)
	target.Simulated = true
	Run(b, target, Load{Requests: words(8, 4), Concurrency: 1})
}

func helperUnknownFinish(b *testing.B) {
	tokens, err := strconv.Atoi(os.Getenv("TEST_HELPER_TOKENS"))
	assert.NilError(b, err)
	target := chatServer(b, "bored", tokens, `"content":"a"`, `"content":"b"`)
	target.Simulated = true
	Run(b, target, Load{Requests: words(8, 4), Concurrency: 1})
}
