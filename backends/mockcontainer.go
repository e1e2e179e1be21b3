package backends

import "github.com/seed-2b9cec6d/llmbench/backends/internal/launch"

// MockContainer is the simulated server in a container. It exercises all stages of the start of a server in
// a container, without a download. Args are flags of the command mockserver. The model is the profile's;
// Model is not used. If Image is "", Start builds an image that contains nothing but the program, which
// requires the go command.
type MockContainer struct {
	Container
}

// Spec describes how the server is launched; the error names each invalid field.
func (m MockContainer) Spec() (launch.Spec, error) {
	m.Model = "mock"
	b := newBuilder(m.Container, "mock-container", "llmbench/mockserver:built", 8000)
	if m.Image == "" {
		b.GoProgram = "github.com/seed-2b9cec6d/llmbench/mockserver/cmd/mockserver"
	}
	b.grantGPUs(launch.NVIDIA)
	b.args("-addr", "0.0.0.0:8000")
	return b.finish()
}
