package llmbench

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
)

// An Arm is one of several targets that [Arms] compares.
type Arm struct {
	// Name is the name of the arm's sub-benchmark, such as "via=gateway" or "via=gateway/concurrency=8". Arms
	// differ in it. Each part is key=value, of the characters of [NameValue].
	Name   string
	Target Target
}

// Arms measures two or more targets under one load, each as a sub-benchmark of b, as [Run] does. Their passes take
// turns in one process, so that what the machine does meanwhile disturbs all of them alike. Targets that are measured
// one after the other differ if the machine changes.
//
//	llmbench.Arms(b, load,
//		llmbench.Arm{Name: "via=direct", Target: direct},
//		llmbench.Arm{Name: "via=gateway", Target: gateway})
//
// One op is one round: a pass of each arm. The order of every other round is random, and the round after it has the
// reverse order. So after an even number of rounds, as with -benchtime=2x, a steady drift has changed all arms
// alike. The unit arms-seed has the seed of the order. It tells benchgate -col which results are a pair.
//
// The passes are made when package testing runs the first of the sub-benchmarks, also those of an arm that -bench
// leaves out. The other sub-benchmarks report what was measured then. Package testing gives each of them the time of
// -benchtime, which they wait for; with a number of rounds they do not wait. With -count, each sample has rounds of its own.
//
// An arm that fails takes part in no further rounds, and its sub-benchmark fails. The others go on, and their figures
// stand. Each arm has records of its own, and figures of its own are withheld.
//
// The warm-up is sent to each arm before the first round. The functions of the load are called for the passes of all
// arms. [Load].Fresh counts these: pass p is in round p/len(arms). Arms that reach the same server need it,
// because that server would have the prompts of one arm's pass in its cache when another arm sends them.
//
// Arms may be called several times in a benchmark function, with other names, by the benchmark's goroutine. It fails b
// if an arm is invalid.
func Arms(b *testing.B, l Load, arms ...Arm) {
	b.Helper()
	if err := checkArms(arms); err != nil {
		Watch(b)
		fatal(b, err)
	}
	c := &contest{load: l, arms: arms, parent: b.Name(), reported: make([]int, len(arms))}
	for i, arm := range arms {
		b.Run(arm.Name, func(b *testing.B) { c.benchmark(b, i) })
	}
}

// checkArms returns an error if arms cannot be compared.
func checkArms(arms []Arm) error {
	if len(arms) < 2 {
		return fmt.Errorf("arms: %d; want at least two", len(arms))
	}
	for i, arm := range arms {
		for part := range strings.SplitSeq(arm.Name, "/") {
			key, value, isPair := strings.Cut(part, "=")
			if !isPair || key == "" || value == "" || NameValue(key) != key || NameValue(value) != value {
				return fmt.Errorf("arms: the name %q; want parts such as via=gateway, of a to z, 0 to 9, dots, hyphens and underscores", arm.Name)
			}
		}
		if slices.ContainsFunc(arms[:i], func(o Arm) bool { return o.Name == arm.Name }) {
			return fmt.Errorf("arms: two with the name %q; want different names", arm.Name)
		}
	}
	return nil
}

// A contest is what the sub-benchmarks of [Arms] share.
type contest struct {
	load   Load
	arms   []Arm
	parent string // the name of the benchmark

	// Package testing runs all -count samples of an arm before the next arm. So what was measured waits here.
	samples  []*trial // nil: not measured, because its measurement ended its goroutine
	reported []int    // how many samples each arm has reported
}

// A trial is a sample of all arms.
type trial struct {
	arms []*armTrial
	took []time.Duration // of each round
}

// An armTrial is a sample of an arm.
type armTrial struct {
	ending
	err error // why it has no result
}

// name returns the name of an arm's sub-benchmark.
func (c *contest) name(arm int) string { return c.parent + "/" + c.arms[arm].Name }

// benchmark is the sub-benchmark of an arm.
func (c *contest) benchmark(b *testing.B, arm int) {
	b.Helper()
	Watch(b)
	process.WarnWithoutMain(b)
	if b.Name() != c.name(arm) {
		fatal(b, fmt.Errorf("arms: another sub-benchmark of %s has the name %s; want different names", c.parent, c.arms[arm].Name))
	}
	if err := Announce(b, c.arms[arm].Target); err != nil {
		fatal(b, process.Join(b.Name()).Fail(err))
	}
	k := c.reported[arm]
	c.reported[arm]++
	for len(c.samples) <= k {
		c.samples = append(c.samples, nil)
	}
	s := c.samples[k]
	if s == nil {
		s = c.measure(b)
		c.samples[k] = s
	} else if err := s.replay(b, arm); err != nil {
		fatal(b, err)
	}
	own := s.arms[arm]
	s.arms[arm] = nil
	if own.err != nil {
		for _, what := range own.said {
			b.Log(what)
		}
		fatal(b, own.err)
	}
	own.show(b)
}

// replay lets the loop of b pass, whose figures were measured before. If package testing wants the loop to last for
// a time, each op takes as long as its round took.
func (t *trial) replay(b *testing.B, arm int) error {
	if t.arms[arm].err != nil {
		return nil // it will be reported
	}
	p, ctx := process.Join(b.Name()), Context(b)
	for i := 0; ; i++ {
		more, err := p.More(b)
		if err != nil || !more {
			return err
		}
		if wait := t.took[i%len(t.took)]; p.Leads() && !isCount(benchtime()) {
			if err := send.Sleep(ctx, wait); err != nil {
				return context.Cause(ctx)
			}
		}
	}
}

// benchtime returns the value of the flag -benchtime.
func benchtime() string {
	if f := flag.Lookup("test.benchtime"); f != nil {
		return f.Value.String()
	}
	return ""
}

// isCount reports whether a value of -benchtime is a number of ops.
func isCount(benchtime string) bool { return strings.HasSuffix(benchtime, "x") }

// measure measures all arms, while b runs.
func (c *contest) measure(b *testing.B) *trial {
	ctx := Context(b)
	t := &trial{}
	runs := make([]*run, len(c.arms))
	defer func() { // also if a function of the load panics
		for i, r := range runs {
			if r != nil {
				t.arms[i].end(r)
			}
		}
	}()
	p := process.Join(c.parent)
	seed, err := process.Lead("the order of the arms", func() (uint32, error) { return 1<<31 | rand.Uint32(), nil }) // of ten digits, which are printed exactly
	for i, arm := range c.arms {
		one := &armTrial{err: err}
		t.arms = append(t.arms, one)
		if one.err == nil && ctx.Err() != nil {
			one.err = p.Fail(context.Cause(ctx))
		}
		if one.err == nil {
			runs[i], one.err = newRun(c.name(i), arm.Target, c.load)
		}
		if one.err == nil {
			runs[i].armsSeed = seed
			one.err = runs[i].begin(ctx)
		}
	}
	for round := 0; t.someLeft(); round++ {
		more, err := p.More(b)
		if err != nil { // another shard is lost
			for i, one := range t.arms {
				if one.err == nil {
					one.err = runs[i].fail(err)
				}
			}
		}
		if err != nil || !more {
			break
		}
		began := time.Now()
		base := process.NextPass(c.parent+" "+c.arms[0].Name) * len(c.arms)
		for place, i := range armsOrder(seed, round, len(c.arms)) {
			if one := t.arms[i]; one.err == nil {
				runs[i].next = func() int { return base + place }
				one.err = runs[i].pass(ctx, round)
			}
		}
		t.took = append(t.took, time.Since(began))
	}
	for i, one := range t.arms {
		if one.err == nil {
			one.err = runs[i].finish(ctx)
		}
	}
	return t
}

// end ends the run of an arm, and keeps what it shows.
func (t *armTrial) end(r *run) {
	if err := r.endRecords(); err != nil {
		r.failf("records: %v", err)
	}
	r.close()
	r.samples.Close()
	t.ending = r.ending
}

// someLeft reports whether an arm has not failed.
func (t *trial) someLeft() bool {
	return slices.ContainsFunc(t.arms, func(a *armTrial) bool { return a.err == nil })
}

// armsOrder returns the order of the arms in a round: a random one in every other round, and the reverse of it in the next.
func armsOrder(seed uint32, round, arms int) []int {
	order := rand.New(rand.NewPCG(uint64(seed), uint64(round/2))).Perm(arms)
	if round%2 == 1 {
		slices.Reverse(order)
	}
	return order
}
