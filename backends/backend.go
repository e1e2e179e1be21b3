package backends

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A Backend is a server that can be measured.
type Backend interface {
	// Start returns the server as a target when the server is ready to answer, or
	// ends tb with an error. What Start has started is stopped when tb ends. Call
	// Start in the parent of the benchmarks that measure the target.
	Start(tb testing.TB) llmbench.Target
}

// A Server describes a server that has to be launched in a container before it
// can be measured: the types of this package that embed [Container]. Package
// backends/container makes a [Backend] of it.
type Server interface {
	// Spec returns how the server is launched. Its String method shows it as a
	// docker command. The error names each field that is invalid.
	Spec() (launch.Spec, error)
}

// A Named is a backend with its value of backend= in benchmark names.
type Named struct {
	Name string
	Backend
}
