package nginxtest

import (
	"errors"
	"os"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/need"
)

// Start runs nginx until tb ends. It returns when nginx answers. Start skips or fails tb if there
// is no nginx, see [ErrUnavailable]. Every other error fails tb, and so does an nginx that ends
// before tb.
func Start(tb testing.TB, o Options) *Server {
	tb.Helper()
	command, err := find()
	if errors.Is(err, ErrUnavailable) {
		need.Missing(tb, need.Nginx, err)
	}
	if err != nil {
		tb.Fatal(err)
	}
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
