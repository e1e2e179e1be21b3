package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// shards is the party of this process and others that measure a benchmark together.
type shards struct {
	group     *shard.Group
	benchmark string
	step      string        // the current step
	looped    bool          // the benchmark's b.Loop has returned false
	bound     time.Duration // the largest clock bound of all passes; see [shard.Group.Bound]
	waiting   []byte        // encoded samples that will be sent to the leader
}

func (c *shards) Part() shard.Part      { return c.group.Part }
func (c *shards) Leads() bool           { return c.group.Index == 0 }
func (c *shards) Name(index int) string { return c.group.Name(index) }

// Fail ends the run of all processes because of err, unless all of them have this error. It returns the
// error that has ended the run.
func (c *shards) Fail(err error) error {
	if err == nil || errors.As(err, new(Common)) {
		return err
	}
	return c.group.Fail(err)
}

// name returns the full name of a step.
func (c *shards) name(what string) string { return c.benchmark + ": " + c.step + what }

func (c *shards) Step(name string, facts ...shard.Fact) error {
	c.step = name
	return c.group.Agree(c.name(""), facts)
}

func (c *shards) Share(what string, leaders []byte) ([]byte, error) {
	return c.group.Share(c.name(what), leaders)
}

func (c *shards) More(b *testing.B) (bool, error) {
	c.step = "next pass"
	answer := []byte("no")
	if c.Leads() && b.Loop() {
		answer = []byte("yes")
	}
	answer, err := c.Share("", answer)
	more := string(answer) == "yes"
	if err != nil || c.Leads() {
		return more, err
	}
	// The testing package expects that b.Loop is called until it returns false, and not again.
	for !c.looped {
		if c.looped = !b.Loop(); more {
			break
		}
	}
	if !more {
		b.Cleanup(func() { withoutFigures(b) })
	}
	return more, nil
}

// withoutFigures makes sure that the line that the testing package prints for b does not count as a result:
// the line has no metrics. It may also be called after b.Loop.
func withoutFigures(b *testing.B) {
	b.ResetTimer() // deletes the metrics
	b.ReportMetric(0, "ns/op")
}

func (c *shards) During(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.group.Context(), func() { cancel(c.group.Err()) })
	return ctx, func() { stop(); cancel(nil) }
}

func (c *shards) Start() (time.Time, error) { return c.group.Start(c.name("")) }

func (c *shards) Collect(take func(*sample.Sample)) (wait func() error) {
	if !c.Leads() {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.group.Gather(c.name(" ended"), nil, func(from int, data []byte) error {
			return store.Read(data, func(s *sample.Sample) error {
				s.Shard = from
				take(s)
				return nil
			})
		})
		done <- err
	}()
	return func() error { return <-done }
}

// relayed is the approximate number of bytes of samples that are sent at once.
const relayed = 64 << 10

func (c *shards) Relay(s *sample.Sample, idle bool) error {
	if c.Leads() {
		return nil
	}
	c.waiting = store.Append(c.waiting, s)
	if !idle && len(c.waiting) < relayed {
		return nil
	}
	data := c.waiting
	c.waiting = c.waiting[:0]
	return c.group.Send(data)
}

// EndPass fails the pass in all processes if err is not nil or if ctx has ended.
func (c *shards) EndPass(ctx context.Context, err error) error {
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		err = c.Fail(err)
		c.group.EndSamples(c.name(" ended"))
	}
	if err != nil || c.Leads() {
		return err
	}
	_, err = c.group.Gather(c.name(" ended"), nil, nil)
	return err
}

// Verify also measures the difference between the clocks of the processes.
func (c *shards) Verify(samples iter.Seq[*sample.Sample], n int, want func(request int) int) error {
	if !c.Leads() {
		return nil
	}
	got := make([]int, n)
	for s := range samples {
		if s.Request < 0 || s.Request >= n {
			return fmt.Errorf("shard %d sent request %d of %d", s.Shard, s.Request, n)
		}
		got[s.Request]++
	}
	for i, n := range got {
		if want := want(i); n != want {
			return fmt.Errorf("the shards sent request %d %d times: want %d", i, n, want)
		}
	}
	bound, err := c.group.Bound()
	c.bound = max(c.bound, bound)
	return err
}

// maxLate is the maximum time by which a process may begin its part late.
const maxLate = 200 * time.Millisecond

// CheckStart returns an error if this process began its part too late. Until then, the server had only the
// requests of the other processes.
func (c *shards) CheckStart(late time.Duration) error {
	if late <= maxLate {
		return nil
	}
	return fmt.Errorf("%s: began %v after the instant on which all shards had agreed: want at most %v: is this machine too busy?", c.step, late.Round(time.Millisecond), maxLate)
}

func (c *shards) Silences() map[int]time.Duration { return c.group.Silences() }

func (c *shards) ClockBound() time.Duration { return c.bound }

func (c *shards) Worst(own distortion.Report) (distortion.Report, error) {
	mine, err := json.Marshal(own)
	if err != nil {
		return own, err
	}
	all, err := c.group.Gather(c.name(" distortion"), mine, nil)
	if err != nil || !c.Leads() {
		return own, err
	}
	var worst distortion.Report
	for i, data := range all {
		var r distortion.Report
		if err := json.Unmarshal(data, &r); err != nil {
			return own, fmt.Errorf("the distortion that %s reports cannot be read: %w", c.Name(i), err)
		}
		worst = worst.Worse(c.Name(i), r)
	}
	return worst, nil
}

func (c *shards) Spread(all iter.Seq[*sample.Sample], keep func(*sample.Sample) error) error {
	return c.group.Spread(c.name(" result"), encoded(all), func(data []byte) error { return store.Read(data, keep) })
}

// encoded returns an iterator over the samples in the form in which they are sent.
func encoded(samples iter.Seq[*sample.Sample]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var data []byte
		for s := range samples {
			if data = store.Append(data, s); len(data) < relayed {
				continue
			}
			if !yield(data) {
				return
			}
			data = data[:0]
		}
		if len(data) > 0 {
			yield(data)
		}
	}
}
