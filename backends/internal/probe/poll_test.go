package probe

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// A lateContext is a context that ends a little after its deadline.
type lateContext struct {
	context.Context
	deadline time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.deadline, true }

// TestPollError checks which error a wait returns. The error os.ErrDeadlineExceeded stands for the
// error of a connection. It comes at the deadline.
func TestPollError(t *testing.T) {
	refused := errors.New("refused")
	for _, c := range []struct {
		name  string
		errs  []error       // an error for each call of try
		again bool          // the result of the last call; the other calls return true
		left  time.Duration // until the deadline when the first call returns; 0 means that it returns at once
		late  time.Duration
		want  string
	}{
		{"the first answer is final", []error{refused}, false, 0, 0, "refused"},
		{"success after a refusal", []error{refused, nil}, false, 0, 0, ""},
		{"the deadline passes in the first call", []error{os.ErrDeadlineExceeded}, true, 0, 0, "i/o timeout"},
		{"the deadline passes in the second call", []error{refused, os.ErrDeadlineExceeded}, true, 600 * time.Millisecond, 0, "refused"},
		{"the second call hangs", []error{refused, os.ErrDeadlineExceeded}, false, 0, 0, "no answer in 1m0s; before that, refused"},
		{"the context ends after its deadline", []error{refused, os.ErrDeadlineExceeded}, true, 600 * time.Millisecond, time.Second, "refused"},
		{"the context ends after the last call", []error{refused, os.ErrDeadlineExceeded}, false, 600 * time.Millisecond, time.Second, "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deadline := time.Now().Add(time.Minute)
				end, cancel := context.WithDeadline(t.Context(), deadline.Add(c.late))
				defer cancel()
				calls := 0
				err := Poll(lateContext{end, deadline}, func() (again bool, err error) {
					err = c.errs[calls]
					calls++
					if calls == 1 && c.left > 0 {
						time.Sleep(time.Until(deadline) - c.left)
					}
					if err == os.ErrDeadlineExceeded {
						time.Sleep(time.Until(deadline)) // this uses the fake clock
					}
					return calls < len(c.errs) || c.again, err
				})
				if c.want == "" {
					assert.NilError(t, err)
				} else {
					assert.Error(t, err, c.want)
				}
				assert.Equal(t, calls, len(c.errs))
			})
		})
	}
}
