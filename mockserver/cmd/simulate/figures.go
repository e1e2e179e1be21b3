package main

import (
	"math"
	"slices"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// figures collects the measurements of all requests of a load. Times are in nanoseconds.
type figures struct {
	ttft, tpot, e2e []float64
	prompt, output  int
	sent, refused   int
	first, last     time.Duration // when the first request arrived, and when the last one ended
}

func (f *figures) add(s *engine.Sequence) {
	f.ttft = append(f.ttft, float64(s.First-s.Arrived))
	f.e2e = append(f.e2e, float64(s.End-s.Arrived))
	if n := s.Tokens(); n > 1 {
		f.tpot = append(f.tpot, float64(s.End-s.First)/float64(n-1))
	}
	f.prompt += s.Job.Prompt
	f.output += s.Tokens()
	f.last = max(f.last, s.End)
}

func (f *figures) requests() int { return len(f.e2e) + f.refused }

// values returns the metrics with the units and definitions of llmbench. It omits percentiles for which there
// are too few requests.
func (f *figures) values(c engine.Counts) []benchfmt.Value {
	var v []benchfmt.Value
	put := func(value float64, unit string) { v = append(v, benchfmt.Value{Value: value, Unit: unit}) }
	n := float64(len(f.e2e))
	if n == 0 {
		put(100, sample.FailShare)
		return v
	}
	put(float64(f.prompt)/n, sample.PromptLength)
	put(float64(f.output)/n, sample.OutputLength)
	elapsed := max(f.last-f.first, 1).Seconds() // an engine whose times are all 0 takes no time
	put(n/elapsed, sample.RequestRate)
	put(float64(f.output)/elapsed, sample.OutputRate)
	for _, m := range []struct {
		name string
		list []float64
	}{{"ttft", f.ttft}, {"tpot", f.tpot}, {"e2e", f.e2e}} {
		if len(m.list) == 0 {
			continue
		}
		slices.Sort(m.list)
		sum := 0.0
		for _, x := range m.list {
			sum += x
		}
		put(math.Round(sum/float64(len(m.list))), "mean-"+m.name+"-ns")
		for _, p := range []struct {
			name  string
			share float64
		}{{"p50", .5}, {"p90", .9}, {"p99", .99}} {
			if float64(len(m.list)) >= 1/(1-p.share) {
				put(math.Round(quantile(m.list, p.share)), p.name+"-"+m.name+"-ns")
			}
		}
	}
	if f.refused > 0 {
		put(100*float64(f.refused)/float64(f.requests()), sample.FailShare)
	}
	if c.Preempted > 0 {
		put(float64(c.Preempted)/n, "preempted/req")
	}
	if c.Hit > 0 {
		put(100*float64(c.Hit)/float64(c.Queried), "prefix-hit-%")
	}
	return v
}

// quantile returns a quantile of a sorted list by linear interpolation, as NumPy does
// by default.
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
