package llamatest

import (
	"errors"
	"io"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/llamatest/tinygguf"
)

// ErrUnavailable is wrapped by errors that mean: this machine cannot run the
// server, and here is why.
var ErrUnavailable = errors.New("llama-server is not available here")

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
