// Package backends describes the servers that benchmarks measure.
//
// [Mock], [URL] and [Process] are backends: their Start method returns a [llmbench.Target]
// that is ready to answer. Mock is the simulated server, in this process. URL is a
// server that already runs. Process is a program of this machine, which Start starts.
//
// [VLLM], [TGI], [SGLang], [LMDeploy], [LlamaCPP], [LlamaCPPPython], [Ollama], [TextGen],
// [OpenLLM], [Xinference], [TensorRTLLM], [MindIE], [Dynamo], [VLLMDisagg] and [MockContainer] are
// servers that are launched in a container. Each one embeds a [Container] and has a field for each setting
// that matters to a benchmark. The types only describe the server: its image, arguments, health check and
// metrics. Package backends/container launches it, so that this package needs no Docker client.
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

// A Named is a backend and its name, which benchmark names contain as backend=NAME.
type Named struct {
	Name string
	Backend
}
