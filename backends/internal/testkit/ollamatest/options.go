package ollamatest

import (
	"io"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
)

// ModelName is the name of the server's only model.
const ModelName = "tiny"

// Options describes the server to run. Defaults are in parentheses. The zero value is a server that serves
// four requests at once, with 4096 tokens each, and the default model.
type Options struct {
	Parallel int              // requests served at once (4)
	Context  int              // tokens of a request, prompt and output together (4096)
	Model    tinygguf.Options // the model; its context length is at least Context

	// Addr is the host:port to listen on. "" means a free port of 127.0.0.1.
	Addr string
	// Log, if not nil, receives the server's output. Only one goroutine writes to it, and none after
	// [Server.Close] has returned.
	Log io.Writer
}
