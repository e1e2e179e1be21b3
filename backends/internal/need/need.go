// Package need ends tests that need something that this machine does not have.
package need

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// The requirements of tests: the values that LLMBENCH_REQUIRE may list.
const (
	Docker   = "docker"
	LlamaCPP = "llamacpp"
	Nginx    = "nginx"
	Ollama   = "ollama"
)

var requirements = []string{Docker, LlamaCPP, Nginx, Ollama}

func init() { env.Register(func(r *env.Reader) { readFrom(r) }) }

// readFrom reads LLMBENCH_REQUIRE by r, which collects the errors.
func readFrom(r *env.Reader) (required []string) {
	env.Read(r, &required, "LLMBENCH_REQUIRE", env.List(env.OneOf(requirements...)), "a comma list of "+strings.Join(requirements, ", "))
	return required
}

// Missing ends tb because err says that a requirement is missing: tb is skipped, or
// fails if LLMBENCH_REQUIRE lists the requirement.
func Missing(tb testing.TB, requirement string, err error) {
	tb.Helper()
	r := env.NewReader(os.Environ())
	required := readFrom(r)
	switch {
	case r.Err() != nil:
		tb.Fatal(r.Err())
	case slices.Contains(required, requirement):
		tb.Fatal(err)
	default:
		tb.Skip(err)
	}
}
