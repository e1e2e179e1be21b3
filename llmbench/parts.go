package llmbench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
)

// parts are the requests of a pass with [Load].Duration and [Load].More: part 0 is Requests, or what Fresh returns, and
// the further parts are drawn when they are needed. A part is forgotten when requests of a later part are made.
type parts struct {
	more  func(part int) ([]Request, error)
	begin []int       // index of the first request of each part that was drawn
	kept  [][]Request // the parts; nil if forgotten
	from  int         // number of the first part after part 0 that is not forgotten, less 1
	ended bool        // more has returned no requests
}

// at returns the request with index i, which must not belong to a part that is forgotten. Part 0 is never forgotten.
func (d *parts) at(i int) Request {
	part, found := slices.BinarySearch(d.begin, i)
	if !found {
		part--
	}
	return d.kept[part][i-d.begin[part]]
}

// forget forgets the parts before the part of the request with index i, except part 0.
func (d *parts) forget(i int) {
	for d.from+2 < len(d.begin) && d.begin[d.from+2] <= i {
		d.from++
		d.kept[d.from] = nil
	}
}

// passPlan returns the plan of the pass with the given number.
func passPlan(l *Load, t Target, number int) (*plan, error) {
	if len(l.Classes) > 0 {
		return mixPlan(l, t, number)
	}
	requests := l.Requests
	if l.Fresh != nil {
		var err error
		if requests, err = l.Fresh(number); err != nil {
			return nil, err
		}
		if err := l.checkCount(len(requests)); err != nil {
			return nil, err
		}
	}
	if l.More == nil {
		return timedPlan(l, t, requests, nil)
	}
	return timedPlan(l, t, requests, func(part int) ([]Request, error) { return l.More(number, part) })
}

// mixPlan returns the plan of the pass with the given number of a load with classes.
func mixPlan(l *Load, t Target, number int) (*plan, error) {
	pl := &plan{load: l, target: t, duration: l.sends()}
	var digests []string
	for i, one := range l.loops() {
		c, err := passPlan(&one, t, number)
		if err != nil {
			return nil, fmt.Errorf("class %s: %w", l.Classes[i].Name, err)
		}
		pl.classes = append(pl.classes, c)
		pl.requests, pl.samples = pl.requests+c.requests, pl.samples+c.samples
		digests = append(digests, c.digest)
	}
	pl.digest = strings.Join(digests, " ")
	pl.source.at = func(i int) Request { return pl.classes[i%len(pl.classes)].source.at(i / len(pl.classes)) }
	return pl, nil
}

// timedPlan returns the plan for a pass that sends requests for l.Duration: the given ones, and then what more returns
// for part 1, part 2 and so on, unless more is nil.
func timedPlan(l *Load, t Target, requests []Request, more func(part int) ([]Request, error)) (*plan, error) {
	pl, err := newPlan(l, t, requests)
	if err != nil || l.Duration == 0 {
		return pl, err
	}
	pl.duration = l.sends()
	if more == nil {
		return pl, nil
	}
	d := &parts{more: more, begin: []int{0}, kept: [][]Request{requests}}
	pl.parts, pl.source.at = d, d.at
	pl.build = func(i int) send.Post {
		d.forget(i)
		r := d.at(i)
		return pl.post(i, r, l.Cancel.leave(i, r))
	}
	return pl, nil
}

// draw draws the next part. It returns false if there is none.
func (pl *plan) draw() (bool, error) {
	d := pl.parts
	if d == nil || d.ended {
		return false, nil
	}
	requests, err := d.more(len(d.begin))
	if err != nil {
		return false, fmt.Errorf("part %d of the requests: %w", len(d.begin), err)
	}
	if len(requests) == 0 {
		d.ended = true
		return false, nil
	}
	d.begin, d.kept = append(d.begin, pl.requests), append(d.kept, requests)
	return true, pl.take(pl.requests+len(requests), digest{})
}

// reserve draws requests until there are n, so that none must be drawn during the pass. It draws fewer if their bodies
// take more memory than maxWaitingBytes.
func (pl *plan) reserve(n int) error {
	for pl.requests < n && pl.bytes < maxWaitingBytes {
		if more, err := pl.draw(); err != nil || !more {
			return err
		}
	}
	return nil
}

// sent returns how many of the first n requests belong to part 0.
func (pl *plan) sent(n int) int {
	if pl.parts != nil {
		return min(n, len(pl.parts.kept[0]))
	}
	return min(n, pl.source.n)
}

// leave draws whether the client of the request with index i leaves, and when.
// Unlike in [planLeaves], the share of the clients that leave is only about c.Share, because the number of requests is
// unknown.
func (c Cancel) leave(i int, of Request) send.Leave {
	r := rand.New(rand.NewPCG(c.Seed, 0x6c6566742d656172+uint64(i+1)*0x9e3779b97f4a7c15))
	if r.Float64() >= c.Share {
		return send.Leave{}
	}
	return c.draw(r, of)
}

// expectedRequests returns about how many requests a pass sends in a time if each takes as long as took, twice as many to
// be on the safe side. It returns 0 if that is not known.
func (l *Load) expectedRequests(took time.Duration) int {
	if took <= 0 {
		return 0
	}
	return int(min(1<<30, 2*float64(l.Concurrency)*float64(l.sends())/float64(took)))
}
