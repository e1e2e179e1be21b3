package backends

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// Mock is the simulated server, in this process, on a loopback socket. It needs
// nothing, and it keeps a log of when it really sent each token.
type Mock struct {
	// Profile is the name or the JSON file of a profile; "" is the default
	// one. Config, if set, is used instead.
	Profile string
	Config  *mockserver.Config
	// Speed is how many times faster than real time the server runs; 0 means
	// as its configuration says.
	Speed float64
	// Model is the name asked for and answered with; "" means the profile's.
	Model string
	// Dialect is what is spoken with it; nil means OpenAI chat.
	Dialect dialect.Dialect
}

// Start returns the server as a target.
func (m Mock) Start(tb testing.TB) llmbench.Target {
	tb.Helper()
	_, target := m.Serve(tb)
	return target
}

// Serve returns the server itself too, for its log.
func (m Mock) Serve(tb testing.TB) (*mockserver.Server, llmbench.Target) {
	tb.Helper()
	llmbench.Watch(tb)
	cfg, err := mockserver.Load(m.Profile)
	if m.Config != nil {
		cfg, err = *m.Config, nil
	}
	if err != nil {
		tb.Fatalf("backends: mock: %v", err)
	}
	if m.Speed != 0 {
		cfg.Speed = m.Speed
	}
	cfg.Model = cmp.Or(m.Model, cfg.Model, "mock")
	srv, err := mockserver.New(cfg)
	if err != nil {
		tb.Fatalf("backends: mock: %v", err)
	}
	url, stop, err := mockserver.Listen("127.0.0.1:0", srv)
	if err != nil {
		tb.Fatalf("backends: mock: %v", err)
	}
	tb.Cleanup(func() { stop(0) })
	t := llmbench.Target{
		URL:       url,
		Simulated: true,
		Model:     cfg.Model,
		Dialect:   m.Dialect,
		Config:    m.describe(),
	}
	r := &running{spec: spec{backend: "mock", stats: mockCounts}, logf: tb.Logf, target: t}
	if cfg.Engine != nil && cfg.Engine.PrefixCache { // it has a word to say of it, under vLLM's names
		r.spec.stats, r.spec.reset = vllmStats, []step{resetPrefixCache}
		r.spec.stats.open = mockCounts.open
	}
	t.Observe = r.observe
	return srv, t
}

// mockCounts is what any mock says of itself, under vLLM's names.
var mockCounts = stats{path: vllmStats.path, ended: vllmStats.ended, prompt: vllmStats.prompt, generated: vllmStats.generated, open: names{"mockserver_requests_open"}}

// describe returns what makes results comparable: what the environment may
// change. A configuration in code is the same in every run of that code.
func (m Mock) describe() map[string]string {
	config := map[string]string{"backend": "mock"}
	if m.Config == nil && m.Profile != "" {
		config["mock-profile"] = m.Profile
	}
	if m.Speed != 0 {
		config["mock-speed"] = fmt.Sprintf("%g", m.Speed)
	}
	return config
}
