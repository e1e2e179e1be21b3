package backends

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A Backend is a server that can be measured.
type Backend interface {
	// Start returns a target that answers, or ends tb. What it started is
	// stopped when tb ends. It belongs into the parent of the benchmarks that
	// measure the target.
	Start(tb testing.TB) llmbench.Target
}

// A Named is a backend and its value of backend= in benchmark names.
type Named struct {
	Name string
	Backend
}

// FromConfig returns the backends that the environment asks for: the server at
// LLMBENCH_URL, or those in LLMBENCH_BACKEND.
func FromConfig(c Config) ([]Named, error) {
	if c.URL != "" {
		return []Named{{c.Name, URL{URL: c.URL, Name: c.Name, Model: c.Model, Dialect: c.Dialect, APIKey: c.APIKey}}}, nil
	}
	var all []Named
	contained := 0
	for _, name := range c.Backends {
		make, known := byName[name]
		if !known {
			return nil, fmt.Errorf("LLMBENCH_BACKEND=%s: %q is not a backend; want a comma list of %s, or LLMBENCH_URL for a server that runs already",
				strings.Join(c.Backends, ","), name, strings.Join(Names(), ", "))
		}
		if name != "mock" {
			contained++
		}
		all = append(all, Named{name, make(c)})
	}
	for _, v := range []struct {
		name string
		set  bool
	}{{"IMAGE", c.Image != ""}, {"ARGS", len(c.Args) > 0}, {"QUANT", c.Quant != ""}} {
		if v.set && contained != 1 {
			return nil, fmt.Errorf("LLMBENCH_%s is for one server in a container, and LLMBENCH_BACKEND=%s names %d: measure them one at a time",
				v.name, strings.Join(c.Backends, ","), contained)
		}
	}
	return all, nil
}

// Names returns the names that LLMBENCH_BACKEND takes.
func Names() []string { return slices.Sorted(maps.Keys(byName)) }

// byName makes the backends of LLMBENCH_BACKEND. What a backend's fields say
// beyond those of [Container] is asked for with LLMBENCH_ARGS.
var byName = map[string]func(Config) Backend{
	"mock": func(c Config) Backend {
		return Mock{Profile: c.Mock, Speed: c.MockSpeed, Model: c.Model, Dialect: c.Dialect}
	},
	"mock-container":  func(c Config) Backend { return MockContainer{Container: from(c)} },
	"vllm":            func(c Config) Backend { return VLLM{Container: from(c)} },
	"tgi":             func(c Config) Backend { return TGI{Container: from(c)} },
	"sglang":          func(c Config) Backend { return SGLang{Container: from(c)} },
	"lmdeploy":        func(c Config) Backend { return LMDeploy{Container: from(c)} },
	"llamacpp":        func(c Config) Backend { return LlamaCPP{Container: from(c)} },
	"llamacpp-python": func(c Config) Backend { return LlamaCPPPython{Container: from(c)} },
	"ollama":          func(c Config) Backend { return Ollama{Container: from(c)} },
	"textgen":         func(c Config) Backend { return TextGen{Container: from(c)} },
	"openllm":         func(c Config) Backend { return OpenLLM{Container: from(c)} },
	"xinference":      func(c Config) Backend { return Xinference{Container: from(c), Engine: "vLLM"} },
	"tensorrtllm":     func(c Config) Backend { return TensorRTLLM{Container: from(c)} },
	"mindie":          func(c Config) Backend { return MindIE{Container: from(c)} },
}

// from returns what the environment says of a server in a container.
func from(c Config) Container {
	return Container{
		Image: c.Image, Model: c.Model, Quantization: c.Quant, Args: c.Args, GPUs: GPUs(c.GPUs), ModelsDir: c.ModelsDir, APIKey: c.APIKey,
		Dialect: c.Dialect, LogDir: c.LogDir,
	}
}
