package scenarios

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// tarArg is the first argument of this test binary when it writes the files of a folder to standard
// output as a tar. The second argument is the folder. This is how records are copied out of the
// image llmbench/scenarios, which has no shell.
const tarArg = "tar"

// writeTar writes the regular files of a folder, but no files of the folders in it. Records are in
// no such folder, and a volume may have a folder lost+found that only root can read.
func writeTar(dir string, _ io.Reader, stdout, stderr io.Writer) int {
	out := tar.NewWriter(stdout)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err == nil && e.Type().IsRegular() {
			err = addFile(out, filepath.Join(dir, e.Name()))
		}
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s %s: %v\n", tarArg, dir, err)
		return 1
	}
	return 0
}

// addFile adds a file to the tar under the last part of its name. The tar gets the size that the
// file has now.
func addFile(out *tar.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.CopyN(out, f, h.Size)
	return err
}

// TestWriteTar checks that each file of a folder is in the tar. A missing folder must be an error.
func TestWriteTar(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"BenchmarkServe.1.jsonl": strings.Repeat("{}\n", 1000), "empty": ""}
	for name, text := range files {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	assert.NilError(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0))
	var stdout, stderr bytes.Buffer
	assert.Equal(t, roles[tarArg](dir, nil, &stdout, &stderr), 0, "%s", &stderr)
	got := map[string]string{}
	for in := tar.NewReader(&stdout); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		assert.NilError(t, err)
		text, err := io.ReadAll(in)
		assert.NilError(t, err)
		got[h.Name] = string(text)
	}
	assert.DeepEqual(t, got, files)

	assert.Equal(t, writeTar(filepath.Join(dir, "none"), nil, &stdout, &stderr), 1)
	assert.Assert(t, strings.HasPrefix(stderr.String(), "tar "+filepath.Join(dir, "none")+": "), &stderr)
}
