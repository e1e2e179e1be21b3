package backends

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/program"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const (
	cpuUnit  = "srv-cpu-s/ktok"
	rateUnit = sample.PerCore
	peakUnit = "srv-peak-MB"
)

func init() {
	llmbench.RegisterUnits(
		sample.Unit{Name: cpuUnit, Better: "lower", Core: true, Means: "CPU seconds of the programs of `backends.Process` and their children / 1,000 output tokens. Linux only."},
		sample.Unit{Name: rateUnit, Better: "higher", Core: true, Means: "Successful requests / CPU seconds of the programs of `backends.Process` and their children: the requests a second that one core can serve. Linux only."},
		sample.Unit{Name: peakUnit, Better: "lower", Core: true, Means: "Largest resident memory of the programs of `backends.Process` and their children, in 1,000,000 bytes, read every half second. Shared pages count for each process. Linux only."},
	)
}

// memoryInterval is the time between two readings of the programs' memory in a pass.
const memoryInterval = 500 * time.Millisecond

// A costs observes a [Process]: its metrics, and the CPU time and memory of its programs.
type costs struct {
	*metrics.Observer
	of *started

	before time.Duration // CPU time before the current pass
	cpu    time.Duration // CPU time in all passes
	peak   int64         // largest memory so far, in bytes
	stop   func()        // stops the reading of memory during a pass; nil if none is running
	err    error         // why CPU time and memory cannot be read, or nil
	told   bool          // whether err was returned to the caller
}

// usage returns the CPU time and memory that all programs have used.
func (s *started) usage() (all program.Usage, err error) {
	for _, p := range s.parts {
		u, err := p.program.Usage()
		if err != nil {
			return all, err
		}
		all.CPU += u.CPU
		all.Memory += u.Memory
		all.Peak = max(all.Peak, u.Peak)
	}
	return all, nil
}

// Before prepares a pass: it empties the prefix cache if that is possible, and reads the counters and the
// CPU time. It returns an error if a program has exited.
func (c *costs) Before(ctx context.Context) error {
	err := context.Cause(ctx)
	if err == nil && c.of.ended() == "" {
		err = c.Observer.Before(ctx)
	}
	if end := c.of.endAfter(err); end != "" && ctx.Err() == nil {
		return c.of.failure("after it was ready", errors.New(end))
	}
	if err != nil || c.err != nil {
		return err
	}
	for _, p := range c.of.parts {
		p.program.ResetPeak()
	}
	u, err := c.of.usage()
	if c.before, c.err = u.CPU, err; err != nil {
		return nil
	}
	c.stop = probe.Every(memoryInterval, func(context.Context) {
		if u, err := c.of.usage(); err == nil {
			c.peak = max(c.peak, u.Memory, u.Peak)
		}
	})
	return nil
}

// After returns the metrics over all passes so far.
func (c *costs) After(ctx context.Context) (map[string]float64, error) {
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
	if c.err == nil {
		u, err := c.of.usage()
		c.cpu += u.CPU - c.before
		c.peak = max(c.peak, u.Memory, u.Peak)
		c.err = err
	}
	figures, err := c.Observer.After(ctx)
	if c.err == nil {
		if figures == nil {
			figures = map[string]float64{}
		}
		figures[peakUnit] = float64(c.peak) / 1e6
	} else if !c.told && !errors.Is(c.err, errors.ErrUnsupported) {
		c.told = true
		err = errors.Join(err, fmt.Errorf("what it costs: %w", c.err))
	}
	return figures, err
}

// FiguresOf returns the CPU time per 1,000 output tokens of samples, and the requests per second of CPU time.
func (c *costs) FiguresOf(samples iter.Seq[*sample.Sample]) map[string]float64 {
	tokens, requests := 0, 0
	for s := range samples {
		if s.Outcome == sample.OK {
			tokens += s.OutputTokens
			requests++
		}
	}
	figures := map[string]float64{}
	if c.err == nil && tokens > 0 {
		figures[cpuUnit] = c.cpu.Seconds() / float64(tokens) * 1000
	}
	if c.err == nil && requests > 0 && c.cpu > 0 {
		figures[rateUnit] = float64(requests) / c.cpu.Seconds()
	}
	return figures
}

// Footprint returns what the programs have used and occupy now.
func (c *costs) Footprint() (cpu time.Duration, memory int64, err error) {
	u, err := c.of.usage()
	return u.CPU, u.Memory, err
}

// observe finds out where the counters of the server and of a gateway are, and whether the server's prefix cache can be
// emptied.
func (s *started) observe(ctx context.Context) (metrics.Source, error) {
	var found source
	err := errors.New("several replicas have caches of their own")
	if len(s.MetricsURLs) == 0 {
		if found, err = (URL{ResetCache: true}).observe(ctx, s.target); err == nil {
			err = found.Reset(ctx)
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return metrics.Source{}, fmt.Errorf("%s: %w", s.name(), cause)
	}
	if err != nil { // no request is known that empties its cache
		if found.Reset != nil { // the server is recognised
			s.logf("prompts stay in the prefix cache from pass to pass: %v", err)
		}
		s.target.KeepsPrompts = true
		s.target.Config["prompt-cache"] = "kept between passes"
		if found, err = (URL{MetricsURLs: s.MetricsURLs}).observe(ctx, s.target); err != nil {
			return metrics.Source{}, fmt.Errorf("%s: %w", s.name(), err)
		}
		found.Reset = nil
	}
	found.Logf = s.logf
	var gateway []string
	for _, raw := range s.GatewayMetrics {
		gateway = append(gateway, strings.ReplaceAll(raw, portPlaceholder, s.parts[len(s.parts)-1].port))
	}
	observeGateway(ctx, &s.target, gateway, func(format string, args ...any) { s.note(fmt.Sprintf(format, args...)) })
	s.target.Observe = func() llmbench.Observer { return &costs{Observer: found.Observe().(*metrics.Observer), of: s} }
	return found.Source, nil
}
