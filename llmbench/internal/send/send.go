package send

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
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

	ps := &passage{client: c, number: c.passes.Add(1), pass: p, giveUp: giveUp}
	for i := range p.Classes {
		defer ps.addLoop(ctx, &p.Classes[i])()
	}
	beside := p.Beside
	if beside == nil || c.pool.Stamped(ctx) {
		beside = nothing{}
	}
	beside.Open(ctx, ahead)
	start, err := p.With.Start()
	if err != nil {
		giveUp(err)
		for _, lp := range ps.loops {
			lp.drain()
		}
		return r, false, err
	}
	beside.Begin(ctx, ahead, start)
	before := strain.Read()
	ps.clock = conn.NewClockAt(start, c.wall)
	ps.beganLate(ps.clock.Now())
	ps.recorder = newRecorder(p, ps.clock, c.server.Secrets, giveUp)
	others := p.With.Collect(func(s *sample.Sample) {
		c.ended.Add(1)
		ps.recorder.take(s)
	})
	unwatch := ps.watch(ctx)
	var wg sync.WaitGroup
	for _, lp := range ps.loops {
		wg.Go(func() { lp.run(ctx) })
	}
	opening, enough := context.WithCancel(ctx)
	opened := make(chan struct{})
	go func() { defer close(opened); ps.openForComing(opening) }()
	wg.Wait()
	enough()
	<-opened
	unwatch()
	beside.End()
	r.Strain = strain.Read().Since(before)
	r.ClockChange = ps.clock.WallChange()
	r.Late = ps.late
	for _, lp := range ps.loops {
		r.Stopped, r.Cut = cmp.Or(r.Stopped, lp.stopped), r.Cut || lp.cut.Load()
	}
	lost := others()
	err = ps.recorder.close()
	r.RecorderWait, r.LateTurns = time.Duration(ps.recorder.waited.Load()), ps.recorder.late
	c.longest = max(c.longest, ps.longest)
	if err == nil {
		err = ps.check()
	}
	return r, true, cmp.Or(lost, err)
}

// addLoop adds the loop of a class, and begins to build its posts. The caller must call enough at the end of the pass.
func (ps *passage) addLoop(ctx context.Context, of *Class) (enough func()) {
	lp := &loop{passage: ps, class: of, ended: make(chan struct{})}
	ctx, lp.enough = context.WithCancel(ctx)
	posts := ps.client.presigned(of)
	lp.posts = posts.feed(ctx, ps.pass.For == 0 || of.Due != nil, lp.guard, lp.failDraw)
	ps.loops = append(ps.loops, lp)
	return lp.enough
}

// check returns an error if the pass is not valid although all its samples were kept.
func (ps *passage) check() error {
	if ps.exited.Load() {
		return errExited
	}
	for _, lp := range ps.loops {
		if lp.undrawn != nil {
			return lp.undrawn
		}
	}
	if err := ps.recorder.audit.Check(&ps.flight, ps.pass.most()); err != nil {
		return fmt.Errorf("the pass contradicts itself: %w", err)
	}
	if n := ps.client.pool.Strays(min(ps.longest, strayTime)); n > 0 {
		return fmt.Errorf("the server sent answers that no request asked for, on %d connections: they may have been taken for the answers to later requests", n)
	}
	return nil
}

// strayTime is the maximum time for which the client waits, after a pass, for answers without a request.
const strayTime = 50 * time.Millisecond
