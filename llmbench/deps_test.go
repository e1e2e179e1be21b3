package llmbench

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestDockerClient keeps testcontainers-go, and the Docker client under it, in
// the package backends/container and below.
func TestDockerClient(t *testing.T) {
	const module = "github.com/seed-2b9cec6d/llmbench/"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-test", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	assert.NilError(t, err)
	importers := 0
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.Contains(imports, "github.com/testcontainers/") && !strings.Contains(imports, "github.com/moby/") {
			continue
		}
		importers++
		assert.Assert(t, strings.HasPrefix(path, module+"backends/container"), "%s imports a Docker client; only backends/container may", path)
	}
	assert.Assert(t, importers > 0)

	out, err = exec.CommandContext(t.Context(), "go", "list", "-deps", module+"backends", module+"scenarios").Output()
	assert.NilError(t, err)
	for path := range strings.Lines(string(out)) {
		assert.Assert(t, !strings.HasPrefix(path, "github.com/testcontainers/") && !strings.HasPrefix(path, "github.com/moby/"),
			"backends or scenarios links %s, a Docker client", path)
	}
}

// TestDependencies keeps the rooms of the project apart: who may import whom.
func TestDependencies(t *testing.T) {
	const module = "github.com/seed-2b9cec6d/llmbench/"
	// What a package must not reach, directly or through others, and why.
	forbidden := []struct{ from, to, why string }{
		{"mockserver", module + "llmbench", "a shared bug would hide: the wire is the contract"},
		{"mockserver", module + "backends", "the mock knows nobody"},
		{"mockserver/engine", strings.TrimSuffix(module, "/"), "the model is arithmetic alone"},
		{"mockserver/engine", "net", "the model does no I/O"},
		{"mockserver/profiles", module + "mockserver/internal", "profiles are data"},
		{"mockserver/calibrate", "net", "loads are sent in virtual time"},
		{"backends", "gonum.org", "a fit is no part of a server"},
		{"llmbench", "github.com/prometheus", "whoever measures a server needs no metrics of the mock's"},
		{"llmbench/sse", module + "llmbench/dialect", "framing knows no server"},
		{"llmbench/dialect", module + "mockserver", "the wire is the contract"},
		{"llmbench", module + "mockserver", "whoever measures a server needs no mock"},
		{"llmbench", module + "backends", "backends are built on it"},
		{"llmbench", module + "benchdata", "requests are handed to it"},
		{"llmbench", "github.com/testcontainers", "who imports llmbench alone builds no Docker client"},
		{"llmbench", "golang.org/x/perf", "who measures a server judges nothing"},
		{"llmbench", module + "llmbench/compat", "other tools' definitions are none of the harness's"},
		{"llmbench/compat", module + "mockserver", "it reads records alone"},
		{"llmbench/compat", "gonum.org", "it computes and draws nothing"},
		{"llmbench", module + "llmbench/report", "who measures draws nothing"},
		{"llmbench", "gonum.org", "who measures draws nothing, and fits nothing"},
		{"llmbench/report", module + "mockserver", "it reads files alone"},
		{"llmbench/report", module + "backends", "it knows no server"},
		{"llmbench/report", module + "benchdata", "it knows no data"},
		{"llmbench/report", "github.com/chromedp", "a browser is driven by a module of its own"},
		{"llmbench/cmd/benchreport", module + "backends", "it knows no server"},
		{"llmbench/gate", "gonum.org/v1/plot", "the gate draws nothing"},
		{"llmbench/records", module + "mockserver", "whoever reads records needs no mock"},
		{"llmbench/records", module + "benchdata", "records are read as they are"},
		{"llmbench/sample", "net", "figures are computed from samples alone"},
		{"llmbench/sample", "testing", "figures are computed from samples alone"},
		{"llmbench/arrivals", strings.TrimSuffix(module, "/"), "a schedule knows no server"},
		{"llmbench/arrivals", "net", "a schedule knows no server"},
		{"llmbench/records", "net/http", "files are read and written"},
		{"llmbench/records", "testing", "files are read and written"},
		{"llmbench/report", "net/http", "it reads files alone"},
		{"llmbench/report", "testing", "it reads files alone"},
		{"llmbench/benchfile", "net", "any Go benchmark file is read"},
		{"llmbench/search", strings.TrimSuffix(module, "/"), "a search knows no server"},
		{"llmbench/gate", strings.TrimSuffix(module, "/"), "the gate judges any Go benchmark file"},
		{"llmbench/cmd/benchgate", module + "backends", "the gate knows no server"},
		{"benchdata", module + "backends", "data knows no server"},
		{"benchdata", module + "mockserver", "data knows no server"},
		{"llmbench", "github.com/moby", "who imports llmbench alone builds no Docker client"},
		{"llmbench", "github.com/prometheus", "what a server says of itself is its backend's to read"},
		{"mockserver", "github.com/testcontainers", "the mock is a program like any other"},
		{"benchdata", "github.com/testcontainers", "who imports benchdata alone builds no Docker client"},
		{"backends", module + "scenarios", "scenarios are built on it"},
		{"backends", module + "benchdata", "a server knows no data"},
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Deps " "}}`, module+"...").Output()
	assert.NilError(t, err)
	deps := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		path, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		deps[strings.TrimPrefix(path, module)] = strings.Fields(rest)
	}
	for _, f := range forbidden {
		for from, all := range deps {
			if from != f.from && !(strings.HasPrefix(from, f.from+"/") && f.from != "llmbench") {
				continue
			}
			for _, to := range all {
				if fits(from, all) && (to == module+"llmbench/records" || to == module+"llmbench/benchfile" || to == module+"llmbench/sample") {
					continue
				}
				if to == f.to || strings.HasPrefix(to, f.to+"/") {
					t.Errorf("%s reaches %s: %s", from, to, f.why)
				}
			}
		}
		if deps[f.from] == nil {
			t.Errorf("no package %s", f.from)
		}
	}
}

// fits reports whether a package is mockserver/calibrate or a command on it: these read
// the results of llmbench.
func fits(from string, deps []string) bool {
	return from == "mockserver/calibrate" || strings.HasPrefix(from, "mockserver/cmd/") && slices.Contains(deps, "github.com/seed-2b9cec6d/llmbench/mockserver/calibrate")
}
