package probe

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Completion waits until t answers a completion. It returns the sample of the answered request and the time
// at which that request was sent. An open port or a successful health check would not be enough, because
// servers can have both before their model is loaded. If the dialect of t has inputs, the request asks for a
// vector or a score instead, and is never streamed.
//
// Completion retries while connections fail, while the server sheds the request, and while the status is
// 503. Before each retry it waits for the time that the server asks for, unless that is after the deadline
// of ctx. Any other answer is a [Final] error, and so is a connection error that [Mistake] explains. attempt is
// called with nil when an attempt begins, and with its error before each retry.
//
// If the server refuses a request that is not streamed, Completion sends one that is streamed and asks for more
// tokens, because some servers answer only such requests.
func Completion(ctx context.Context, t llmbench.Target, stream bool, attempt func(error)) (sent time.Time, s sample.Sample, err error) {
	r := llmbench.Request{Prompt: "Say hello.", MaxTokens: 4}
	if d, ok := t.Dialect.(dialect.ItemsDialect); ok {
		r, stream = llmbench.Request{Inputs: []string{"Say hello."}}, false
		if d.Ranks() {
			r.Prompt = "What is said?"
		}
	}
	err = Poll(ctx, func() (again bool, err error) {
		attempt(nil)
		sent = time.Now()
		s = llmbench.Do(ctx, t, r, stream)
		if !stream && len(r.Inputs) == 0 && refusesForm(s) {
			more, again := r, time.Now()
			more.MaxTokens = leastOutput
			if other := llmbench.Do(ctx, t, more, true); other.Outcome == sample.OK || other.Outcome == sample.HTTP {
				r, stream, sent, s = more, true, again, other
			}
		}
		if s.Outcome == sample.OK {
			return false, nil
		}
		if mistake := Mistake(ctx, t, s.Err, s.Status); mistake != nil {
			return false, &Final{Err: mistake}
		}
		again = s.Outcome == sample.Connect || s.Outcome == sample.Shed || s.Outcome == sample.HTTP && RefusedForNow(s.Status)
		if again {
			attempt(s.Err)
			return wait(ctx, &s), s.Err
		}
		if ended(ctx) || s.Status == 0 {
			return false, s.Err
		}
		return false, &Final{Path: Path(t, pathOf(t, r, stream)), Status: s.Status, Err: s.Err}
	})
	return sent, s, err
}

// leastOutput is the smallest number of output tokens that OpenAI's Responses API accepts.
const leastOutput = 16

// refusesForm reports whether the answer s may be due to the form of the request.
func refusesForm(s sample.Sample) bool {
	return s.Outcome == sample.HTTP && (s.Status == http.StatusBadRequest || s.Status == http.StatusUnprocessableEntity)
}

// pathOf returns the path to which a request is sent, without what the URL of t has.
func pathOf(t llmbench.Target, r llmbench.Request, stream bool) string {
	d := t.Dialect
	if d == nil {
		d = dialect.OpenAIChat{}
	}
	return d.Path(dialect.Query{Model: t.Model, Prompt: r.Prompt, Inputs: r.Inputs, MaxTokens: r.MaxTokens, Stream: stream})
}

// RefusedForNow reports whether a server that answers with this status may accept the request later.
func RefusedForNow(status int) bool {
	return status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
}

// limitedPause is the pause after a server has shed a request, if the server does not ask for another pause.
const limitedPause = time.Second

// wait waits for the time that the server asks for in the answer s. It returns false immediately if the
// deadline of ctx is earlier.
func wait(ctx context.Context, s *sample.Sample) bool {
	pause := s.RetryAfter
	if s.Outcome == sample.Shed {
		pause = cmp.Or(pause, limitedPause)
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pause {
		return false
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
	return true
}
