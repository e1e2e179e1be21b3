package llamatest

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/llamatest/tinygguf"
)

// Options says which server to run. The zero value is four slots of 4096
// tokens and the default model.
type Options struct {
	Parallel int              // slots: requests served at once (4)
	Context  int              // tokens per slot, prompt and output together (4096)
	Model    tinygguf.Options // the model; its context length is at least Context
	Args     []string         // further arguments of llama-server, after the ones set here

	// Addr is the host:port to listen on; empty means a free port on
	// 127.0.0.1, or 8080 on the container's own address.
	Addr string
	// Container runs a Docker container even where a chroot would do.
	Container bool
	// NoWait returns as soon as the server runs, while it may still refuse
	// connections or answer 503.
	NoWait bool
	// Log receives the server's output as it comes, if not nil. Writes come
	// from one goroutine and end before [Server.Close] returns.
	Log io.Writer
}

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
	case errors.Is(err, ErrUnavailable) && !required():
		tb.Skip(err)
	default:
		tb.Fatal(err)
	}
}

// required reports whether a missing server is a failure.
func required() bool {
	return slices.ContainsFunc(strings.Split(os.Getenv("LLMBENCH_REQUIRE"), ","), func(s string) bool {
		return strings.TrimSpace(s) == "llamacpp"
	})
}

// ErrUnavailable is wrapped by errors that mean: this machine cannot run the
// server, and here is why.
var ErrUnavailable = errors.New("llama-server is not available here")
