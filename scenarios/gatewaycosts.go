package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// A reading is what a gateway has used and occupies at an instant.
type reading struct {
	at     time.Time
	cpu    time.Duration
	memory int64 // bytes
}

// readingOf reads what a gateway occupies.
func readingOf(o llmbench.FootprintObserver) (r reading, err error) {
	r.at = time.Now()
	r.cpu, r.memory, err = o.Footprint()
	return r, err
}

// footprintOf returns what knows the processes of a target, or nil.
func footprintOf(t llmbench.Target) llmbench.FootprintObserver {
	if t.Observe == nil {
		return nil
	}
	o, _ := t.Observe().(llmbench.FootprintObserver)
	return o
}

// An occupancy observes a gateway while it has open streams, and afterwards.
type occupancy struct {
	llmbench.FootprintObserver
	idle    [2]reading // before any load
	streams int
	every   time.Duration // between two readings
	recover time.Duration // how long memory may take to be given back

	readings []reading // of the current pass
	stop     func()
}

// Before begins to read.
func (o *occupancy) Before(ctx context.Context) error {
	if err := o.FootprintObserver.Before(ctx); err != nil {
		return err
	}
	o.readings = nil
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if r, err := readingOf(o); err == nil {
				o.readings = append(o.readings, r)
			}
			select {
			case <-quit:
				return
			case <-ctx.Done(): // another observer has failed
				return
			case <-time.After(o.every):
			}
		}
	}()
	o.stop = sync.OnceFunc(func() { close(quit); <-ended })
	return nil
}

// After returns the figures of the pass.
func (o *occupancy) After(ctx context.Context) (map[string]float64, error) {
	o.stop()
	if _, err := o.FootprintObserver.After(ctx); err != nil {
		return nil, err
	}
	after, err := o.leastWithin(ctx, o.recover)
	if err != nil {
		return nil, err
	}
	return o.figures(after)
}

// leastWithin returns the least memory within a time.
func (o *occupancy) leastWithin(ctx context.Context, limit time.Duration) (least int64, err error) {
	for end := time.Now().Add(limit); ; {
		r, err := readingOf(o)
		if err != nil {
			return 0, err
		}
		if least == 0 || r.memory < least {
			least = r.memory
		}
		if least <= o.idle[1].memory || !time.Now().Before(end) {
			return least, nil
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(o.every):
		}
	}
}

// figures returns the figures of the streams. They begin within the first sixth of the pass, and end in the last one.
func (o *occupancy) figures(after int64) (map[string]float64, error) {
	if len(o.readings) == 0 {
		return nil, fmt.Errorf("the gateway's memory could not be read while %d streams were open", o.streams)
	}
	first, last := o.readings[0].at, o.readings[len(o.readings)-1].at
	span := last.Sub(first)
	steady := slices.DeleteFunc(slices.Clone(o.readings), func(r reading) bool {
		return r.at.Before(first.Add(2*span/5)) || r.at.After(first.Add(7*span/10))
	})
	if len(steady) < 2 {
		return nil, fmt.Errorf("%d readings of the gateway's memory while %d streams were open: want more", len(steady), o.streams)
	}
	var memory []float64
	for _, r := range steady {
		memory = append(memory, float64(r.memory))
	}
	idle, open := float64(o.idle[1].memory), robust.Median(memory)
	figures := map[string]float64{
		"gw-idle-MB": idle / 1e6, "gw-open-MB": open / 1e6, "gw-after-MB": float64(after) / 1e6,
		"gw-kB/stream":    (open - idle) / float64(o.streams) / 1e3,
		"gw-idle-cpu-%":   100 * share(o.idle[0], o.idle[1]),
		"gw-cpu-%/stream": 100 * share(steady[0], steady[len(steady)-1]) / float64(o.streams),
	}
	return figures, nil
}

// share returns the share of a core that was used between two readings.
func share(from, to reading) float64 {
	return (to.cpu - from.cpu).Seconds() / to.at.Sub(from.at).Seconds()
}

// costs measures the rows of the gateway's memory and CPU time.
func (g *gatewayRun) costs(b *testing.B) {
	var idle [2]reading
	err := errors.ErrUnsupported
	if g.footprint != nil {
		idle[0], err = readingOf(g.footprint)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		harness.Note(b, "memory and CPU time are left out: they need a gateway that llmbench starts on Linux (backends.Process, LLMBENCH_BACKEND=process)")
		return
	}
	select {
	case <-harness.Context(b).Done():
	case <-time.After(pick(g.server, 5*time.Second, 2*time.Second)):
	}
	if err == nil {
		idle[1], err = readingOf(g.footprint)
	}
	if err != nil {
		b.Fatal(err)
	}
	s := g.server
	for _, n := range g.concurrencies(pick(g.server, 1024, 256)) {
		s.target.Observe = func() llmbench.Observer {
			return &occupancy{FootprintObserver: footprintOf(g.target), idle: idle, streams: n, every: 50 * time.Millisecond, recover: pick(g.server, 30*time.Second, 10*time.Second)}
		}
		b.Run(fmt.Sprintf("streams=%d", n), func(b *testing.B) {
			s.run(b, s.fresh(b, g.open(n), n, 0, g.long()))
		})
	}
	g.growth(b)
}

// The blocks of requests after which memory is read: those that warm the gateway up, and those that count.
const (
	warmBlocks   = 4
	growthBlocks = 16
)

// growth measures by how much memory grows with the number of requests.
func (g *gatewayRun) growth(b *testing.B) {
	size := pick(g.server, 5000, 1000)
	b.Run(fmt.Sprintf("of=growth/requests=%d", growthBlocks*size), func(b *testing.B) {
		g.announced(b)
		var t robust.Trend
		for more := harness.Loop(b); more(); {
			var err error
			if t, err = growth(harness.Context(b), b.Name(), g.target, g.bounded(llmbench.Load{Concurrency: 32}), repeated(g.drawPrompts(64, 1)), size, g.footprint); err != nil {
				judged(b, err)
			}
		}
		b.ReportMetric(0, "ns/op")
		harness.Report(b, t.Slope, "gw-growth-MB/Mreq")
		harness.Report(b, t.Low, "gw-growth-low-MB/Mreq")
		harness.Report(b, t.High, "gw-growth-high-MB/Mreq")
	})
}

// growth sends blocks of requests, reads the memory after each, and returns by how many bytes it grows with each request,
// which is by how many megabytes with each million.
func growth(ctx context.Context, name string, target llmbench.Target, l llmbench.Load, draw drawFunc, size int, o llmbench.FootprintObserver) (robust.Trend, error) {
	var requests, memory []float64
	l.ClientBound = llmbench.BoundReported // nothing is timed
	for block := range warmBlocks + growthBlocks {
		var err error
		if l.Requests, err = draw(size, uint64(block)<<32); err != nil {
			return robust.Trend{}, err
		}
		result, err := llmbench.Pass(ctx, name, target, l)
		if err != nil {
			return robust.Trend{}, err
		}
		failed := firstFailure(result.All())
		if err := result.Close(); err != nil {
			return robust.Trend{}, err
		}
		if failed != nil {
			return robust.Trend{}, fmt.Errorf("%w: a request failed while memory was measured: %w", search.ErrCannotJudge, failed)
		}
		r, err := readingOf(o)
		if err != nil {
			return robust.Trend{}, err
		}
		if block >= warmBlocks {
			requests, memory = append(requests, float64(block*size)), append(memory, float64(r.memory))
		}
	}
	return robust.TrendOf(requests, memory), nil
}
