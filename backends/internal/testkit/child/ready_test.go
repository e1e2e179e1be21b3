package child

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

func TestWaitReady(t *testing.T) {
	loading := errors.New("loading")
	for name, tt := range map[string]struct {
		ready  time.Duration // when the process becomes ready
		call   time.Duration // how long a call takes
		ends   time.Duration // when the process ends; 0 means never
		cancel time.Duration // when the context ends; 0 means never
		want   string        // the expected error
		after  time.Duration // when WaitReady returns
	}{
		"at once":             {},
		"after some calls":    {ready: 100 * time.Millisecond, after: 100 * time.Millisecond},
		"never":               {ready: time.Hour, want: "not ready after 2m0s: loading", after: 2 * time.Minute},
		"canceled":            {ready: time.Hour, cancel: time.Second, want: "context canceled: loading", after: time.Second},
		"no answer":           {call: time.Hour, cancel: time.Second, want: "context canceled: no answer", after: time.Second},
		"the process ends":    {ready: time.Hour, ends: time.Second, want: "ended before it was ready: exit status 1", after: time.Second},
		"ends during a call":  {call: time.Hour, ends: time.Second, want: "ended before it was ready: exit status 1", after: time.Second},
		"another one answers": {call: 2 * time.Second, ends: time.Second, want: "ended before it was ready: exit status 1", after: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Process{Done: make(chan struct{})}
				if tt.ends != 0 {
					time.AfterFunc(tt.ends, func() {
						p.Err = errors.New("exit status 1")
						close(p.Done)
					})
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancel != 0 {
					time.AfterFunc(tt.cancel, cancel)
				}
				start := time.Now()
				err := p.WaitReady(ctx, func(ctx context.Context) error {
					select {
					case <-ctx.Done():
						if name == "another one answers" {
							return nil
						}
						return ctx.Err()
					case <-time.After(tt.call):
					}
					if time.Since(start) < tt.ready {
						return loading
					}
					return nil
				})
				assert.Equal(t, time.Since(start), tt.after)
				if tt.want == "" {
					assert.NilError(t, err)
				} else {
					assert.Error(t, err, tt.want)
				}
			})
		})
	}
}
