package records

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const head = `{"version":1,"benchmark":"BenchmarkA/concurrency=2","dialect":"openai-chat","stream":true,"concurrency":2,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}` + "\n"

// rec returns the line of a request, with old strings replaced by new ones.
func rec(replace ...string) string {
	return strings.NewReplacer(replace...).Replace(`{"id":"a-1","pass":0,"due_ns":10,"start_ns":10,"connect_ns":0,"wrote_ns":11,"first_byte_ns":12,"first_ns":20,"last_ns":50,"end_ns":60,"gaps_ns":[10,20],`+
		`"prompt_tokens":5,"output_tokens":3,"token_source":"usage","outcome":"ok","status":200}`) + "\n"
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"whole", head + rec() + rec(), ""},
		{"no request", head, ""},
		{"no version", strings.Replace(head, `"version":1,`, "", 1) + rec(), ""},
		{"unknown fields", head + rec(`"pass"`, `"new":[{"a":1}],"pass"`), ""},
		{"a failure", head + rec(`"first_ns":20,"last_ns":50`, `"first_ns":null,"last_ns":null`, `[10,20]`, `[]`, `"ok"`, `"http","error":"<b>"`), ""},
		{"long gaps", head + rec(`[10,20]`, `[5000000000,10]`, `"last_ns":50`, `"last_ns":5000000030`, `"end_ns":60`, `"end_ns":5000000030`), ""},
		{"a second pass", head + rec() + rec(`"pass":0`, `"pass":1`), ""},

		{"an empty file", "", "f: empty: want the line about the benchmark"},
		{"foreign", `{"ttfts":[1]}` + "\n", "f:1: want the line about the benchmark that llmbench writes, with dialect, start and host"},
		{"text", "BenchmarkA 1 2 ns/op\n", "f:1: want the line about the benchmark that llmbench writes: "},
		{"no head", rec(), "f:1: want the line about the benchmark"},
		{"another version", strings.Replace(head, `"version":1`, `"version":3`, 1) + rec(), "f:1: version 3: want 2, 1 or none"},
		{"an SLO of another kind", strings.Replace(head, `"stream"`, `"slo":"p99=1","stream"`, 1), "f:1: slo: "},
		{"cut in the head", head[:40], "f:1: the line about the benchmark was cut"},
		{"the earlier of two faults", head + "{}\n" + rec()[:50], "f:2: want a request's record, with id"},
		{"not JSON", head + rec() + "{]\n", "f:3: want a request's record: "},
		{"text after the object of a line without a line end", head + rec() + `{"id":"a"},"pass":0`, "f:3: want a request's record: "},
		{"a string without a line end", head + rec() + `"a"`, "f:3: want a request's record: "},
		{"the beginning of a number", head + rec() + `1.`, "f:3: want a request's record: "},
		{"zeros after the last line", head + rec() + "\x00\x00", "f:3: want a request's record: "},
		{"an empty line", head + "\n", "f:2: want a request's record: "},
		{"NaN", head + rec(`"end_ns":60`, `"end_ns":NaN`), "f:2: want a request's record: "},
		{"a second head", head + head, "f:2: want a request's record, with id"},
		{"a field twice", head + rec(`"pass":0`, `"pass":0,"pass":0`), "f:2: want a request's record: "},
		{"a fraction", head + rec(`"end_ns":60`, `"end_ns":60.5`), "f:2: want a request's record: "},
		{"lags of other deltas", head + rec(`"gaps_ns":[10,20]`, `"gaps_ns":[10,20],"read_lags_ns":[1,2]`), "f:2: read_lags_ns has 2 elements: want one for each of 3 deltas"},
		{"another clock", head + rec(`"gaps_ns"`, `"clock":"sun","gaps_ns"`), "f:2: clock \"sun\": not one that llmbench writes"},
		{"sent before it was admitted", head + rec(`"gaps_ns"`, `"admitted_ns":11,"gaps_ns"`), "f:2: admitted_ns 11 after start_ns 10"},
		{"a gap's fraction", head + rec(`[10,20]`, `[10.0,20]`), "gaps_ns or read_lags_ns: want an array of whole nanoseconds"},
		{"a negative gap", head + rec(`[10,20]`, `[-10,40]`), "gaps_ns or read_lags_ns: want an array of whole nanoseconds"},
		{"a gap too long", head + rec(`[10,20]`, `[99999999999999999999]`), "gaps_ns or read_lags_ns: "},
		{"an object for gaps", head + rec(`[10,20]`, `{}`), "gaps_ns or read_lags_ns: want an array"},
		{"nested gaps", head + rec(`[10,20]`, `[[10],20]`), "gaps_ns or read_lags_ns: want an array"},
		{"gaps of another sum", head + rec(`[10,20]`, `[10,21]`), "f:2: gaps_ns add up to 31: want last_ns - first_ns, 30"},
		{"gaps without deltas", head + rec(`"first_ns":20,"last_ns":50`, `"first_ns":null,"last_ns":null`), "f:2: gaps_ns without first_ns"},
		{"more outputs than deltas", head + rec(`"gaps_ns"`, `"outputs":4,"first_output_ns":20,"gaps_ns"`), "f:2: outputs 4 of 3 deltas: want at most the number of deltas"},
		{"outputs that never came", head + rec(`"gaps_ns"`, `"outputs":1,"gaps_ns"`), "f:2: outputs 1 of 3 deltas: want at most the number of deltas, and first_output_ns unless outputs is 0"},
		{"an output after the last", head + rec(`"gaps_ns"`, `"outputs":1,"first_output_ns":51,"gaps_ns"`), "f:2: first_output_ns 51: want it between first_ns 20 and last_ns 50"},
		{"more cut deltas than deltas", head + rec(`"gaps_ns"`, `"cut":4,"gaps_ns"`), "f:2: cut 4: want it among the 3 deltas"},
		{"a negative number of cut deltas", head + rec(`"gaps_ns"`, `"cut":-1,"gaps_ns"`), "f:2: count -1"},
		{"a negative turn", head + rec(`"gaps_ns"`, `"turn":-1,"gaps_ns"`), "f:2: count -1"},
		{"a last delta without a first", head + rec(`"first_ns":20`, `"first_ns":null`), "f:2: one of first_ns and last_ns"},
		{"an unknown outcome", head + rec(`"ok"`, `"fine"`), `f:2: outcome "fine": not one that llmbench writes`},
		{"an unknown source", head + rec(`"usage"`, `"guess"`), `f:2: token_source "guess"`},
		{"a negative instant", head + rec(`"wrote_ns":11`, `"wrote_ns":-11`), "f:2: an instant of -11 ns"},
		{"a negative count", head + rec(`"output_tokens":3`, `"output_tokens":-3`), "f:2: count -3"},
		{"ended before it began", head + rec(`"start_ns":10`, `"start_ns":100061`), "f:2: end_ns 60 before start_ns 100061"},
		{"text before the send", head + rec(`"start_ns":10`, `"start_ns":100021`), "f:2: first_ns 20 and last_ns 50: want them in this order between start_ns 100021 and end_ns 60"},
		{"an answer long before the pass", head + rec(`"first_ns":20`, `"first_ns":-100001`), "f:2: an instant of -100001 ns: want none before the pass"},
		{"sent before it was due", head + rec(`"due_ns":10`, `"due_ns":11`), "f:2: start_ns 10 before due_ns 11"},
		{"text after the end", head + rec(`"end_ns":60`, `"end_ns":40`), "f:2: first_ns 20 and last_ns 50"},
		{"passes out of order", head + rec() + rec(`"pass":0`, `"pass":2`), "f:3: pass 2 after pass 0"},
		{"a first pass that is missing", head + rec(`"pass":0`, `"pass":1`), "f:2: pass 1 after pass 0"},
		{"an answer a little before the send", head + rec(`"start_ns":10`, `"start_ns":100020`), ""},
		{"an answer a little before the pass", head + rec(`"first_ns":20,"last_ns":50,"end_ns":60`, `"first_ns":-99990,"last_ns":-99960,"end_ns":-99960`), ""},
		{"an event a little before the send", head + rec(`"gaps_ns"`, events(1, 50, 55)), ""},

		{"a choice long before the send", head + rec(`_ns":`, `_ns":90000000`, `[10,20]`, `[30]`, `"gaps_ns"`, events(1, 9000000050, 0)), "f:2: choices: first_ns 1 and last_ns 9000000050: want"},
		{"a choice after the end", head + rec(`"gaps_ns"`, events(15, 9e18, 0)), "f:2: an instant of 9000000000000000000 ns: want none after 720h0m0s"},
		{"the last choice before the first", head + rec(`"gaps_ns"`, events(20, 15, 0)), "f:2: choices: first_ns 20 and last_ns 15: want them in this order"},
		{"text before the first choice", head + rec(`"gaps_ns"`, events(25, 50, 0)), "f:2: choices: first_ns 25 and last_ns 50: want first_ns 20 and last_ns 50 of the text between them"},
		{"text after the last choice", head + rec(`"gaps_ns"`, events(20, 45, 0)), "f:2: choices: first_ns 20 and last_ns 45: want first_ns 20 and last_ns 50 of the text"},
		{"choices that never came", head + rec(`"gaps_ns"`, `"choices":{"before":3},"gaps_ns"`), "f:2: choices: 3 events without text"},
		{"the last event after the end", head + rec(`"gaps_ns"`, `"last_event_ns":61,"gaps_ns"`), "f:2: last_event_ns 61 and done_ns 0"},
		{"the last event before the last choice", head + rec(`"gaps_ns"`, events(15, 56, 55)), "f:2: last_event_ns 55 before the last choice, 56"},
		{"done before the last delta", head + rec(`"gaps_ns"`, `"done_ns":49,"gaps_ns"`), "f:2: done_ns 49 before another event, 50: want none after the end marker"},
		{"done before the last event", head + rec(`"gaps_ns"`, `"last_event_ns":55,"done_ns":54,"gaps_ns"`), "f:2: done_ns 54 before another event, 55"},
		{"done with the last delta", head + rec(`"gaps_ns"`, `"done_ns":50,"gaps_ns"`), ""},
		{"done after the end", head + rec(`"gaps_ns"`, `"done_ns":61,"gaps_ns"`), "f:2: last_event_ns 0 and done_ns 61"},
		{"an end beyond all time", head + rec(`"end_ns":60`, `"end_ns":9000000000000000000`), "f:2: an instant of 9000000000000000000 ns: want none after"},
		{"gaps that overflow", head + rec(`[10,20]`, `[9000000000000000000,446744073709551646]`), "f:2: gaps_ns or read_lags_ns: 9000000000000000000 ns: want at most 720h0m0s"},
		{"merged deltas", head + rec(`"gaps_ns"`, `"sent_by_ns":11,"merged":[[0,1,15],[2,1,30]],"gaps_ns"`), ""},
		{"merged deltas beyond the last", head + rec(`"gaps_ns"`, `"merged":[[2,2,30]],"gaps_ns"`), "f:2: 2 merged deltas from delta 2: want them in order, and among the 3 deltas"},
		{"merged deltas since later", head + rec(`"gaps_ns"`, `"merged":[[2,1,51]],"gaps_ns"`), "f:2: merged: deltas since 51: want at most last_ns, 50"},
		{"merged deltas of another form", head + rec(`"gaps_ns"`, `"merged":[[2,1]],"gaps_ns"`), "f:2: want a request's record: "},
		{"sent by before the send", head + rec(`"gaps_ns"`, `"sent_by_ns":9,"gaps_ns"`), "f:2: sent_by_ns 9: want it after start_ns 10"},
		{"lags that overflow", head + rec(`"gaps_ns"`, `"read_lags_ns":[1,9000000000000000000,1],"gaps_ns"`), "f:2: gaps_ns or read_lags_ns: 9000000000000000000 ns"},

		{"the end in the middle", head + `{"end":{"outcome":"ok"}}` + "\n" + rec(), "f:3: a line after the line about the end"},
		{"two ends", head + rec() + strings.Repeat(`{"end":{"outcome":"ok"}}`+"\n", 2), "f:4: a line after the line about the end"},
		{"an unknown end", head + rec() + `{"end":{"outcome":"fine"}}` + "\n", `f:3: {"end":{"outcome":"fine"}}: want the line about the end, with the outcome ok or failed`},
		{"a prefix cache without a verdict", head + rec() + `{"end":{"outcome":"ok","prefix_cache":{"prompts":1}}}` + "\n", "f:3: {\"end\":{\"outcome\":\"ok\",\"prefix_cache\":{\"prompts\":1}}}: a prefix cache without a verdict: want one, such as new"},
		{"no end", head + rec() + `{"end":null}` + "\n", `f:3: {"end":null}: want the line about the end`},
		{"an end of another kind", head + rec() + `{"end":1}` + "\n", `f:3: want the line about the end: `},
		{"a failure without a reason", head + rec() + `{"end":{"outcome":"failed"}}` + "\n", `f:3: {"end":{"outcome":"failed"}}: want a reason if the outcome is failed`},
		{"a reason of no failure", head + rec() + `{"end":{"outcome":"ok","why":"x"}}` + "\n", "want a reason if the outcome is failed, and none if it is ok"},
	} {
		run, err := Read(strings.NewReader(c.text), "f")
		if c.want == "" {
			assert.NilError(t, err, c.name)
			assert.Equal(t, run.Len(), strings.Count(c.text, "\n")-1, c.name)
			continue
		}
		assert.Check(t, cmp.ErrorContains(err, c.want), c.name)
	}
}

// events returns the fields of events with a choice, and the name of the next field.
func events(first, last, event int64) string {
	s := fmt.Sprintf(`"choices":{"before":1,"first_ns":%d,"last_ns":%d},`, first, last)
	if event > 0 {
		s += fmt.Sprintf(`"last_event_ns":%d,`, event)
	}
	return s + `"gaps_ns"`
}

// TestEnd checks runs that succeeded, runs that failed, and runs whose file does not tell.
func TestEnd(t *testing.T) {
	defer func(n int) { blockSize = n }(blockSize)
	ends := strings.Replace(head, `"version"`, `"ends":true,"version"`, 1)
	for _, size := range []int{20, 1 << 20} {
		blockSize = size
		for _, c := range []struct {
			text, failed string
			withheld     int
		}{
			{head + rec(), "", 0},
			{ends + rec() + `{"end":{"outcome":"ok"}}` + "\n", "", 0},
			{ends + rec() + `{"end":{"outcome":"ok","withheld":["p99-itl-ns"]}}` + "\n", "", 1},
			{ends + rec() + `{"end":{"outcome":"ok","withheld":["req/s"],"buffered":["p99-itl-ns","p50-ttft-ns"]}}` + "\n", "", 3},
			{ends + rec() + `{"end":{"outcome":"failed","why":"pass 0: 1 of 1 requests failed"}}` + "\n", "pass 0: 1 of 1 requests failed", 0},
			{ends + rec(), "the run was cut: its process was killed or still runs, and the records have no line about its end", 0},
			{ends + `{"end":{"outcome":"failed","why":"warm-up: x"}}` + "\n", "warm-up: x", 0},
		} {
			run, err := Read(strings.NewReader(c.text), "f")
			assert.NilError(t, err)
			assert.Equal(t, run.Len(), strings.Count(c.text, "due_ns"))
			assert.Equal(t, run.Failed(), c.failed)
			assert.Equal(t, len(run.Withheld()), c.withheld)
		}
	}
}

// TestBounds reads the bounds of metrics.
func TestBounds(t *testing.T) {
	read := func(bounds string) (*Run, error) {
		return Read(strings.NewReader(head+rec()+`{"end":{"outcome":"ok","bounds":{"p50-ttft-ns":`+bounds+`,"p99-ttft-ns":`+bounds+`}}}`+"\n"), "f")
	}
	run, err := read(`{"low":1,"likely":2.5,"high":3}`)
	assert.NilError(t, err)
	assert.DeepEqual(t, run.End.Bounds, map[string]sample.Interval{"p50-ttft-ns": {Low: 1, Likely: 2.5, High: 3}, "p99-ttft-ns": {Low: 1, Likely: 2.5, High: 3}})
	for _, wrong := range []string{`{"low":3,"likely":2,"high":4}`, `{"low":1,"likely":5,"high":4}`} {
		_, err := read(wrong)
		assert.ErrorContains(t, err, "bounds of p50-ttft-ns from ")
	}
}

// TestCut reads every prefix of a file. The Run has the complete lines of the prefix, and is cut unless the
// prefix is the whole file.
func TestCut(t *testing.T) {
	defer func(n int) { blockSize = n }(blockSize)
	whole := strings.Replace(head, `"version"`, `"ends":true,"version"`, 1) + rec() + rec(`"id":"`, `"id":"]}é\"`) + rec(`"pass":0`, `"pass":1`)
	const end = `{"end":{"outcome":"failed","why":"x"}}`
	text := whole + end + "\n"
	first := strings.IndexByte(text, '\n')
	for _, blockSize = range []int{20, 333, 1 << 20} {
		for n := range len(text) + 1 {
			run, err := Read(strings.NewReader(text[:n]), "f")
			switch {
			case n == 0:
				assert.ErrorContains(t, err, "f: empty")
				continue
			case n < first:
				assert.ErrorContains(t, err, "f:1: the line about the benchmark was cut")
				continue
			}
			assert.NilError(t, err, "%d bytes", n)
			lines := strings.Count(text[:min(n+1, len(text))], "\n") // the last one may lack its line end
			ended := n >= len(whole+end)
			if ended {
				lines--
			}
			assert.Equal(t, run.Len(), lines-1, "%d bytes", n)
			assert.Equal(t, run.End != nil, ended, "%d bytes", n)
			if !ended {
				assert.Equal(t, run.Failed(), "the run was cut: its process was killed or still runs, and the records have no line about its end")
			}
			assert.Equal(t, run.Cut, text[n-1] != '\n' && !strings.HasSuffix(text[:min(n+1, len(text))], "\n"), "%d bytes", n)
			for q := range run.All() {
				assert.Assert(t, q.Line > 0 && q.Outcome == "ok")
			}
			run.Figures()
		}
	}
	old, err := Read(strings.NewReader(head+rec()+rec()[:50]), "f") // the file has no line about the end
	assert.NilError(t, err)
	assert.Assert(t, strings.HasPrefix(old.Failed(), "the run was cut: "))
}

// TestBlocks reads a file in blocks of several sizes, which are parsed concurrently.
func TestBlocks(t *testing.T) {
	defer func(n int) { blockSize = n }(blockSize)
	before := runtime.NumGoroutine()
	text := head
	for i := range 50 {
		text += rec(`"end_ns":60`, fmt.Sprintf(`"end_ns":%d`, 60+i))
	}
	for _, size := range []int{1, 7, 100, 400, 5000, 1 << 20} {
		blockSize = size
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			run, err := Read(r, "f")
			assert.NilError(t, err)
			i := 0
			for q := range run.All() {
				assert.Equal(t, int(q.End), 60+i)
				assert.Equal(t, int(q.Line), 2+i)
				i++
			}
			assert.Equal(t, i, 50)
		}
		_, err := Read(strings.NewReader(text+"{}\n"+strings.Repeat(rec(), 50)), "f")
		assert.ErrorContains(t, err, "f:52: want a request's record")
		_, err = Read(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(text))), "f")
		assert.ErrorContains(t, err, "f:1: timeout")
	}
	// A parser's goroutine may end a moment after its result is read.
	runtest.Until(t, "every parser has ended", func() bool { return runtime.NumGoroutine() <= before })
}

func TestLongLine(t *testing.T) {
	defer func(n int) { maxLine = n }(maxLine)
	maxLine = 1 << 10
	_, err := Read(strings.NewReader(head+strings.Repeat(" ", 3<<20)), "f")
	assert.ErrorContains(t, err, "f:2: a line of more than 1024 bytes")
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	_, err := Open(path)
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.NilError(t, os.WriteFile(path, []byte(head+rec()), 0o600))
	run, err := Open(path)
	assert.NilError(t, err)
	assert.Equal(t, run.Name, path)
	assert.Equal(t, run.Passes(), 1)
}

// FuzzRead looks for files that contradict themselves but are read without an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(head + rec() + rec()))
	f.Add([]byte(head + rec(`[10,20]`, `[4294967296,1]`)))
	f.Add([]byte(head + rec()[:70]))
	f.Add([]byte(rec()))
	f.Add([]byte(head + rec() + `{"end":{"outcome":"failed","why":"x"}}` + "\n"))
	f.Add([]byte(head + rec(`"gaps_ns"`, events(1, 50, 55))))
	f.Add([]byte(head + rec(`"gaps_ns"`, events(15, 9e18, 55))))
	f.Add([]byte(head + rec(`[10,20]`, `[9000000000000000000,446744073709551646]`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		run, err := Read(bytes.NewReader(text), "f")
		if err != nil {
			return
		}
		for _, n := range []int{len(text) / 2, len(text) * 3 / 4} {
			if bytes.IndexByte(text[:n], '\n') < 0 {
				continue
			}
			part, err := Read(bytes.NewReader(text[:n]), "f")
			if err != nil {
				t.Fatalf("the first %d bytes: %v", n, err)
			}
			if least := bytes.Count(text[:n], []byte("\n")) - 2; part.Len() < least || part.Len() > run.Len() {
				t.Fatalf("%d requests in the first %d bytes, of %d", part.Len(), n, run.Len())
			}
		}
		want := bytes.Count(text, []byte("\n")) - 1
		if run.End != nil {
			want--
		}
		if !bytes.HasSuffix(text, []byte("\n")) && !run.Cut {
			want++
		}
		if got := run.Len(); got != want {
			t.Fatalf("%d requests of %d lines", got, want)
		}
		passes := 0
		for pass := range run.Passes() {
			for q := range run.Pass(pass) {
				passes++
				var sum int64
				n := 0
				for d := range q.Gaps() {
					sum, n = sum+int64(d), n+1
				}
				if q.Deltas > 0 && (n != int(q.Deltas)-1 || sum != int64(q.Last-q.First)) {
					t.Fatalf("gaps %v of %+v", q.gaps, q)
				}
			}
		}
		if passes != run.Len() {
			t.Fatalf("%d requests in passes of %d", passes, run.Len())
		}
		run.Figures()
	})
}
