package llmbench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A failure is an error and the outcome it makes. Every error of an exchange is
// one, made where it is known what failed.
type failure struct {
	sample.Outcome
	error
}

// fail makes a failure.
func fail(o sample.Outcome, format string, args ...any) error {
	return failure{o, fmt.Errorf(format, args...)}
}

// interrupted makes a failure of an error of the exchange. If the request
// was given up, that explains it; else o does.
func (w *worker) interrupted(ctx context.Context, o sample.Outcome, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == errTimeout:
		return fail(sample.Timeout, "no end after %v", w.load.Timeout)
	case cause == errStalled:
		return fail(sample.Stalled, "nothing for %v in the middle of the stream", w.load.IdleTimeout)
	case cause == errLeft:
		return failure{sample.Left, cause}
	case cause != nil:
		return failure{sample.Canceled, cause}
	}
	return failure{o, err}
}

// redact takes the target's credentials out of an error.
func (w *worker) redact(err error) error {
	before := err.Error()
	text := w.client.target.Redact(before)
	if text == before {
		return err
	}
	return errors.New(text)
}

// Redact takes the target's credentials out of a text, as servers like to repeat
// them: every value of Header that is long enough to be one, also where JSON
// escaped it, or where it was cut off before a [dialect.Cut].
func (t Target) Redact(text string) string {
	const least, hidden = 8, "[redacted]"
	for _, values := range t.Header {
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
	return text
}
