package llmbench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// The causes for which the context of a request ends, except for the end of the pass.
var (
	errTimeout = errors.New("request timeout")
	errStalled = errors.New("stream stalled")
	errLeft    = errors.New("the client left, as the load has it")
)

// errNotSent is the error of a request that was not sent.
var errNotSent = errors.New("not sent")

// A failure is an error with the outcome of its request.
type failure struct {
	sample.Outcome
	error
}

// fail returns a failure.
func fail(o sample.Outcome, format string, args ...any) error {
	return failure{o, fmt.Errorf(format, args...)}
}

// asFailure returns err as a failure. An error of unknown outcome is a malformed answer.
func asFailure(err error) failure {
	if f, ok := errors.AsType[failure](err); ok {
		return f
	}
	return failure{sample.Malformed, err}
}

// interrupted returns the failure of a request whose exchange ended with err. If the request
// was given up, the failure is the cause of that, and else it has outcome o.
func interrupted(ctx context.Context, l *Load, o sample.Outcome, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == errTimeout:
		return fail(sample.Timeout, "no end after %v", l.Timeout)
	case cause == errStalled:
		return fail(sample.Stalled, "nothing for %v in the middle of the stream", l.IdleTimeout)
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

// tooManyFailed describes the failures of a pass if the share of failed requests is above what
// is tolerated. Otherwise it returns "".
func tooManyFailed(samples iter.Seq[*sample.Sample], tolerated float64) string {
	text, tooMany := describeFailed(samples, tolerated)
	if !tooMany {
		return ""
	}
	return text
}

// describeFailed describes the failures of samples, of which a share is tolerated: how many there
// are of each kind, and up to five that differ. The text is "" if no request failed.
//
// A server that closed a kept connection when the next request was there may have closed it
// for itself, or may have refused the request. A server that refuses requests also refuses
// some on new connections. Where that has happened, the requests that were sent again count
// as failed.
func describeFailed(samples iter.Seq[*sample.Sample], tolerated float64) (text string, tooMany bool) {
	outcomes := map[sample.Outcome]int{}
	var shown []string
	seen := map[string]bool{}
	failed, all, refused, unread := 0, 0, false, 0
	for s := range samples {
		all++
		if s.Outcome == sample.OK || s.Outcome == sample.Left {
			if s.ResentUnread {
				unread++
			}
			continue
		}
		failed++
		refused = refused || s.Outcome == sample.Connect && s.Wrote > 0
		outcomes[s.Outcome]++
		if len(shown) == 5 {
			continue
		}
		if text := s.Err.Error(); !seen[text] {
			seen[text] = true
			shown = append(shown, fmt.Sprintf("\n  request %d %s: %s: %s", s.Request, s.ID, s.Outcome, text))
		}
	}
	again := ""
	if refused && unread > 0 {
		failed += unread
		again = fmt.Sprintf(", sent again after a connection was closed %d", unread)
	}
	if failed == 0 {
		return "", false
	}
	text = fmt.Sprintf("%d of %d requests failed, %.4g%% are tolerated: %s%s%s",
		failed, all, 100*tolerated, tally(outcomes), again, strings.Join(shown, ""))
	return text, float64(failed)/float64(all) > tolerated
}

// tally formats counts like "http 1, truncated 2", sorted by name.
func tally[K ~string](counts map[K]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(parts, ", ")
}
