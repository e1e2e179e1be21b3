package llmbench

import (
	"context"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Do sends one request to t, on a new connection, and returns its sample when the request has ended. If
// stream is set, Do asks for a streamed answer. The request is given up when ctx ends, and after
// [DefaultTimeout] at the latest. Do is meant for use before a measurement, to find out whether a server
// answers and how it counts tokens. If the request failed, or if t or r is invalid, the Outcome of the
// sample is not [sample.OK].
func Do(ctx context.Context, t Target, r Request, stream bool) sample.Sample {
	s, err := do(ctx, t, r, stream)
	if err != nil {
		return sample.Sample{Outcome: sample.Malformed, Err: err}
	}
	return s
}

// do is like Do, but returns an error if t or r is invalid.
func do(ctx context.Context, t Target, r Request, stream bool) (sample.Sample, error) {
	l, err := Load{Requests: []Request{r}, Concurrency: 1, NoStream: !stream}.check()
	if err != nil {
		return sample.Sample{}, err
	}
	pl, err := newPlan(&l, t, l.Requests)
	if err != nil {
		return sample.Sample{}, err
	}
	c, err := newClient(t)
	if err != nil {
		return sample.Sample{}, err
	}
	defer c.Close()
	options, clock := l.options(), c.Clock()
	s := send.NewWorker(c, &options, clock, nil).Do(ctx, pl.build(0), 0, false)
	if s.Outcome != sample.Connect { // while a server starts, nothing listens
		t.countAside(1, "completions that test the server")
	}
	return s, send.Finished{Sample: &s, Check: r.Check}.Complete(&options, clock, t.secrets())
}
