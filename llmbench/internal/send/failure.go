package send

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// The reasons why the context of a request may end before the request, apart from the end of the pass.
var (
	errTimeout = errors.New("request timeout")
	errStalled = errors.New("stream stalled")
	errLeft    = errors.New("the client left early, as the load planned")
)

// ErrNotSent is wrapped by the error of a request that was never sent.
var ErrNotSent = errors.New("not sent")

// A failure is an error together with the outcome of its request.
type failure struct {
	sample.Outcome
	error
}

// fail returns a failure.
func fail(o sample.Outcome, format string, args ...any) error {
	return failure{o, fmt.Errorf(format, args...)}
}

// asFailure returns err as a failure. An error without an outcome counts as a malformed answer.
func asFailure(err error) failure {
	if f, ok := errors.AsType[failure](err); ok {
		return f
	}
	return failure{sample.Malformed, err}
}

// interrupted returns the failure of a request whose exchange ended with err. If the client gave the
// request up, the failure has the reason for that. Otherwise it has the outcome o.
func interrupted(ctx context.Context, opts *Options, o sample.Outcome, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == errTimeout:
		return fail(sample.Timeout, "no end after %v", opts.Timeout)
	case cause == errStalled:
		return fail(sample.Stalled, "no output for %v in the middle of the stream", opts.IdleTimeout)
	case cause == errLeft:
		return failure{sample.Left, cause}
	case cause != nil:
		return failure{sample.Canceled, cause}
	}
	if errors.Is(err, endpoint.ErrCompressed) {
		o = sample.Malformed
	}
	return failure{o, err}
}

// unsent returns the sample of a request that is not sent. The instant at is on the clock c.
func unsent(o *Options, c conn.Clock, at time.Duration, why error) sample.Sample {
	return sample.Sample{
		Epoch: c.Epoch(),
		Due:   at, Start: at, End: at,
		Streamed: o.Stream,
		Outcome:  sample.Canceled,
		Err:      errors.Join(ErrNotSent, why),
	}
}
