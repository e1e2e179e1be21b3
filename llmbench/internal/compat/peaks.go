package compat

import (
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// peaks returns the largest number of messages in one second, and the largest number of requests that were
// open in one second. Seconds count from the first send of a served request. The function events must call
// each with the instant of each message of a request. A request is open from its send until end.
func (g *gather) peaks(events func(q *records.Request, each func(time.Duration)) string, end func(*records.Request) (time.Duration, string)) (output, requests Value) {
	var from time.Duration
	for i, q := range g.ok {
		if i == 0 || q.Start < from {
			from = q.Start
		}
	}
	var chunks perSecond
	var touched overlaps
	add := func(at time.Duration) { chunks.add(max(0, at-from)) } // the kernel's timestamp may be slightly before the send
	output = g.each(func(q *records.Request) string { return events(q, add) })
	if output.known() {
		output = exact(float64(chunks.most))
	}
	requests = g.each(func(q *records.Request) string {
		to, why := end(q)
		touched.add((q.Start-from)/time.Second, max(q.Start-from, to-from)/time.Second)
		return why
	})
	if requests.known() {
		requests = exact(float64(touched.most()))
	}
	return output, requests
}

// A perSecond counts messages in each second.
type perSecond struct {
	at    []int32 // counts in the first maxSeconds seconds
	later map[time.Duration]int32
	most  int32
}

const maxSeconds = 1 << 16

func (c *perSecond) add(at time.Duration) {
	s := at / time.Second
	if s >= maxSeconds {
		if c.later == nil {
			c.later = map[time.Duration]int32{}
		}
		c.later[s]++
		c.most = max(c.most, c.later[s])
		return
	}
	for int(s) >= len(c.at) {
		c.at = append(c.at, 0)
	}
	c.at[s]++
	c.most = max(c.most, c.at[s])
}

// overlaps holds ranges of seconds. Both ends of a range belong to it.
type overlaps struct{ from, to []time.Duration }

func (o *overlaps) add(from, to time.Duration) {
	o.from, o.to = append(o.from, from), append(o.to, to)
}

// most returns the largest number of ranges that share a second.
func (o *overlaps) most() int {
	slices.Sort(o.from)
	slices.Sort(o.to)
	most, ended := 0, 0
	for i, at := range o.from {
		for o.to[ended] < at {
			ended++
		}
		most = max(most, i+1-ended)
	}
	return most
}
