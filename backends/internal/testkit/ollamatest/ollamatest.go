package ollamatest

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// Start runs a server until tb ends and returns its base URL without a trailing slash. If the error of
// [Run] wraps [need.ErrUnavailable], Start skips tb, or fails tb if LLMBENCH_REQUIRE lists ollama. Any other
// error fails tb. If the server exits before tb ends, tb fails too. With -short, Start skips tb.
func Start(tb testing.TB, o Options) (url string) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("-short: a real server takes seconds")
	}
	s, err := Run(tb.Context(), o)
	need.Check(tb, need.Ollama, err)
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s.URL
}
