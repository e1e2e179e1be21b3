package send

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
)

const (
	// assumedLongest is how long requests are assumed to take if none has ended yet.
	assumedLongest = time.Second
	// maxAhead is the maximum number of connections that are opened before an open loop without
	// MaxInFlight, because the number that is needed is only an estimate.
	maxAhead = 1024
)

// connectionsAhead returns for how many requests at the same time connections are opened before the pass. The
// argument longest is the duration of the longest post so far, in the warm-up or in earlier passes. The number is, summed
// over the classes:
//
//   - for a closed loop, one for each worker, or one for each turn that a session may have in flight, up to maxAhead
//   - for an open loop with MaxInFlight, MaxInFlight
//   - for other open loops, the maximum number of requests in flight according to the schedule, if
//     each request takes twice as long as the longest so far; but at most maxAhead
func (p *Pass) connectionsAhead(longest time.Duration) (n int) {
	for _, c := range p.Classes {
		switch {
		case c.Due == nil:
			users := min(len(c.Stays), c.Posts.N)
			n += max(users, min(maxAhead, users*c.width()))
		case c.MaxInFlight > 0:
			n += min(c.MaxInFlight, c.Posts.N)
		default:
			n += min(maxAhead, mostDue(c.Due, 2*cmp.Or(longest, assumedLongest)))
		}
	}
	return n
}

// mostDue returns the largest number of instants in due that are within any period of the given length. The
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

// openAhead opens connections until n requests can be sent at the same time. If the limits of the process do not
// allow that many connections, it returns an error. But if n is only an estimate, it opens fewer instead.
func (c *Client) openAhead(ctx context.Context, p *Pass, n int) error {
	if p.most() > 0 {
		c.pool.CloseUnusable()
		if err := c.checkLimits(n); err != nil {
			return fmt.Errorf("load: %w", err)
		}
	}
	c.Open(ctx, n, p.Timeout)
	return nil
}

// Open opens connections until n requests can be sent at the same time, and returns how many connections are open. It
// opens fewer if the limits of the process do not allow them, or if the server does not accept them within the timeout.
// Requests then open their own connections.
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

// checkLimits returns an error if the limits of the process do not allow the connections for n requests at the same
// time.
func (c *Client) checkLimits(n int) error {
	lacking := c.pool.Lacking(n)
	if c.server.Dial != nil || lacking == 0 {
		return nil
	}
	return conn.CheckLimits(lacking)
}

// lookAhead is the time between two looks at which users come next.
const lookAhead = 500 * time.Millisecond

// openForComing opens a connection for each user who comes, lookAhead to twice as long before, until ctx ends. A server may have
// closed the connections that were opened before the pass, and a user would then open one within its TTFT.
func (ps *passage) openForComing(ctx context.Context) {
	for at, last := lookAhead, ps.lastComes(); at < last; at += lookAhead {
		select {
		case <-time.After(at - ps.clock.Now()):
		case <-ctx.Done():
			return
		}
		if n := ps.coming(at, at+2*lookAhead); n > 0 {
			ctx, cancel := context.WithDeadline(ctx, ps.clock.Start().Add(at+lookAhead))
			ps.client.pool.Prepare(ctx, n)
			cancel()
		}
	}
}

// coming returns how many users there are between two instants, or 0 if none of them comes then.
func (ps *passage) coming(from, to time.Duration) (n int) {
	comes := false
	for _, lp := range ps.loops {
		for _, stays := range lp.class.Stays {
			there := false
			for _, stay := range stays {
				there = there || stay.From < to && stay.To > from
				comes = comes || stay.From >= from && stay.From < to
			}
			if there {
				n++
			}
		}
	}
	if !comes {
		return 0
	}
	return n
}

// lastComes returns the instant at which the last user comes.
func (ps *passage) lastComes() (last time.Duration) {
	for _, lp := range ps.loops {
		for _, stays := range lp.class.Stays {
			for _, stay := range stays {
				last = max(last, stay.From)
			}
		}
	}
	return last
}
