package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/router"
)

// A fleet is one or more server replicas behind a router.
type fleet struct {
	replicas []*engine.Engine
	router   router.Policy
	figures  *figures
	open     []int // number of unfinished requests at each replica
	ended    int   // number of requests that ended since the closed loop last reset the counter
}

func newFleet(p engine.Profile, n int, routing string) (*fleet, error) {
	f := &fleet{figures: &figures{}, open: make([]int, n)}
	r, err := newRouter(routing)
	if err != nil {
		return nil, err
	}
	f.router = r
	for i := range n {
		e, err := engine.New(p, engine.Watcher{Ended: func(s *engine.Sequence, at time.Duration) {
			f.open[i]--
			f.ended++
			f.figures.add(s)
		}})
		if err != nil {
			return nil, err
		}
		f.replicas = append(f.replicas, e)
	}
	return f, nil
}

// submit sends a job to the replica that the router chooses. If the replica refuses the job, submit counts the
// refusal and returns no error.
func (f *fleet) submit(at time.Duration, j engine.Job) error {
	f.advance(at)
	if f.figures.sent == 0 {
		f.figures.first = f.replicas[0].Now()
	}
	f.figures.sent++
	i := f.router.Choose(j.Prefix, f.open)
	_, err := f.replicas[i].Submit(at, j)
	var long *engine.TooLongError
	switch {
	case err == nil:
		f.open[i]++
	case errors.Is(err, engine.ErrQueueFull), errors.As(err, &long):
		f.figures.refused++
	default:
		return err
	}
	return nil
}

// next returns the next time at which any replica's state changes. ok is false if all replicas are idle.
func (f *fleet) next() (at time.Duration, ok bool) {
	for _, e := range f.replicas {
		if t, busy := e.NextChange(); busy && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}

func (f *fleet) advance(to time.Duration) {
	for _, e := range f.replicas {
		e.Advance(to)
	}
}

// drain serves the remaining requests.
func (f *fleet) drain() {
	for at, ok := f.next(); ok; at, ok = f.next() {
		f.advance(at)
	}
}

// openLoop submits the requests at their arrival times and serves them.
func (f *fleet) openLoop(load requests, report func(string)) error {
	for r, err := range load {
		if f.figures.sent%lookEvery == 0 {
			report(fmt.Sprintf("%d requests, %v of the load", f.figures.sent, f.replicas[0].Now().Round(time.Second)))
		}
		if err != nil {
			return err
		}
		if err := f.submit(r.at, r.job); err != nil {
			return fmt.Errorf("request %d: %w", f.figures.sent, err)
		}
	}
	f.drain()
	return nil
}

// lookEvery is the number of requests after which an open loop reports its progress.
const lookEvery = 4096

// closedLoop serves n jobs and keeps as many in flight as concurrency says.
func (f *fleet) closedLoop(l lengths, concurrency, n int, report func(string)) error {
	free := concurrency
	for i := 0; i < n; {
		report(fmt.Sprintf("%d of %d requests", i, n))
		now := f.replicas[0].Now()
		for ; free > 0 && i < n; i++ {
			j, err := l.job(i)
			if err != nil {
				return err
			}
			refused := f.figures.refused
			if err := f.submit(now, j); err != nil {
				return err
			}
			if f.figures.refused == refused {
				free--
			}
		}
		at, ok := f.next()
		if !ok {
			break
		}
		f.ended = 0
		f.advance(at)
		free += f.ended
	}
	f.drain()
	return nil
}

// counts returns the counts that the results contain, summed over all replicas. The other counts are 0.
func (f *fleet) counts() (c engine.Counts) {
	for _, e := range f.replicas {
		n := e.Counts()
		c.Preempted += n.Preempted
		c.Queried += n.Queried
		c.Hit += n.Hit
	}
	return c
}
