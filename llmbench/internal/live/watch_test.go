package live

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const head = `{"version":2,"benchmark":"BenchmarkA/concurrency=2","dialect":"openai-chat","model":"m","stream":true,"concurrency":2,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"},"ends":true}` + "\n"

const end = `{"end":{"outcome":"ok"}}` + "\n"

// request returns the record of a request with ten tokens. Its times are in milliseconds.
func request(pass, start, first, end int) string {
	const ms = 1_000_000
	return fmt.Sprintf(`{"id":"a","pass":%d,"due_ns":%d,"epoch_unix_ns":1767323045000000000,"start_ns":%d,"first_ns":%d,"last_ns":%d,"end_ns":%d,"in_flight":2,"gaps_ns":[],"output_tokens":10,"token_source":"usage","outcome":"ok","status":200}`+"\n",
		pass, start*ms, start*ms, first*ms, first*ms, end*ms)
}

func failure(pass, start, end int) string {
	line := strings.Replace(request(pass, start, start, end), `"outcome":"ok","status":200`, `"outcome":"http","status":500`, 1)
	return line[:strings.Index(line, `"first_ns"`)] + line[strings.Index(line, `"end_ns"`):]
}

// A folder is a watched folder whose files the test writes between looks.
type folder struct {
	t    *testing.T
	path string
	w    *Watcher
}

func newFolder(t *testing.T) *folder {
	path := filepath.Join(t.TempDir(), "out") // does not exist
	return &folder{t, path, NewWatcher(path)}
}

func (f *folder) write(name, text string, flags int) {
	f.t.Helper()
	assert.NilError(f.t, os.MkdirAll(f.path, 0o700))
	file, err := os.OpenFile(filepath.Join(f.path, name), os.O_CREATE|os.O_WRONLY|flags, 0o600)
	assert.NilError(f.t, err)
	_, err = file.WriteString(text)
	assert.NilError(f.t, err)
	assert.NilError(f.t, file.Close())
}

// look makes the watcher look once, and returns the state.
func (f *folder) look() State {
	f.w.look()
	state, _ := f.w.State()
	return state
}

// TestFigures checks the metrics of a run with two passes and a failure, while it goes on and when it has
// ended.
func TestFigures(t *testing.T) {
	f := newFolder(t)
	assert.Assert(t, strings.HasPrefix(f.look().Why, "the folder does not exist yet: "))
	f.write("a.jsonl", head, 0)
	run := f.look().Runs[0]
	assert.Equal(t, run.State+" "+run.Benchmark+" "+run.Load, "running BenchmarkA/concurrency=2 concurrency 2")
	assert.Equal(t, run.InFlight, 0) // unknown

	f.write("a.jsonl", request(0, 0, 100, 1000)+request(0, 500, 800, 2000)+failure(0, 600, 2500)+request(1, 0, 200, 1500)[:40], os.O_APPEND)
	run = f.look().Runs[0]
	assert.Equal(t, run.Requests, 3)
	assert.DeepEqual(t, run.Failures, map[string]int{"http": 1})
	assert.Equal(t, run.InFlight, 2)
	assert.Assert(t, run.At.Equal(time.Date(2026, 1, 2, 3, 4, 7, 500e6, time.UTC)), run.At)
	assert.Equal(t, run.OutputTokens, 20)
	assert.Equal(t, run.TokensPerS, 8.0) // 20 in 2.5 s
	assert.Equal(t, run.TTFT50, 200e6)   // median of 100 and 300 ms
	assert.Equal(t, run.TTFT99, 0.0)     // too few TTFTs
	assert.Equal(t, run.Unread, int64(40))

	f.write("a.jsonl", request(1, 0, 200, 1500)[40:]+end, os.O_APPEND)
	run = f.look().Runs[0]
	assert.Equal(t, run.State, StateEnded)
	assert.Equal(t, run.Passes, 2)
	assert.Equal(t, run.InFlight, 0)
	assert.Equal(t, run.TokensPerS, 7.5)      // 30 in 2.5 s and 1.5 s
	assert.Equal(t, run.RecentPerS, 10.0/1.5) // of the second pass only
	assert.Equal(t, run.Unread, int64(0))
	assert.Equal(t, run.TTFTs, 3)
}

// TestChanges truncates, replaces, removes and adds files.
func TestChanges(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", head+request(0, 0, 100, 1000), 0)
	f.write("b.jsonl", "no records\n", 0)
	f.write("notes.txt", "no records\n", 0)
	assert.NilError(t, os.Mkdir(filepath.Join(f.path, "c.jsonl"), 0o700))
	runs := f.look().Runs
	assert.Equal(t, len(runs), 2)
	for _, run := range runs {
		if run.File == "b.jsonl" {
			assert.Equal(t, run.State, StateBroken)
			assert.Assert(t, strings.Contains(run.Why, "b.jsonl:1: want the line about the benchmark"), run.Why)
		}
	}
	_, changed := f.w.State()
	f.look()
	select {
	case <-changed:
		t.Fatal("nothing has changed")
	default:
	}

	assert.NilError(t, os.Remove(filepath.Join(f.path, "b.jsonl")))
	f.write("a.jsonl", head, os.O_TRUNC)
	runs = f.look().Runs
	assert.Equal(t, len(runs), 1)
	assert.Equal(t, runs[0].Requests, 0)
	assert.NilError(t, os.Rename(filepath.Join(f.path, "a.jsonl"), filepath.Join(f.path, "old")))
	f.write("a.jsonl", head+request(0, 0, 100, 1000)+request(0, 0, 100, 1000)+`{"end":{"outcome":"failed","why":"interrupted"}}`+"\n", 0)
	runs = f.look().Runs
	assert.Equal(t, runs[0].Requests, 2)
	assert.Equal(t, runs[0].State+" "+runs[0].Why, "failed interrupted")
	select {
	case <-changed:
	default:
		t.Fatal("the channel of the state is open")
	}
	assert.NilError(t, os.RemoveAll(f.path))
	state := f.look()
	assert.Equal(t, len(state.Runs), 0)
	assert.Assert(t, strings.HasPrefix(state.Why, "the folder does not exist yet: "))
}

// TestManyRuns checks that only the newest MaxRuns files are followed, and that a run with enough requests has
// a p99 of the TTFT.
func TestManyRuns(t *testing.T) {
	f := newFolder(t)
	for i := range MaxRuns + 3 {
		f.write(fmt.Sprintf("%d.jsonl", i), head, 0)
	}
	old := time.Now().Add(-time.Hour)
	for i := range 3 {
		assert.NilError(t, os.Chtimes(filepath.Join(f.path, fmt.Sprintf("%d.jsonl", i)), old, old))
	}
	state := f.look()
	assert.Equal(t, len(state.Runs), MaxRuns)
	assert.Equal(t, state.Hidden, 3)
	f.write("99.jsonl", strings.Repeat(request(0, 0, 100, 1000), 100), os.O_APPEND)
	for _, run := range f.look().Runs {
		if run.File == "99.jsonl" {
			assert.Equal(t, run.TTFT99, 100e6)
		}
	}
}

// TestLink checks that a link to a file of records is followed.
func TestLink(t *testing.T) {
	elsewhere, f := newFolder(t), newFolder(t)
	elsewhere.write("a.jsonl", head+request(0, 0, 100, 1000), 0)
	f.write("b.jsonl", head, 0)
	if err := os.Symlink(filepath.Join(elsewhere.path, "a.jsonl"), filepath.Join(f.path, "link.jsonl")); err != nil {
		t.Skip(err)
	}
	var files []string
	for _, run := range f.look().Runs {
		files = append(files, run.File)
	}
	assert.Assert(t, slices.Contains(files, "link.jsonl") && slices.Contains(files, "b.jsonl"), "%q", files)
}

// TestFiguresOfATime checks the rate of a load for a time with a warm-up, of which answers count by the share that came within
// the time.
func TestFiguresOfATime(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", strings.Replace(head, `"concurrency":2,"start"`, `"concurrency":2,"duration_ns":1000000000,"warmup_ns":1000000000,"start"`, 1), 0)
	half := func(due int) string { // two deltas, 800 ms apart
		one := strings.Replace(request(0, due, due+100, due+900), `"gaps_ns":[]`, `"gaps_ns":[800000000]`, 1)
		return strings.Replace(one, fmt.Sprintf(`"last_ns":%d`, (due+100)*1_000_000), fmt.Sprintf(`"last_ns":%d`, (due+900)*1_000_000), 1)
	}
	f.write("a.jsonl", request(0, 0, 100, 500)+half(500), os.O_APPEND)
	run := f.look().Runs[0]
	assert.Equal(t, run.TokensPerS, 12.5) // 5 in 0.4 s
	assert.Equal(t, run.OutputTokens, 0)
	f.write("a.jsonl", request(0, 1000, 1100, 1900)+half(1500), os.O_APPEND)
	for _, more := range []string{"", end} {
		f.write("a.jsonl", more, os.O_APPEND)
		run = f.look().Runs[0]
		assert.Equal(t, run.TokensPerS, 20.0) // 5, 10 and 5 in the second that is measured
		assert.Equal(t, run.OutputTokens, 20)
	}
}

// TestCourse checks the steps of a running benchmark, and that the number of steps is limited for a run of any
// length.
func TestCourse(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", head+request(0, 0, 100, 1000)+request(0, 500, 800, 1900), 0)
	assert.Assert(t, f.look().Runs[0].Course == nil, "one step, which is not over")
	f.write("a.jsonl", failure(0, 600, 2500)+request(0, 2000, 2200, 4100)+request(0, 2000, 2200, 5200), os.O_APPEND)
	c := f.look().Runs[0].Course
	assert.Assert(t, c.Start.Equal(time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)), c.Start)
	text, err := json.Marshal(c)
	assert.NilError(t, err)
	assert.Equal(t, string(text[strings.Index(string(text), `"stepMs"`):]), `"stepMs":1000,"inFlight":[2,2,null,2],"tokens":[20,0,0,10],"ttft":[200,null,null,200],"failed":[0,1,0,0]}`)

	var long course
	q := records.Request{Outcome: sample.OK, OutputTokens: 10}
	const hours = 10
	for i := range hours * 3600 {
		long.add(c.Start.Add(time.Duration(i)*time.Second), 1+i%7, &q)
	}
	assert.Assert(t, len(long.steps) <= maxSteps && len(long.steps) > maxSteps/4, "%d steps", len(long.steps))
	tokens := 0
	for _, s := range long.steps {
		tokens += s.tokens
	}
	assert.Equal(t, tokens, 10*hours*3600)
	assert.Equal(t, long.over().Tokens[3], 10.0)
	long.add(c.Start.Add(1<<63-1), 1, &q) // as from a wrong clock
	long.add(c.Start.Add(-time.Hour), 1, &q)
	assert.Assert(t, len(long.steps) <= maxSteps)
	f.write("a.jsonl", end, os.O_APPEND)
	assert.Assert(t, f.look().Runs[0].Course == nil, "the run has ended")
}
