package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// What follows is shared by the scenarios that no study published. Their full form
// is the same load for longer, or as its workload was published.

// flow calls measure with every server that the environment asks for; full tells
// which form is wanted.
func flow(b *testing.B, measure func(b *testing.B, s server, full bool)) {
	cfg, _ := asked(b)
	if cfg.Full != "" && cfg.Full != "1" {
		llmbench.Skip(b, "it has no part in LLMBENCH_FULL="+cfg.Full)
	}
	each(b, func(b *testing.B, s server) { measure(b, s, cfg.Full == "1") })
}

// pick is the value of a form.
func pick[T any](full bool, ifFull, reduced T) T {
	if full {
		return ifFull
	}
	return reduced
}

// changed is s with another mock, if it is the one in this process: what a mock
// can do is asked of it by its configuration.
func (s server) changed(b *testing.B, change func(*mockserver.Config)) server {
	b.Helper()
	if !s.inside {
		return s
	}
	mock := backends.Mock{Profile: s.cfg.Mock, Speed: s.cfg.MockSpeed, Model: s.cfg.Model, Dialect: s.cfg.Dialect}
	c, err := mockserver.Load(mock.Profile)
	if err != nil {
		b.Fatal(err)
	}
	change(&c)
	mock.Config = &c
	target := mock.Start(b)
	target.Config = s.target.Config
	s.target = target
	return s
}

// once sends one request, or session, like those that will be measured, and returns
// the first answer. If the server cannot serve such requests at all, the benchmark
// is skipped with what it says. A server that breaks on them (500) has failed.
func (s server) once(b *testing.B, r llmbench.Request) sample.Sample {
	b.Helper()
	samples, _, err := llmbench.Pass(llmbench.Context(b), b.Name()+"/asked-once", s.target,
		llmbench.Load{Requests: []llmbench.Request{r}, Concurrency: 1, KeepText: true, ClientBound: llmbench.BoundReported})
	if errors.Is(err, errors.ErrUnsupported) {
		llmbench.Skip(b, err.Error())
	}
	if err != nil {
		b.Fatal(err)
	}
	answer := samples[0]
	for i := 1; answer.Outcome == sample.OK; i++ {
		if i == len(samples) {
			return samples[0]
		}
		answer = samples[i] // a further turn
	}
	switch answer.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		llmbench.Skip(b, fmt.Sprintf("the server refuses such a request: %v", answer.Err))
	}
	b.Fatalf("one request, to see whether the server can do it: %s: %v", answer.Outcome, answer.Err)
	return answer
}

// slo is what LLMBENCH_SLO says, or what a user waits for without complaint.
func (s server) slo(unless sample.SLO) sample.SLO { return cmp.Or(s.cfg.Serve.SLO, unless) }
