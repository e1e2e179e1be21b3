package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestServe checks the arguments of serve, and that serve ends with its context.
func TestServe(t *testing.T) {
	t.Setenv("LLMBENCH_OUT", "")
	dir := t.TempDir()
	ended, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		args           []string
		status         int
		stdout, stderr string
	}{
		{[]string{dir}, 0, "http://127.0.0.1:", ""},
		{[]string{"-addr", "localhost:0", dir}, 0, "shows the runs in " + dir, ""},
		{[]string{"-addr", ":0", dir}, 0, "Ctrl-C", "warning: everybody who reaches"},
		{[]string{"-h"}, 0, "-addr", ""},
		{[]string{filepath.Join(dir, "missing")}, 0, "missing does not exist yet: a benchmark with LLMBENCH_OUT=" + filepath.Join(dir, "missing") + " makes it\n", ""},
		{nil, 2, "", "no folder: want one as an argument, or LLMBENCH_OUT"},
		{[]string{dir, dir}, 2, "", "2 folders: want one"},
		{[]string{"-addr", "127.0.0.1", dir}, 2, "", "want host:port"},
		{[]string{"-addr", "192.0.2.1:0", dir}, 2, "", "-addr 192.0.2.1:0: listen tcp"},
	} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, serveUntil(ended, c.args, &stdout, &stderr), c.status, "%q: %s", c.args, &stderr)
		for _, s := range []struct{ got, want string }{{stdout.String(), c.stdout}, {stderr.String(), c.stderr}} {
			assert.Assert(t, strings.Contains(s.got, s.want) && (s.got == "") == (s.want == ""), "%q: %q, want %q", c.args, s.got, s.want)
		}
	}
}
