package gatewaytest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

var leakCases = []testCase{
	{class: "leak", name: "whole", does: "many answers that are not streamed", plan: plan{}, run: leaks, alone: true},
	{class: "leak", name: "stream", does: "many streams", plan: plan{stream: true}, run: leaks, alone: true},
	{class: "leak", name: "left", does: "many streams whose clients leave", plan: plan{stream: true, leave: afterEvents, config: mockserver.Config{PerToken: 200 * time.Microsecond, Faults: endless.Faults}}, run: leaks, alone: true},
	{class: "leak", name: "broken", does: "many streams that break", plan: plan{stream: true, config: mockserver.Config{Faults: failing(fault.Reset).Faults}}, run: leaks, alone: true},
}

// The least that counts as a leak, per request: bytes, and goroutines or files.
const (
	leastBytes = 256
	leastCount = 0.1
)

// The measurement of a leak: the number of requests in a block, with memory that has no garbage and otherwise; the blocks
// that warm the gateway up, and those that count; the longest time of a block; the requests at the same time.
const (
	liveBlock     = 32
	residentBlock = 600
	warmBlocks    = 2
	leakBlocks    = 16
	blockTime     = time.Second
	leakUsers     = 8
)

// grainBytes is by how much resident memory may grow and shrink without a reason in the requests, such as by the pages that
// an allocator keeps. A leak of less than that, in all requests together, is not noticed.
const grainBytes = 8 << 20

// leaks runs a case of many requests, and finds out what each of them leaves behind. A gateway that is new to its work grows
// for a while: only what also grows during a second measurement, which is twice as long, is a leak.
func leaks(k *kit, c testCase) (r Result) {
	if k.o.Measure == nil {
		r.Skipped = unmeasured
		return r
	}
	first, err := k.o.Measure()
	size := residentBlock
	if first.Live {
		size = liveBlock
	}
	for range warmBlocks {
		k.block(c.plan, size, blockTime)
	}
	var g growth
	for stage := 1; stage <= 2 && err == nil; stage++ {
		if g, err = k.grows(c.plan, stage*size, time.Duration(stage)*blockTime); err == nil && len(g.findings()) == 0 {
			break
		}
	}
	if err != nil {
		r.Skipped = fmt.Sprintf("the gateway could not be measured: %v", err)
		return r
	}
	r.Findings, r.Facts = g.findings(), g.facts()
	if g.least > leastBytes {
		r.Facts = append(r.Facts, fmt.Sprintf("a leak of less than %.0f bytes a request is not noticed with %d requests, because resident memory has a grain of %s", g.least, g.requests, megabytes(grainBytes)))
	}
	return r
}

// A growth is by how much a gateway grows with each request.
type growth struct {
	requests                 int
	bytes, goroutines, files robust.Trend
	least                    float64 // bytes a request that count as a leak
}

// grows sends blocks of requests and measures the gateway after each.
func (k *kit) grows(p plan, size int, limit time.Duration) (g growth, err error) {
	g.least = leastBytes
	var xs, bytes, goroutines, files []float64
	for range leakBlocks {
		g.requests += k.block(p, size, limit)
		f, err := k.o.Measure()
		if err != nil {
			return g, err
		}
		if !f.Live {
			g.least = max(leastBytes, grainBytes/float64(g.requests))
		}
		xs = append(xs, float64(g.requests))
		bytes, goroutines, files = append(bytes, float64(f.Bytes)), append(goroutines, float64(f.Goroutines)), append(files, float64(f.Files))
	}
	g.bytes, g.goroutines, g.files = robust.TrendOf(xs, bytes), robust.TrendOf(xs, goroutines), robust.TrendOf(xs, files)
	return g, nil
}

// block sends up to n requests, of several clients, until the time is over, and returns their number, which is at least 1.
func (k *kit) block(p plan, n int, limit time.Duration) int {
	end := time.Now().Add(limit)
	var sent, done atomic.Int64
	var wg sync.WaitGroup
	for user := range leakUsers {
		wg.Go(func() {
			for sent.Add(1) <= int64(n) && (done.Load() == 0 || time.Now().Before(end)) {
				k.newExchange(p, k.key(user)).do(context.Background())
				done.Add(1)
			}
		})
	}
	wg.Wait()
	return int(done.Load())
}

// findings returns what the gateway leaves behind.
func (g growth) findings() (all []Finding) {
	if t := g.bytes; t.Low > g.least {
		all = append(all, Finding{Rule: "memory", Says: fmt.Sprintf("each request leaves %.0f bytes behind in the gateway (%.0f to %.0f, from %d requests)", t.Slope, t.Low, t.High, g.requests)})
	}
	for _, c := range []struct {
		rule, what string
		robust.Trend
	}{{"goroutines", "goroutines", g.goroutines}, {"files", "open files or connections", g.files}} {
		if c.Low > leastCount {
			all = append(all, Finding{Rule: c.rule, Says: fmt.Sprintf("each request leaves %.2f %s behind in the gateway (%.2f to %.2f, from %d requests)", c.Slope, c.what, c.Low, c.High, g.requests)})
		}
	}
	return all
}

// facts returns the figures.
func (g growth) facts() []string {
	return []string{fmt.Sprintf("the gateway grew by %.0f bytes a request (%.0f to %.0f, from %d requests)", g.bytes.Slope, g.bytes.Low, g.bytes.High, g.requests)}
}
