package send

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
)

const (
	// assumedLongest is how long requests are assumed to take before any has ended.
	assumedLongest = time.Second
	// maxAhead is how many connections are opened ahead at most for an open loop without
	// MaxInFlight, whose need is only an estimate.
	maxAhead = 1024
)

// connectionsAhead returns how many connections to open before the pass, if the longest post before it took
// that long:
//
//   - for a closed loop, one for each worker
//   - for an open loop with MaxInFlight, as many as that
//   - for other open loops, as many as the schedule has requests in flight at once if each takes
//     twice the longest time that a request took before, in the warm-up or in earlier passes;
//     at most maxAhead
func (p *Pass) connectionsAhead(longest time.Duration) int {
	switch {
	case p.Due == nil:
		return min(p.Workers, p.Posts.N)
	case p.MaxInFlight > 0:
		return min(p.MaxInFlight, p.Posts.N)
	case longest == 0:
		longest = assumedLongest
	}
	due := make([]time.Duration, p.Posts.N) // those of this process
	for k := range due {
		due[k] = p.Due[p.Posts.Index(k)]
	}
	return min(maxAhead, mostDue(due, 2*longest))
}

// mostDue returns the largest number of instants of due within any time of that length. The
// instants must be in order.
func mostDue(due []time.Duration, length time.Duration) (most int) {
	first := 0
	for i, at := range due {
		for at-due[first] > length {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// openAhead opens connections until n are open. If the process may not open as many, it fails,
// or opens fewer if n is an estimate.
func (c *Client) openAhead(ctx context.Context, p *Pass, n int) error {
	if p.Workers > 0 || p.MaxInFlight > 0 {
		c.pool.CloseUnusable()
		if err := c.checkLimits(n); err != nil {
			return fmt.Errorf("load: %w", err)
		}
	}
	c.Open(ctx, n, p.Timeout)
	return nil
}

// Open opens connections until n are open, and returns how many are. It opens fewer if the process may not open as
// many, or if the server does not let it within the timeout; requests then open their own.
func (c *Client) Open(ctx context.Context, n int, timeout time.Duration) int {
	if n > 0 {
		c.pool.CloseUnusable()
	}
	for n > 0 && c.checkLimits(n) != nil {
		n /= 2
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c.pool.Prepare(ctx, n)
	return c.pool.Open()
}

// checkLimits returns an error if the process may not have n connections open.
func (c *Client) checkLimits(n int) error {
	if c.server.Dial != nil || n <= c.pool.Open() {
		return nil
	}
	return conn.CheckLimits(n - c.pool.Open())
}
