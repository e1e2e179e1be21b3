package shard

import (
	"fmt"
	"sync"
	"time"
)

// The steps at the end of a group.
const (
	stepEnd    = "the end"
	stepStatus = stepEnd + ": status"
)

// Finish ends a group normally. It is the only way to do so, and all processes must call it: a process that
// leaves in another way is lost to the others. Finish returns the largest status of all processes, the same in
// all of them, or an error in all of them.
//
// Each process sends its status to shard 0. When shard 0 has all of them, it decides: either the group has
// failed by then, or it has finished, and nothing that happens later changes that. Shard 0 tells the decision
// to all, and leaves last. The other processes wait for the decision, even if they are interrupted meanwhile. Only
// a process whose connection is cut just then cannot know the decision, and has an error.
func (g *Group) Finish(status byte) (byte, error) {
	all, err := g.Gather(stepEnd, []byte{status}, nil)
	if err != nil {
		return 0, err
	}
	if !g.leads() {
		return g.links[0].decision()
	}
	for _, data := range all {
		if len(data) == 1 {
			status = max(status, data[0])
		}
	}
	if err := g.complete(); err != errClosed {
		return 0, err
	}
	var wg sync.WaitGroup
	for _, l := range g.links {
		wg.Go(func() {
			if l.write(message{stepStatus, []byte{status}}.frame(), g.silence) == nil {
				l.awaitLeave(g.silence)
			}
		})
	}
	wg.Wait()
	return status, nil
}

// decision waits for the decision of shard 0. It returns the status, or the reason why the group has failed. A
// status counts even if the group has failed in this process, which was then interrupted too late.
func (l *link) decision() (status byte, err error) {
	g := l.group
	var f frame
	var live bool
	select {
	case f, live = <-l.in:
	case <-l.told:
	}
	if !live { // the reason came, or the connection was lost
		return 0, g.Err()
	}
	m, err := parseMessage(f.data)
	if err != nil || f.kind != kindStep || m.step != stepStatus || len(m.data) != 1 {
		return 0, g.end(fmt.Errorf("%s is at %q, and %s at %q: want the same benchmarks in the same order in all shards", l.name, m.step, g.name, stepStatus), nil)
	}
	g.complete()
	return m.data[0], nil
}

// awaitLeave waits until the other process has left, but not longer than limit.
func (l *link) awaitLeave(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case _, live := <-l.in:
			if !live {
				return
			}
		case <-timer.C:
			return
		}
	}
}
