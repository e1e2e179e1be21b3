package llamatest

import (
	"io"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
)

// stopDelay is the time between SIGTERM and SIGKILL. It is short because llama-server, after SIGTERM, waits
// for its open streams but sends nothing on them.
const stopDelay = time.Second

// Options describes the server to run. Defaults are in parentheses. The zero value is a server with four
// slots of 4096 tokens and the default model.
type Options struct {
	Parallel int              // slots, the number of requests served at once (4)
	Context  int              // tokens in a slot, prompt and output together (4096)
	Model    tinygguf.Options // the model; its context length is at least Context
	Draft    bool             // the server decodes speculatively, and its own model writes the drafts
	Args     []string         // further arguments of llama-server, after the arguments that the other fields cause

	// Addr is the host:port to listen on. "" means a free port of 127.0.0.1 or, in
	// a container, port 8080 of the container's own address.
	Addr string
	// Container runs the server in a Docker container even if a chroot is possible.
	Container bool
	// NoWait makes Run return as soon as the process runs. The server may still
	// refuse connections or answer 503.
	NoWait bool
	// Log, if not nil, receives the server's output. Only one goroutine writes to it, and none after
	// [Server.Close] has returned.
	Log io.Writer
}
