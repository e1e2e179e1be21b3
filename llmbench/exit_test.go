package llmbench

import (
	"context"
	"net"
	"runtime"
	"testing"
	"testing/synctest"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestExit checks what happens if Target.Dial ends its goroutine, as the method Fatal of package testing
// does. The pass must end with an error, and nothing may wait for the goroutine.
func TestExit(t *testing.T) {
	exit := func(context.Context, string, string) (net.Conn, error) {
		runtime.Goexit()
		return nil, nil
	}
	for name, l := range map[string]Load{
		"closed":  {Concurrency: 2},
		"open":    {Arrivals: arrivals.Constant{Rate: 10}},
		"bounded": {Arrivals: arrivals.Constant{Rate: 10}, MaxInFlight: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l.Requests = words(maxWaiting+9, 1)
				_, err := Pass(t.Context(), "", Target{URL: "http://mem", Simulated: true, Dial: exit}, l)
				assert.ErrorContains(t, err, "ended its goroutine with runtime.Goexit")
			})
		})
	}
}

// An exitingDialect ends the goroutine that builds the body of a request, if left is the number of bodies before it.
type exitingDialect struct {
	dialect.OpenAIChat
	left *int
}

func (d exitingDialect) Body(q dialect.Query) ([]byte, error) {
	if *d.left--; *d.left < 0 {
		runtime.Goexit()
	}
	return d.OpenAIChat.Body(q)
}

// TestBodyExit checks what happens if a dialect ends the goroutine that builds posts ahead. The pass must end
// with an error; otherwise requests would be missing without notice.
func TestBodyExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(mockserver.Config{})
		assert.NilError(t, err)
		target, stop := inMemory(t, srv)
		defer stop()
		target.Simulated = true
		const n = maxWaiting + 9
		left := n + maxWaiting + 4 // the first n bodies are the check before the pass
		target.Dialect = exitingDialect{left: &left}
		_, err = Pass(t.Context(), "", target, Load{Concurrency: 2, Requests: words(n, 1)})
		assert.ErrorContains(t, err, "ended its goroutine with runtime.Goexit")
	})
}

// TestTurnExit checks what happens if a dialect ends the goroutine of a session, of which another turn is in flight. The pass
// must wait for that turn, and end with an error.
func TestTurnExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms})
		assert.NilError(t, err)
		target, stop := inMemory(t, srv)
		defer stop()
		target.Simulated = true
		left := 3 + 2 // the check of three turns before the pass, turn 0 and turn 1
		target.Dialect = exitingDialect{left: &left}
		_, err = Pass(t.Context(), "", target, Load{Concurrency: 1, Requests: []Request{{Prompt: "one", MaxTokens: 1, Then: []Turn{
			{Prompt: "two", MaxTokens: 100, Whole: true, After: []int{}},
			{Prompt: "three", MaxTokens: 1, After: []int{0}},
		}}}})
		assert.ErrorContains(t, err, "ended its goroutine with runtime.Goexit")
	})
}
