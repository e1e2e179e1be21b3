package probe

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// TestCompletionWaits checks how long the wait for a server pauses after a server has refused a
// request.
func TestCompletionWaits(t *testing.T) {
	const deadline = time.Minute
	for _, c := range []struct {
		status     int
		retryAfter string
		refusals   int
		least      time.Duration // the shortest time until the wait ends
		most       time.Duration
		err        string
	}{
		{http.StatusTooManyRequests, "7", 1, 7 * time.Second, 8 * time.Second, ""},
		{http.StatusTooManyRequests, "", 3, 3 * time.Second, 4 * time.Second, ""},
		{http.StatusServiceUnavailable, "5", 2, 10 * time.Second, 11 * time.Second, ""},
		{http.StatusServiceUnavailable, "", 1, 0, time.Second, ""},
		{http.StatusTooManyRequests, "3600", 1, 0, time.Second, "status 429 Too Many Requests"},
		{http.StatusBadRequest, "1", 1, 0, time.Second, "status 400 Bad Request"},
	} {
		t.Run(fmt.Sprintf("%d-%s", c.status, c.retryAfter), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				left := c.refusals
				ln := memnet.Listen()
				srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if left--; left >= 0 {
						if c.retryAfter != "" {
							w.Header().Set("Retry-After", c.retryAfter)
						}
						w.WriteHeader(c.status)
						return
					}
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, `{"choices":[{"message":{"content":"a"},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
				})}
				var wg sync.WaitGroup
				wg.Go(func() { srv.Serve(ln) })
				defer func() { srv.Close(); wg.Wait() }()
				ctx, cancel := context.WithTimeout(t.Context(), deadline)
				defer cancel()
				began := time.Now()
				_, _, err := Completion(ctx, llmbench.Target{URL: "http://mem", Model: "m", Dial: ln.Dial}, false, func(error) {})
				if c.err == "" {
					assert.NilError(t, err)
				} else {
					assert.ErrorContains(t, err, c.err)
				}
				waited := time.Since(began)
				assert.Assert(t, waited >= c.least && waited < c.most, "waited %v", waited)
			})
		})
	}
}

// TestCompletionHangs checks the reasons for a wait for a server that refuses connections for a second, and
// then accepts them and never answers.
func TestCompletionHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		dial := func(context.Context, string, string) (net.Conn, error) {
			if time.Since(began) < time.Second {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
			}
			client, server := net.Pipe()
			go io.Copy(io.Discard, server)
			return client, nil
		}
		var told []string
		w := NewWatch(func(_ time.Duration, last error) { told = append(told, Reason(last)) })
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		_, _, err := Completion(ctx, llmbench.Target{URL: "http://mem", Model: "m", Dial: dial}, false, w.Attempt)
		w.Stop()
		assert.Error(t, err, "no answer in 14s; before that, connection refused")
		assert.DeepEqual(t, told, []string{"connection refused", "no answer in 9.9s"})
	})
}
