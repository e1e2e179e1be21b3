package send

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Pass sends every post of p once. It returns when every request and every goroutine of the pass has ended;
// the deadlines of p limit the time, unless the tokenizer hangs. The result began is false if the pass
// could not begin. If the pass began, the error says that its samples contradict each other, or that not
// all of them could be kept.
func (c *Client) Pass(ctx context.Context, p *Pass) (r Result, began bool, err error) {
	if p.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.Limit, errors.New("the pass's deadline passed: "+p.Limit.String()))
		defer cancel()
	}
	ahead := p.connectionsAhead(c.longest)
	if err := c.openAhead(ctx, p, ahead); err != nil {
		return r, false, err
	}
	defer c.pool.CloseUnused()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)

	lp := &loop{client: c, number: c.passes.Add(1), pass: p, giveUp: giveUp, ended: make(chan struct{})}
	posts := c.presigned(p)
	drawing, enough := context.WithCancel(ctx)
	defer enough()
	lp.enough = enough
	lp.posts = posts.feed(drawing, p.For == 0, lp.guard, lp.failDraw)
	beside := p.Beside
	if beside == nil || c.pool.Stamped(ctx) {
		beside = nothing{}
	}
	beside.Open(ctx, ahead)
	start, err := p.With.Start()
	if err != nil {
		giveUp(err)
		lp.drain()
		return r, false, err
	}
	beside.Begin(ctx, ahead, start)
	before := strain.Read()
	lp.clock = conn.NewClockAt(start, c.wall)
	lp.beganLate(lp.clock.Now())
	lp.recorder = newRecorder(p, lp.clock, c.server.Secrets, giveUp)
	others := p.With.Collect(func(s *sample.Sample) {
		c.ended.Add(1)
		lp.recorder.take(s)
	})
	unwatch := lp.watch(ctx)
	if p.Due != nil {
		lp.open(ctx)
	} else {
		lp.closed(ctx)
	}
	unwatch()
	beside.End()
	r.Strain = strain.Read().Since(before)
	r.ClockChange = lp.clock.WallChange()
	r.Late, r.Stopped = lp.late, lp.stopped
	lost := others()
	err = lp.recorder.close()
	r.RecorderWait, r.LateTurns = time.Duration(lp.recorder.waited.Load()), lp.recorder.late
	c.longest = max(c.longest, lp.longest)
	if err == nil {
		err = lp.check()
	}
	return r, true, cmp.Or(lost, err)
}

// check returns an error if the pass is not valid although all its samples were kept.
func (lp *loop) check() error {
	if lp.exited.Load() {
		return errExited
	}
	if lp.undrawn != nil {
		return lp.undrawn
	}
	if err := lp.recorder.audit.Check(&lp.flight, len(lp.pass.Stays)+lp.pass.MaxInFlight); err != nil {
		return fmt.Errorf("the pass contradicts itself: %w", err)
	}
	if n := lp.client.pool.Strays(min(lp.longest, strayTime)); n > 0 {
		return fmt.Errorf("the server sent answers that no request asked for, on %d connections: they may have been taken for the answers to later requests", n)
	}
	return nil
}

// strayTime is the maximum time for which the client waits, after a pass, for answers without a request.
const strayTime = 50 * time.Millisecond
