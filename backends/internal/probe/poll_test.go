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
		errs  []error // an error for each call of try
		again bool    // the result of the last call; the other calls return true
		late  time.Duration
		want  error
	}{
		{"the first answer is final", []error{refused}, false, 0, refused},
		{"success after a refusal", []error{refused, nil}, false, 0, nil},
		{"the deadline passes in the first call", []error{os.ErrDeadlineExceeded}, true, 0, os.ErrDeadlineExceeded},
		{"the deadline passes in the second call", []error{refused, os.ErrDeadlineExceeded}, true, 0, refused},
		{"the context ends after its deadline", []error{refused, os.ErrDeadlineExceeded}, true, time.Second, refused},
		{"the context ends after the last call", []error{refused, os.ErrDeadlineExceeded}, false, time.Second, refused},
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
					if err == os.ErrDeadlineExceeded {
						time.Sleep(time.Until(deadline)) // this uses the fake clock
					}
					return calls < len(c.errs) || c.again, err
				})
				assert.Equal(t, err, c.want)
				assert.Equal(t, calls, len(c.errs))
			})
		})
	}
}
