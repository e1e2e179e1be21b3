package llamatest

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// Start runs a server until tb ends and returns its base URL without a trailing slash. If the error of
// [Run] wraps [need.ErrUnavailable], Start skips tb, or fails tb if LLMBENCH_REQUIRE lists llamacpp, or lists docker
// if only a Docker engine is missing. Any other error fails tb. If the server exits before tb ends, tb fails too.
// With -short, Start skips tb.
func Start(tb testing.TB, o Options) (url string) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("-short: a real server takes seconds")
	}
	s, err := Run(tb.Context(), o)
	need.Check(tb, need.LlamaCPP, err)
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s.URL
}

// Image makes sure that the Docker engine has an image of the server, and returns the image's name. A
// container of the image takes the arguments of llama-server and listens on port 8080. The model has to be
// mounted or copied into the container (see [Model]). If the image cannot be created, Image skips or fails
// tb as [Start] does.
func Image(tb testing.TB) (name string) {
	tb.Helper()
	need.Check(tb, need.Docker, dockerUsable(tb.Context()))
	root, err := rootfs()
	need.Check(tb, need.LlamaCPP, err)
	_, err = ensureImage(tb.Context(), root)
	need.Check(tb, need.LlamaCPP, err)
	return imageName
}

// Model generates a model and returns the path of its file. The file is removed when tb ends.
func Model(tb testing.TB, o tinygguf.Options) (path string) {
	tb.Helper()
	path, err := writeModel(tb.TempDir(), o)
	need.Check(tb, need.LlamaCPP, err)
	return path
}
