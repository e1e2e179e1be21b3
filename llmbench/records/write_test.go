package records

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// written returns the lines of the file that samples are written to, without the first line.
func written(t *testing.T, samples []sample.Sample, end End) []string {
	w, err := Create(t.TempDir(), Head{Benchmark: "A", Dialect: "tgi", Concurrency: 1, Start: time.Unix(0, 0), Host: Host{Go: "go1.26"}})
	assert.NilError(t, err)
	for i := range samples {
		assert.NilError(t, w.Write(&samples[i]))
	}
	assert.NilError(t, w.Close(end))
	text, err := os.ReadFile(w.Name())
	assert.NilError(t, err)
	head, rest, _ := strings.Cut(string(text), "\n")
	assert.Assert(t, strings.HasPrefix(head, `{"version":2,"benchmark":"A","dialect":"tgi",`) && strings.HasSuffix(head, `"ends":true}`), head)
	return strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
}

// TestWrite checks the exact lines of the format.
func TestWrite(t *testing.T) {
	full := sample.Sample{
		ID: `a"b`, Model: "m", Class: "chat", InFlight: 2, Unread: "delta.x", UnreadLast: true, EventLags: sample.EventLags{LastEvent: 6}, TextTokens: 4, Inputs: 2, Dimensions: 8, Pass: 1, Request: 3, Turn: 2, Epoch: time.Unix(1, 7), Due: 10, Granted: 11, Admitted: 12, Start: 13, SentBy: 14, Scheduled: true, Connect: 14, Resent: 1, ResentUnread: true,
		Wrote: 15, FirstByte: 16, Clock: sample.KernelClock, Lags: []time.Duration{1, 2, 3}, Merged: []sample.Merged{{Delta: 1, Deltas: 2, Since: 21}}, FirstByteLag: 4, EndLag: 5, Streamed: true, Events: 6, Cut: 1,
		Choices: sample.Choices{Before: 1, Amid: 2, After: 3, First: 17, Last: 40}, LastEvent: 41, Done: 42, UsageAlone: true,
		Deltas: 3, First: 20, Last: 40, Gaps: []time.Duration{5, 15}, DeltaTokens: []int32{1, 0, 5}, Outputs: 2, FirstOutput: 25, End: 43,
		MaxTokens: 9, FixedOutput: true, PromptTokens: 8, CachedTokens: 7, CachedStated: true, OutputTokens: 6, ReasoningTokens: 2, TokenSource: sample.FromUsage, AskedTokens: 5, PromptChars: 4, OutputChars: 3,
		Server: sample.ServerTimings{Load: 1, Queue: 2, Prompt: 3, Predict: 4, Total: 5, PromptTokens: 6, CachedTokens: 7, OutputTokens: 8, DraftTokens: 9, AcceptedTokens: 10, DecodeSteps: 11},
		Status: 200, ErrorStatus: 503, Header: []sample.Field{{Name: "X-A", Value: "b"}}, TraceID: "0af7", RetryAfter: 9, Finish: "stop", UnknownFinish: true, Outcome: sample.OK, Answer: &sample.Answer{Text: "x<y", ToolCalls: []sample.ToolCall{{Name: "f", Arguments: "[1]"}, {Name: "g"}, {Arguments: " 2"}}},
	}
	v, zero := reflect.ValueOf(full), []string{}
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			zero = append(zero, v.Type().Field(i).Name)
		}
	}
	assert.DeepEqual(t, zero, []string{"Shard", "From", "Until", "Blank", "Err", "Checked", "Correct", "Wrong"}) // give a new field a value here
	failed := sample.Sample{ID: "c", Epoch: time.Unix(1, 0), Outcome: sample.Connect, Err: errors.New("refused"), Clock: sample.UserClock}
	queued := sample.Sample{ID: "d", Epoch: time.Unix(1, 0), Outcome: sample.OK, TokenSource: sample.FromNothing, Server: sample.ServerTimings{Queue: 3e6, PromptTokens: 5}}
	got := written(t, []sample.Sample{full, failed, queued}, End{Outcome: EndedFailed, Why: "x"})
	assert.DeepEqual(t, got, []string{
		`{"id":"a\"b","pass":1,"request":3,"turn":2,"model":"m","class":"chat","scheduled":true,"due_ns":10,"epoch_unix_ns":1000000007,"granted_ns":11,"start_ns":13,"admitted_ns":12,"sent_by_ns":14,"connect_ns":14,"resent":1,"resent_unread":true,` +
			`"wrote_ns":15,"first_byte_ns":16,"first_ns":20,"last_ns":40,"end_ns":43,"in_flight":2,"gaps_ns":[5,15],"delta_tokens":[1,0,5],"events":6,"outputs":2,"first_output_ns":25,"cut":1,"unread":"delta.x","unread_last":true,` +
			`"choices":{"before":1,"amid":2,"after":3,"first_ns":17,"last_ns":40},"last_event_ns":41,"done_ns":42,"clock":"kernel","read_lags_ns":[1,2,3],"merged":[[1,2,21]],` +
			`"first_byte_lag_ns":4,"end_lag_ns":5,"max_tokens":9,"fixed_output":true,"prompt_tokens":8,"cached_tokens":7,"output_tokens":6,"reasoning_tokens":2,"usage_alone":true,"token_source":"usage",` +
			`"asked_tokens":5,"prompt_chars":4,"output_chars":3,"inputs":2,"dimensions":8,` +
			`"server":{"load_ns":1,"queue_ns":2,"prompt_ns":3,"predict_ns":4,"total_ns":5,"prompt_tokens":6,"cached_tokens":7,"output_tokens":8,"draft_tokens":9,"accepted_tokens":10,"decode_steps":11},` +
			`"finish":"stop","unknown_finish":true,"outcome":"ok","status":200,"error_status":503,"retry_after_ns":9,"header":{"X-A":"b"},"trace_id":"0af7","answer":{"text":"x<y","tool_names":"f g","tool_calls":"[1] 2"}}`,
		`{"id":"c","pass":0,"request":0,"due_ns":0,"epoch_unix_ns":1000000000,"start_ns":0,"admitted_ns":0,"connect_ns":0,"wrote_ns":null,"first_byte_ns":null,"first_ns":null,` +
			`"last_ns":null,"end_ns":0,"gaps_ns":[],"events":0,"clock":"user","prompt_tokens":0,"output_tokens":0,"outcome":"connect","error":"refused","status":0}`,
		`{"id":"d","pass":0,"request":0,"due_ns":0,"epoch_unix_ns":1000000000,"start_ns":0,"admitted_ns":0,"connect_ns":0,"wrote_ns":null,"first_byte_ns":null,"first_ns":null,` +
			`"last_ns":null,"end_ns":0,"gaps_ns":[],"events":0,"prompt_tokens":0,"output_tokens":0,"token_source":"none","server":{"queue_ns":3000000,"prompt_tokens":5},"outcome":"ok","status":0}`,
		`{"end":{"outcome":"failed","why":"x"}}`,
	})

	// Reading gives the same sample.
	p := newParser(&Head{Stream: true})
	q, err := p.request([]byte(got[0]), 2)
	assert.NilError(t, err)
	s := q.sample()
	s.Gaps, s.Lags = slices.Collect(q.gaps.all()), slices.Collect(q.lags.all())
	want := full
	assert.DeepEqual(t, q.DeltaTokens, full.DeltaTokens)
	want.DeltaTokens = nil
	want.ID, want.Request, want.Epoch, want.Wrote, want.FirstByte, want.FirstByteLag, want.EndLag = "", 0, time.Time{}, 0, 0, 0, 0
	want.Events, want.Choices, want.LastEvent, want.Done, want.UsageAlone = 0, sample.Choices{}, 0, 0, false
	// A Request does not keep these, or keeps them in another form.
	want.Model, want.Class, want.InFlight, want.Unread, want.UnreadLast, want.EventLags, want.TextTokens, want.Inputs, want.Dimensions = "", "", 0, "", false, sample.EventLags{}, 0, 0, 0
	want.ErrorStatus, want.Header, want.TraceID, want.UnknownFinish = 0, nil, "", false
	want.Server, want.Status, want.RetryAfter, want.Finish, want.Answer = sample.ServerTimings{}, 0, 0, "", nil
	assert.DeepEqual(t, s, want)
	assert.DeepEqual(t, q.Server, &full.Server)
	assert.Equal(t, q.Events, int32(6))
	assert.Equal(t, q.RetryAfter, full.RetryAfter)
	assert.Equal(t, q.InFlight, int32(full.InFlight))
}

// TestWriteInvalidText checks that a text that is not UTF-8 gives a file that can be read.
func TestWriteInvalidText(t *testing.T) {
	lines := written(t, []sample.Sample{{ID: "a\xff", Outcome: sample.HTTP, Err: errors.New("\xfe"), Finish: "\xfd"}}, End{Outcome: EndedOK})
	_, err := Read(strings.NewReader(head+strings.Join(lines, "\n")+"\n"), "f")
	assert.NilError(t, err)
}

// TestWriteClockError checks a sample whose answer is, on the kernel's clock, a little before its send and
// before the pass. Its file must be readable.
func TestWriteClockError(t *testing.T) {
	const at = 50*time.Microsecond - sample.ClockError // the earliest instant that Sample.Check allows
	s := sample.Sample{
		ID: "a", Outcome: sample.OK, Streamed: true, Start: 50 * time.Microsecond, Wrote: at, FirstByte: at, Clock: sample.KernelClock,
		Deltas: 2, First: at, Last: at + 1, Gaps: []time.Duration{1}, Lags: []time.Duration{1, 1}, Outputs: 2, FirstOutput: at, End: at + 1, OutputTokens: 2,
		Choices: sample.Choices{First: at, Last: at + 1}, LastEvent: at + 1, Done: at + 1,
	}
	assert.NilError(t, s.Check())
	lines := written(t, []sample.Sample{s}, End{Outcome: EndedOK})
	run, err := Read(strings.NewReader(head+strings.Join(lines, "\n")+"\n"), "f")
	assert.NilError(t, err)
	for q := range run.All() {
		assert.Equal(t, q.First, at)
		assert.Equal(t, q.End, at+1)
	}
	run.Figures()
}

// TestCreate checks the names of files.
func TestCreate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	long := strings.Repeat("x", 300)
	for _, c := range []struct{ benchmark, file string }{
		{"BenchmarkA/concurrency=1", "BenchmarkA,concurrency=1.1.jsonl"},
		{"BenchmarkA/concurrency=1", "BenchmarkA,concurrency=1.2.jsonl"},
		{long, long[:200] + "~e78ddf9f1ba85555.1.jsonl"},
	} {
		w, err := Create(dir, Head{Benchmark: c.benchmark})
		assert.NilError(t, err)
		assert.Equal(t, filepath.Base(w.Name()), c.file)
		assert.NilError(t, w.Close(End{Outcome: EndedOK}))
	}
	_, err := Create(filepath.Join(dir, "BenchmarkA,concurrency=1.1.jsonl"), Head{})
	assert.Assert(t, err != nil)
	var none *Writer
	assert.NilError(t, none.Write(nil))
	assert.NilError(t, none.Close(End{}))
	assert.Equal(t, none.Name(), "")
}
