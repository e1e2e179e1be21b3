// Package extracases finds test data that this repository does not contain, because the files are too large
// or belong to others.
package extracases

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

func init() { env.Register(func(r *env.Reader) { readFrom(r) }) }

// readFrom returns the value of LLMBENCH_EXTRA_CASES as an absolute path, or "" if the variable is not set.
// It adds an error to r if the value is not a folder.
func readFrom(r *env.Reader) (folder string) {
	env.Read(r, &folder, "LLMBENCH_EXTRA_CASES", env.Folder, "a folder of this machine")
	return folder
}

// Path returns the path of the file name in the folder LLMBENCH_EXTRA_CASES. It skips tb if the variable is
// not set. It fails tb if the value is not a folder, or if the folder does not have the file.
func Path(tb testing.TB, name string) string {
	tb.Helper()
	r := env.NewReader(os.Environ())
	folder := readFrom(r)
	if err := r.Err(); err != nil {
		tb.Fatal(err)
	}
	if folder == "" {
		tb.Skipf("LLMBENCH_EXTRA_CASES is not set: want a folder with %s", name)
	}
	path := filepath.Join(folder, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		tb.Fatalf("LLMBENCH_EXTRA_CASES=%s: want a folder with %s: %v", folder, name, err)
	}
	return path
}
