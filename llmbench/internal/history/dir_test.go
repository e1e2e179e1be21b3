package history

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

var (
	someTime = time.Date(2026, 11, 26, 21, 17, 16, 0, time.UTC)
	some     = About{Commit: "3f1c0a9e4b7d55", Time: someTime, Machine: "a", Server: "vllm serve -tp=2"}
)

// TestMain adds runs instead of running tests if the environment variable HISTORY_ADD names a folder. Tests
// start the test binary in this way to add runs from several processes. HISTORY_FROM and HISTORY_TO are the
// numbers of the runs to add.
func TestMain(m *testing.M) {
	dir := os.Getenv("HISTORY_ADD")
	if dir == "" {
		os.Exit(m.Run())
	}
	from, _ := strconv.Atoi(os.Getenv("HISTORY_FROM"))
	to, _ := strconv.Atoi(os.Getenv("HISTORY_TO"))
	for i := from; i < to; i++ {
		about := some
		about.Time = someTime.Add(time.Duration(i) * time.Minute)
		if _, err := Dir(dir).Add(fmt.Appendf(nil, "BenchmarkX 1 %d x\n%s", i, strings.Repeat("# long\n", 4000)), about, someTime); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(0)
}

// adder returns a command that adds runs in a separate process.
func adder(t *testing.T, dir string, from, to int) *exec.Cmd {
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "HISTORY_ADD="+dir, fmt.Sprint("HISTORY_FROM=", from), fmt.Sprint("HISTORY_TO=", to))
	cmd.Stderr = os.Stderr
	return cmd
}

func TestTwoProcessesLoseNothing(t *testing.T) {
	n := 500
	if testing.Short() {
		n = 50
	}
	dir := t.TempDir()
	a, b := adder(t, dir, 0, n), adder(t, dir, n, 2*n)
	assert.NilError(t, a.Start())
	assert.NilError(t, b.Start())
	assert.NilError(t, errors.Join(a.Wait(), b.Wait()))
	runs, err := NewReader().ReadAll(Dir(dir))
	assert.NilError(t, err)
	assert.Equal(t, len(runs), 2*n)
	for i, run := range runs {
		assert.Equal(t, run.Cells[0].Value, float64(i))
	}
	l, err := Dir(dir).List()
	assert.NilError(t, err)
	assert.Equal(t, len(l.Unfinished)+len(l.Others), 0)
}

func TestKilledWriterLeavesReadableHistory(t *testing.T) {
	dir := t.TempDir()
	had := 0
	for i := range 5 {
		cmd := adder(t, dir, 1000*i, 1000*i+1000)
		assert.NilError(t, cmd.Start())
		for { // until the process has added a run
			l, err := Dir(dir).List()
			assert.NilError(t, err)
			if len(l.Runs) > had {
				break
			}
			assert.NilError(t, t.Context().Err())
		}
		assert.NilError(t, cmd.Process.Kill())
		assert.ErrorContains(t, cmd.Wait(), "")
		runs, err := NewReader().ReadAll(Dir(dir))
		assert.NilError(t, err)
		had = len(runs)
	}
	_, err := Dir(dir).Add([]byte("BenchmarkX 1 1 x\n"), some, someTime)
	assert.NilError(t, err)
}

func TestAdd(t *testing.T) {
	dir := Dir(filepath.Join(t.TempDir(), "new"))
	name, err := dir.Add([]byte("BenchmarkX-8 1 5 x\nBenchmarkX-8 1 7 x\nBenchmarkX-8 1 6 x"), some, someTime)
	assert.NilError(t, err)
	text, err := os.ReadFile(filepath.Join(string(dir), name))
	assert.NilError(t, err)
	assert.Equal(t, string(text), "commit: 3f1c0a9e4b7d55\ncommit-time: 2026-11-26T21:17:16Z\nmachine: a\nserver: vllm serve -tp=2\ndate: 2026-11-26T21:17:16Z\n\nBenchmarkX-8 1 5 x\nBenchmarkX-8 1 7 x\nBenchmarkX-8 1 6 x\n")
	assert.Assert(t, strings.HasPrefix(name, "2026-11-26T211716Z-3f1c0a9e4b7d-"), name)

	again, err := dir.Add([]byte("BenchmarkX-8 1 5 x\nBenchmarkX-8 1 7 x\nBenchmarkX-8 1 6 x"), some, someTime.Add(time.Hour))
	assert.ErrorIs(t, err, os.ErrExist)
	assert.Equal(t, again, name)

	runs, err := NewReader().ReadAll(dir)
	assert.NilError(t, err)
	assert.Equal(t, len(runs), 1)
	assert.DeepEqual(t, runs[0].About, some)
	assert.Equal(t, runs[0].Cells[0].Value, 6.0)
}

// A log that has no results is no reason to refuse a run.
func TestAddLog(t *testing.T) {
	dir := Dir(t.TempDir())
	_, err := dir.Add([]byte("Benchmark results below:\nUnit tests passed\nBenchmarkX 1 5 x\n"), some, someTime)
	assert.NilError(t, err)
	runs, err := NewReader().ReadAll(dir)
	assert.NilError(t, err)
	assert.Equal(t, len(runs[0].Cells), 1)
}

func TestAddRefuses(t *testing.T) {
	ok := "BenchmarkX 1 5 x\n"
	for _, c := range []struct {
		text  string
		about About
		want  string
	}{
		{ok, About{Time: someTime}, "commit: not known: want a line commit: in the results, or -commit"},
		{ok, About{Commit: "a"}, "commit-time: not known"},
		{"commit: b\n" + ok, some, "commit: 3f1c0a9e4b7d55, but the results say b"},
		{"machine: b\n" + ok + "machine: c\n" + ok, About{Commit: "a", Time: someTime}, "machine is c here but b earlier in the file: want one value, because a file holds a single run"},
		{"commit-time: yesterday\n" + ok, About{Commit: "a"}, `commit-time: "yesterday": want a time such as 2026-11-26T21:17:16Z`},
		{ok, About{Commit: "a\nb", Time: someTime}, `commit: "a\nb": want one line`},
		{"PASS\n", some, "no results"},
		{"BenchmarkX 1 +Inf x\n", some, ".txt:7: x is +Inf: want a finite number"},
		{"BenchmarkX 1 5\n", some, "missing units"},
		{ok + "syncing... BenchmarkY 1 5 x\n", some, `.txt:8: a result, or a part of one, that cannot be read: "syncing... BenchmarkY 1 5 x"`},
		{ok + "syncing... Unit x gate=5%\n", some, "a Unit line that cannot be read"},
	} {
		dir := Dir(t.TempDir())
		_, err := dir.Add([]byte(c.text), c.about, someTime)
		assert.ErrorContains(t, err, c.want)
		l, err := dir.List()
		assert.NilError(t, err)
		assert.Equal(t, len(l.Runs)+len(l.Unfinished), 0)
	}
}

func TestRemoveWantsNamesOfTheHistory(t *testing.T) {
	dir := Dir(t.TempDir())
	name, err := dir.Add([]byte("BenchmarkX 1 5 x\n"), some, someTime)
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(string(dir), "README.md"), nil, 0o666))
	assert.ErrorContains(t, dir.Remove([]string{name, "README.md"}), `"README.md": want the name of a file of the history`)
	assert.ErrorContains(t, dir.Remove([]string{name, "../" + name}), "nothing was deleted")
	assert.ErrorIs(t, dir.Remove([]string{name, "2026-11-26T211716Z-abc-0123456789abcdef.txt"}), os.ErrNotExist)
	l, err := dir.List()
	assert.NilError(t, err)
	assert.DeepEqual(t, l, Listing{Runs: []string{name}, Others: []string{"README.md"}})
	assert.NilError(t, dir.Remove([]string{name}))
	_, err = os.Stat(filepath.Join(string(dir), name))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// FuzzAdd checks that whatever Add accepts is read again with the same settings.
func FuzzAdd(f *testing.F) {
	f.Add("BenchmarkX 1 5 x\n", "a/b", "m", int64(1e9))
	f.Add("commit: x\ncommit-time: 2026-11-26T21:17:16+02:00\nBenchmarkX 1 5 x\nFAIL\n", "", "", int64(0))
	f.Add("date:\t1\nUnit x gate=5%\nBenchmarkX 1 5 x\r\n", "ä", " m", int64(-1))
	f.Fuzz(func(t *testing.T, text, commit, machine string, unix int64) {
		about := About{Commit: commit, Machine: machine}
		if unix != 0 {
			about.Time = time.Unix(unix, 0).UTC()
		}
		dir := Dir(t.TempDir())
		name, err := dir.Add([]byte(text), about, someTime)
		l, listErr := dir.List()
		assert.NilError(t, listErr)
		if err != nil {
			assert.Equal(t, len(l.Runs), 0)
			return
		}
		assert.DeepEqual(t, l, Listing{Runs: []string{name}})
		runs, err := NewReader().ReadAll(dir)
		assert.NilError(t, err)
		if commit != "" {
			assert.Equal(t, runs[0].Commit, commit)
		}
		if machine != "" {
			assert.Equal(t, runs[0].Machine, machine)
		}
		if unix != 0 {
			assert.Equal(t, runs[0].Time.Unix(), unix)
		}
	})
}
