package backends

import (
	"fmt"
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
func FromConfig(c llmbench.Config) ([]Named, error) {
	if c.URL != "" {
		return []Named{{c.Name, URL{URL: c.URL, Name: c.Name, Model: c.Model, Dialect: c.Dialect, APIKey: c.APIKey}}}, nil
	}
	var all []Named
	for _, name := range c.Backends {
		make, known := byName[name]
		if !known {
			return nil, fmt.Errorf("LLMBENCH_BACKEND=%s: %q is not a backend; want a comma list of mock, or LLMBENCH_URL for a server that runs already",
				strings.Join(c.Backends, ","), name)
		}
		all = append(all, Named{name, make(c)})
	}
	return all, nil
}

// byName makes the backends of LLMBENCH_BACKEND.
var byName = map[string]func(llmbench.Config) Backend{
	"mock": func(c llmbench.Config) Backend {
		return Mock{Profile: c.Mock, Speed: c.MockSpeed, Model: c.Model, Dialect: c.Dialect}
	},
}
