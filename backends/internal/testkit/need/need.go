// Package need skips or fails tests that require something that this machine does not have.
package need

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// The requirements of tests. LLMBENCH_REQUIRE may list these values.
const (
	Docker   = "docker"
	Engines  = "engines"  // those that .ci/run runs each time; see package enginetest
	Gateways = "gateways" // those that .ci/run runs each time; see package enginetest
	LlamaCPP = "llamacpp"
	Nginx    = "nginx"
	Ollama   = "ollama"
)

var requirements = []string{Docker, Engines, Gateways, LlamaCPP, Nginx, Ollama}

func init() { env.Register(func(r *env.Reader) { readFrom(r) }) }

// readFrom reads LLMBENCH_REQUIRE. Errors are collected in r.
func readFrom(r *env.Reader) (required []string) {
	env.Read(r, &required, "LLMBENCH_REQUIRE", env.List(env.OneOf(requirements...)), "a comma list of "+strings.Join(requirements, ", "))
	return required
}

// ErrUnavailable is wrapped by the errors that say why this machine does not have a requirement.
var ErrUnavailable = errors.New("not available here")

// A lack is an error that says which requirement this machine does not have.
type lack struct {
	error
	requirement string
}

func (l lack) Unwrap() error { return l.error }

// Of returns err with the name of the requirement that is missing if err wraps [ErrUnavailable]. A test may
// need several things, such as llama.cpp in a container: [Check] then knows which of them is missing.
func Of(requirement string, err error) error {
	if err == nil {
		return nil
	}
	return lack{err, requirement}
}

// Check ends tb if err is not nil. If err wraps [ErrUnavailable], a requirement is missing; see [Missing]. It
// is the requirement that [Of] named, or else the argument. Any other error fails tb.
func Check(tb testing.TB, requirement string, err error) {
	tb.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrUnavailable):
		if l, named := errors.AsType[lack](err); named {
			requirement = l.requirement
		}
		Missing(tb, requirement, fmt.Errorf("%s is %w", requirement, err))
	default:
		tb.Fatal(err)
	}
}

// Missing ends tb because a requirement is missing; err says why. It fails tb if LLMBENCH_REQUIRE lists the
// requirement, and skips tb otherwise.
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
