package llamatest

import (
	"errors"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/llamatest/tinygguf"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/need"
)

// Start runs a server until the end of the test or benchmark and returns its
// base URL, without a slash at its end. It skips tb where [Run] returns
// [ErrUnavailable], unless LLMBENCH_REQUIRE has llamacpp in it; every other
// error is fatal. A server that ends before tb does is an error of tb.
func Start(tb testing.TB, o Options) (url string) {
	tb.Helper()
	s, err := Run(tb.Context(), o)
	end(tb, err)
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s.URL
}

// Image makes sure that the Docker engine has the image of the server and
// returns its name. It takes arguments of llama-server and listens on port
// 8080; a model has to be mounted or copied into it (see [Model]). It skips or
// ends tb like [Start].
func Image(tb testing.TB) (name string) {
	tb.Helper()
	end(tb, dockerUsable(tb.Context()))
	root, err := rootfs()
	end(tb, err)
	_, err = ensureImage(tb.Context(), root)
	end(tb, err)
	return imageName
}

// Model returns the path of a model file that lasts as long as tb.
func Model(tb testing.TB, o tinygguf.Options) (path string) {
	tb.Helper()
	path, err := writeModel(tb.TempDir(), o)
	end(tb, err)
	return path
}

// end ends tb when err is not nil: it skips what cannot run here.
func end(tb testing.TB, err error) {
	tb.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrUnavailable):
		need.Missing(tb, need.LlamaCPP, err)
	default:
		tb.Fatal(err)
	}
}
