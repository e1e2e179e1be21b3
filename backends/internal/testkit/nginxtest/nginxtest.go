package nginxtest

import (
	"os"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// Start runs nginx until tb ends. It returns when nginx answers. If this machine has no nginx, Start skips
// or fails tb; see [need.Check]. Any other error fails tb. If nginx exits before tb ends, tb fails too.
func Start(tb testing.TB, o Options) *Server {
	tb.Helper()
	command, err := find()
	need.Check(tb, need.Nginx, err)
	dir, err := os.MkdirTemp("", "nginx-") // the path of a Unix socket must be short
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, stop, err := run(tb.Context(), command, dir, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := stop(); err != nil {
			tb.Error(err)
		}
	})
	return s
}
