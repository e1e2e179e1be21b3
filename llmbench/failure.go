package llmbench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// A failure is an error and the outcome it makes. Every error of an exchange is
// one, made where it is known what failed.
type failure struct {
	Outcome
	error
}

// fail makes a failure.
func fail(o Outcome, format string, args ...any) error {
	return failure{o, fmt.Errorf(format, args...)}
}

// interrupted makes a failure of an error that net/http returned. If the request
// was given up, that explains it; else o does.
func (w *worker) interrupted(ctx context.Context, o Outcome, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == errTimeout:
		return fail(Timeout, "no end after %v", w.load.Timeout)
	case cause == errStalled:
		return fail(Stalled, "nothing for %v in the middle of the stream", w.load.IdleTimeout)
	case cause != nil:
		return failure{Canceled, cause}
	}
	return failure{o, err}
}

// redact takes the target's credentials out of an error, as servers like to
// repeat them: every header value that is long enough to be one, also where an
// excerpt cut it off or JSON escaped it.
func (w *worker) redact(err error) error {
	const least, hidden = 8, "[redacted]"
	before := err.Error()
	text := before
	for _, values := range w.client.target.Header {
		for _, v := range values {
			for _, secret := range []string{v, strings.TrimPrefix(v, "Bearer "), strings.ReplaceAll(strings.TrimPrefix(v, "Bearer "), "/", `\/`)} {
				if len(secret) < least {
					continue
				}
				text = strings.ReplaceAll(text, secret, hidden)
				for n := len(secret) - 1; n >= least/2; n-- {
					if cut := secret[:n] + dialect.Cut; strings.Contains(text, cut) {
						text = strings.ReplaceAll(text, cut, hidden+dialect.Cut)
					}
				}
			}
		}
	}
	if text == before {
		return err
	}
	return errors.New(text)
}
