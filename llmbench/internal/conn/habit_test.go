package conn

import (
	"context"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// TestHabit checks that the server's closing of an idle connection counts as a habit only if it comes soon
// after an answer.
func TestHabit(t *testing.T) {
	for idle, want := range map[time.Duration]int64{soonAfterAnswer: 1, soonAfterAnswer + 1: 0} {
		t.Run(fmt.Sprint(idle), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, Options{URL: "http://server"})
				client, server := net.Pipe()
				ended := make(chan bool)
				c := newConn(endingConn{client, ended}, 0, func() {})
				c.setStream(c)
				c.used = true
				p.put(c)
				server.Close()
				close(ended)
				time.Sleep(idle) // of the fake clock
				p.CloseUnusable()
				assert.Equal(t, len(p.idle), 0)
				assert.Equal(t, p.ended.Load(), want)
			})
		})
	}
}

// TestTrial checks a server that has closed its first connection. It must count as a server that keeps
// connections once it has left one open for long enough, and not before.
func TestTrial(t *testing.T) {
	for _, tt := range []struct {
		name   string
		ends   int           // how many of the first connections end after one answer
		pause  time.Duration // after each request
		dialed int           // number of connections that are opened for nine requests
	}{
		{"keeps all but the first", 1, 500 * ms, 5}, // the second is on trial until the fifth request has ended
		{"keeps all but the first, no time passes", 1, 0, 9},
		{"keeps none", 9, 500 * ms, 9},
		{"keeps none, pauses longer than a trial", 9, trialTime + 1, 9},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dialed := 0
				p := newPool(t, Options{URL: "http://server", Dial: func(context.Context, string, string) (net.Conn, error) {
					dialed++
					ends := dialed <= tt.ends
					client, server := net.Pipe()
					ended := make(chan bool)
					go func() {
						defer close(ended)
						defer server.Close()
						runtest.EachRequest(server, func(c net.Conn, _ int) bool {
							answer(c)
							return !ends
						})
					}()
					return endingConn{client, ended}, nil
				}})
				for range 9 {
					trace, _, err := post(t.Context(), p, "http://server")
					assert.NilError(t, err)
					assert.Equal(t, trace.Attempts, 1)
					synctest.Wait() // the server closes the connection, if it does so now
					if p.ended.Load() == 0 {
						p.CloseUnusable() // the end is seen soon after the answer
					}
					time.Sleep(tt.pause) // of the fake clock
				}
				assert.Equal(t, dialed, tt.dialed)
				p.CloseIdle()
				assert.Equal(t, p.Open(), 0)
				synctest.Wait()
			})
		})
	}
}
