package debroot

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	assert.NilError(t, os.WriteFile(file, nil, 0o666))
	missing := filepath.Join(dir, "missing")
	here, err := os.Getwd()
	assert.NilError(t, err)
	for _, tt := range []struct {
		environ string
		want    settings
		err     string
	}{
		{"LLMBENCH_CACHE=", settings{}, ""},
		{"LLMBENCH_CACHE=" + dir, settings{cache: dir}, ""},
		{"LLMBENCH_CACHE=" + missing, settings{cache: missing}, ""},
		{"LLMBENCH_CACHE=tinygguf", settings{cache: filepath.Join(here, "tinygguf")}, ""},
		{"LLMBENCH_CACHE=" + file, settings{}, "LLMBENCH_CACHE=" + file + ": want a folder, which may be missing"},
		{"LLMBENCH_CACHE=" + file + "/x", settings{}, "LLMBENCH_CACHE=" + file + "/x: want a folder"},
		{"LLMBENCH_DEBIAN_MIRROR=http://127.0.0.1:1/debian/", settings{mirror: "http://127.0.0.1:1/debian/"}, ""},
		{"LLMBENCH_DEBIAN_MIRROR=file:///mnt/debian", settings{mirror: "file:///mnt/debian"}, ""},
		{"LLMBENCH_DEBIAN_MIRROR=deb.debian.org", settings{}, "LLMBENCH_DEBIAN_MIRROR=deb.debian.org: want the http, https or file URL of a Debian mirror"},
		{"LLMBENCH_DEBIAN_MIRROR=http:/debian", settings{}, "LLMBENCH_DEBIAN_MIRROR=http:/debian: want"},
	} {
		r := env.NewReader([]string{tt.environ})
		assert.Equal(t, readSettings(r), tt.want, tt.environ)
		if tt.err == "" {
			assert.NilError(t, r.Err(), tt.environ)
			continue
		}
		assert.ErrorContains(t, r.Err(), tt.err)
	}
}
