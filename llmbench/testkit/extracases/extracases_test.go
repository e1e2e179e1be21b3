package extracases

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// A recorder is a testing.TB that records how it ended.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper() {}

func (r *recorder) Skipf(format string, a ...any) {
	r.ended = "skip: " + fmt.Sprintf(format, a...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, a ...any) {
	r.ended = "fatal: " + fmt.Sprintf(format, a...)
	runtime.Goexit()
}

func (r *recorder) Fatal(a ...any) {
	r.ended = "fatal: " + fmt.Sprint(a...)
	runtime.Goexit()
}

func TestPath(t *testing.T) {
	folder := t.TempDir()
	assert.NilError(t, os.Mkdir(filepath.Join(folder, "data"), 0o777))
	file := filepath.Join(folder, "data", "a.csv")
	assert.NilError(t, os.WriteFile(file, nil, 0o666))
	for _, c := range []struct{ folder, name, path, ended string }{
		{"", "data/a.csv", "", "skip: LLMBENCH_EXTRA_CASES is not set: want a folder with data/a.csv"},
		{folder, "data/a.csv", file, ""},
		{folder, "data", filepath.Dir(file), ""},
		{folder, "data/b.csv", "", "fatal: LLMBENCH_EXTRA_CASES=" + folder + ": want a folder with data/b.csv: "},
		{file, "data/a.csv", "", "fatal: LLMBENCH_EXTRA_CASES=" + file + ": want a folder of this machine"},
	} {
		t.Setenv("LLMBENCH_EXTRA_CASES", c.folder)
		r := &recorder{TB: t}
		path := ""
		done := make(chan struct{})
		go func() { // the recorder ends the goroutine
			defer close(done)
			path = Path(r, c.name)
		}()
		<-done
		assert.Equal(t, path, c.path)
		assert.Assert(t, strings.HasPrefix(r.ended, c.ended) && (r.ended == "") == (c.ended == ""), "%q: want %q", r.ended, c.ended)
	}
}
