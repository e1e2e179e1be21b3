package llmbench

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An Arm is one of the targets that [Arms] compares.
type Arm struct {
	// Name is the name of the arm's sub-benchmark, such as "via=gateway" or "via=gateway/concurrency=8".
	// Each arm needs a different name. Each part of the name is key=value. Key and value consist of the
	// characters that [NameValue] returns.
	Name   string
	Target Target
	// Compare, if set, computes further metrics of the arm from the samples of the first arm and its own,
	// for example by how much a latency is longer. It keeps the rules of [Load].Figures. It is not called if the
	// first arm failed. The argument late is a time that most stops of the client do not exceed, as [sample.FindBursts]
	// needs it. The first arm must not have it. A metric whose unit has Parts (see [sample.Unit]) is withheld
	// if one of these is withheld in either arm.
	Compare func(first, own iter.Seq[*sample.Sample], late time.Duration) map[string]float64
}

// Arms measures two or more targets under the same load. Each target is a sub-benchmark of b, and is
// measured as [Run] measures one. The targets take turns within one process: after a pass of one target
// comes a pass of the next. If the speed of the machine changes meanwhile, all targets are affected alike.
// The change would look like a difference between targets that are measured one after the other.
//
//	llmbench.Arms(b, load,
//		llmbench.Arm{Name: "via=direct", Target: direct},
//		llmbench.Arm{Name: "via=gateway", Target: gateway})
//
// One op is one round, which is one pass of each arm. Rounds 0, 2, 4 and so on use a random order of the
// arms. Each of the other rounds uses the reverse of the order before it. After an even number of rounds,
// as with -benchtime=2x, a steady drift of the machine has therefore affected all arms alike. The unit
// arms-seed reports the seed of the random order. benchgate -col uses it to pair the results that were
// measured together.
//
// All passes of all arms are made when package testing runs the first of the sub-benchmarks, even if -bench
// does not select some of the arms. The other sub-benchmarks only report their results. If -benchtime is a
// duration, package testing expects each sub-benchmark to last that long, so they wait for that time. If
// -benchtime is a number of rounds, they do not wait. With -count, each sample has its own rounds.
//
// If an arm fails, its sub-benchmark fails, and the arm takes part in no further rounds. The other arms
// continue, and their results are valid. Each arm has its own records. If the client distorted a metric of
// one arm, the metric is withheld for that arm only.
//
// The warm-up is sent to each arm before the first round. The functions of the load are called for the
// passes of every arm. The argument of [Load].Fresh counts the passes of all arms together: pass p belongs
// to round p/len(arms). Set Fresh if several arms reach the same server. Otherwise one arm's pass would
// fill the server's prefix cache with the prompts that another arm sends next.
//
// Arms may be called several times in a benchmark function if the names of the arms differ. It must be
// called by the benchmark's goroutine. It fails b if an arm is invalid.
func Arms(b *testing.B, l Load, arms ...Arm) {
	b.Helper()
	if err := checkArms(arms); err != nil {
		process.Watch(b)
		fatal(b, err)
	}
	c := &contest{load: l, arms: arms, parent: b.Name(), reported: make([]int, len(arms))}
	for i, arm := range arms {
		b.Run(arm.Name, func(b *testing.B) { c.benchmark(b, i) })
	}
}

// checkArms returns an error if there are fewer than two arms, or if a name is invalid or used twice.
func checkArms(arms []Arm) error {
	if len(arms) < 2 {
		return fmt.Errorf("arms: %d: want at least two", len(arms))
	}
	for i, arm := range arms {
		if i == 0 && arm.Compare != nil {
			return fmt.Errorf("arms: %q is the first and has Compare: want it in the others only", arm.Name)
		}
		for part := range strings.SplitSeq(arm.Name, "/") {
			key, value, isPair := strings.Cut(part, "=")
			if !isPair || key == "" || value == "" || NameValue(key) != key || NameValue(value) != value {
				return fmt.Errorf("arms: the name %q: want parts such as via=gateway, of a to z, 0 to 9, dots, hyphens and underscores", arm.Name)
			}
		}
		if slices.ContainsFunc(arms[:i], func(o Arm) bool { return o.Name == arm.Name }) {
			return fmt.Errorf("arms: two with the name %q: want different names", arm.Name)
		}
	}
	return nil
}

// A contest is the state that the sub-benchmarks of one call of [Arms] share.
type contest struct {
	load   Load
	arms   []Arm
	parent string // the name of the parent benchmark

	// Package testing runs all -count samples of one arm before it runs the next arm. The results of the
	// other arms are kept here until then.
	samples  []*trial // nil if the goroutine exited while it measured the sample
	reported []int    // how many samples each arm has reported
}

// A trial is one -count sample of all arms.
type trial struct {
	arms []*armTrial
	took []time.Duration // the duration of each round
}

// An armTrial is one -count sample of one arm.
type armTrial struct {
	ending
	err error // if not nil, why there is no result
}

// name returns the full name of an arm's sub-benchmark.
func (c *contest) name(arm int) string { return c.parent + "/" + c.arms[arm].Name }

// benchmark runs the sub-benchmark of an arm: it measures all arms if no sub-benchmark has measured this
// sample yet, and then reports the arm's results.
func (c *contest) benchmark(b *testing.B, arm int) {
	b.Helper()
	process.Watch(b)
	process.WarnWithoutMain(b)
	if b.Name() != c.name(arm) {
		fatal(b, fmt.Errorf("arms: another sub-benchmark of %s has the name %s: want different names", c.parent, c.arms[arm].Name))
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

// replay runs the loop of b, whose results have already been measured. If -benchtime is a duration, each op
// waits for as long as its round took, because package testing runs ops until that time is over.
func (t *trial) replay(b *testing.B, arm int) error {
	if t.arms[arm].err != nil {
		return nil // the caller reports the error
	}
	p, ctx := process.Join(b.Name()), process.Context(b)
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

// isCount reports whether a value of -benchtime is a number of ops rather than a duration.
func isCount(benchtime string) bool { return strings.HasSuffix(benchtime, "x") }

// measure measures one sample of all arms, while b is the sub-benchmark that runs.
func (c *contest) measure(b *testing.B) *trial {
	ctx := process.Context(b)
	t := &trial{}
	runs := make([]*run, len(c.arms))
	defer func() { // deferred, because a function of the load may panic
		for i, r := range runs {
			if r != nil {
				t.arms[i].end(r)
			}
		}
	}()
	p := process.Join(c.parent)
	seed, err := process.Lead("the order of the arms", func() (uint32, error) { return 1<<31 | rand.Uint32(), nil }) // ten digits: printed exactly
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
		if err != nil { // the connection to another process of the measurement is lost
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
		if compare := c.arms[i].Compare; compare != nil && one.err == nil && t.arms[0].err == nil {
			runs[i].load.addFigures(func(own iter.Seq[*sample.Sample]) map[string]float64 {
				return compare(sample.Measured(runs[0].all()), sample.Measured(own), max(runs[0].estimate.Late(), runs[i].estimate.Late()))
			})
			runs[i].load.PartsWithheld = append(slices.Clip(runs[i].load.PartsWithheld), runs[0].withheld)
		}
		if one.err == nil {
			one.err = runs[i].finish(ctx)
		}
	}
	return t
}

// end closes the run of an arm and keeps what its sub-benchmark will show.
func (t *armTrial) end(r *run) {
	if err := r.endRecords(); err != nil {
		r.failf("records: %v", err)
	}
	r.close()
	r.samples.Close()
	t.ending = r.ending
}

// someLeft reports whether at least one arm has not failed.
func (t *trial) someLeft() bool {
	return slices.ContainsFunc(t.arms, func(a *armTrial) bool { return a.err == nil })
}

// armsOrder returns the order of the arms in a round: a random order in rounds 0, 2, 4 and so on, and the
// reverse of the previous order in the others.
func armsOrder(seed uint32, round, arms int) []int {
	order := rand.New(rand.NewPCG(uint64(seed), uint64(round/2))).Perm(arms)
	if round%2 == 1 {
		slices.Reverse(order)
	}
	return order
}
