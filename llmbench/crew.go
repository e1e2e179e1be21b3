package llmbench

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

// A crew is this process and the others that make a measurement together: the shards. All of them
// go through the same steps. The methods of a nil crew are those of a process alone.
type crew struct {
	*shard.Group
	benchmark string
	step      string        // what is being done
	looped    bool          // the benchmark's b.Loop has returned false
	bound     time.Duration // of the clocks, the largest of all passes; see [shard.Group.Bound]
}

// A common error is one that all processes have, so that they can go on with the next benchmark.
type common struct{ error }

func (c common) Unwrap() error { return c.error }

// part returns the part of this process.
func (c *crew) part() shard.Part {
	if c == nil {
		return shard.Part{}
	}
	return c.Part
}

// leads reports whether this process writes records and reports figures.
func (c *crew) leads() bool { return c.part().Index == 0 }

// fail ends the run of all processes because of err, unless all of them have it. It returns the
// error for which the run has ended.
func (c *crew) fail(err error) error {
	if c == nil || err == nil || errors.As(err, new(common)) {
		return err
	}
	return c.Fail(err)
}

// name returns the name of a step.
func (c *crew) name(what string) string { return c.benchmark + ": " + c.step + what }

// agree returns an error unless all processes have the same facts.
func (c *crew) agree(step string, facts ...shard.Fact) error {
	if c == nil {
		return nil
	}
	c.step = step
	return c.Agree(c.name(""), facts)
}

// more reports whether there is another pass. Shard 0 decides.
func (c *crew) more(b *testing.B) (bool, error) {
	if c == nil {
		return b.Loop(), nil
	}
	c.step = "next pass"
	answer := []byte("no")
	if c.leads() && b.Loop() {
		answer = []byte("yes")
	}
	answer, err := c.Share(c.name(""), answer)
	more := string(answer) == "yes"
	if err != nil || c.leads() {
		return more, err
	}
	// The testing package wants b.Loop to be called until it returns false, and not again.
	for !c.looped {
		if c.looped = !b.Loop(); more {
			break
		}
	}
	return more, nil
}

// start returns the zero of the instants of a pass, when all processes are ready.
func (c *crew) start() (time.Time, error) {
	if c == nil {
		return time.Now(), nil
	}
	return c.Start(c.name(""))
}

// collect gives the samples of other processes to take at shard 0, by several goroutines. The
// function wait returns when all of these have come, or why they have not.
func (c *crew) collect(take func(*sample.Sample)) (wait func() error) {
	if c == nil || !c.leads() {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.Gather(c.name(" ended"), nil, func(from int, data []byte) error {
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

// silences returns at shard 0 how long nothing was heard of a shard during the pass, if that was long.
func (c *crew) silences() map[int]time.Duration {
	if c == nil {
		return nil
	}
	return c.Silences()
}

// why returns why the pass of this process has failed, or nil. A pass that was given up because ctx
// ended is one that all processes give up.
func (c *crew) why(ctx context.Context, err error) error {
	if c == nil || err != nil {
		return err
	}
	return context.Cause(ctx)
}

// ended tells shard 0 that the pass of this process has ended, or tells all that it has failed
// with err.
func (c *crew) ended(err error) error {
	if c != nil && err != nil {
		err = c.fail(err)
		c.EndSamples(c.name(" ended"))
	}
	if c == nil || err != nil || c.leads() {
		return err
	}
	_, err = c.Gather(c.name(" ended"), nil, nil)
	return err
}

// verdict returns the error of shard 0, or nil, to all processes.
func (c *crew) verdict(err error) error {
	if c == nil {
		return err
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	data, lost := c.Share(c.name(" verdict"), []byte(text))
	switch {
	case lost != nil:
		return lost
	case c.leads() && err != nil:
		return common{err}
	case len(data) > 0 && !c.leads():
		return common{errors.New(string(data))}
	}
	return nil
}

// A conclusion is what shard 0 tells the others at the end of a measurement. A process alone has one,
// too.
type conclusion struct {
	Failed   string // why a benchmark has failed although it has a result; ""
	Client   string // in what way the client distorted a single pass; ""
	Bursts   string // in what way the answers of a single pass came in bursts; ""
	Elapsed  time.Duration
	Withheld []withholding
	Bounds   map[string]sample.Interval // see [Result].Bounds
}

// A withholding is a call of [Load].Withheld.
type withholding struct {
	Units  []string
	Bursts bool // the reason is ErrBursts and not ErrClientBound
}

// conclude returns the conclusion of shard 0 to all processes. Then it gives the samples of all
// processes, which are those of shard 0, to keep in the others.
func (c *crew) conclude(own conclusion, all iter.Seq[*sample.Sample], keep func(*sample.Sample) error) (conclusion, error) {
	data, err := json.Marshal(own)
	if err != nil {
		return own, err
	}
	if data, err = c.Share(c.name(" conclusion"), data); err != nil {
		return own, err
	}
	if err := json.Unmarshal(data, &own); err != nil {
		return own, fmt.Errorf("the conclusion of shard 0: %w", err)
	}
	return own, c.Spread(c.name(" result"), encoded(all), func(data []byte) error { return store.Read(data, keep) })
}

// encoded ranges over samples as they are sent.
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

// check returns an error unless the processes have sent each request of a plan once. It measures
// how far apart their clocks are.
func (c *crew) check(pl *plan, samples iter.Seq[*sample.Sample]) error {
	if c == nil || !c.leads() {
		return nil
	}
	got := make([]int, pl.requests)
	for s := range samples {
		if s.Request < 0 || s.Request >= len(got) {
			return fmt.Errorf("shard %d sent request %d of %d", s.Shard, s.Request, len(got))
		}
		got[s.Request]++
	}
	for i, n := range got {
		if want := pl.unsent(i).samples(); n != want {
			return fmt.Errorf("the shards sent request %d %d times: want %d", i, n, want)
		}
	}
	bound, err := c.Bound()
	c.bound = max(c.bound, bound)
	return err
}

// maxLate is by how much the part of a process may begin late.
const maxLate = 200 * time.Millisecond

// checkStart returns an error if the part of this process began too late. The requests of the other
// processes then were alone at the server.
func (c *crew) checkStart(late time.Duration) error {
	if c == nil || late <= maxLate {
		return nil
	}
	return fmt.Errorf("%s: began %v after the instant on which all shards had agreed; want at most %v: is this machine too busy?", c.step, late.Round(time.Millisecond), maxLate)
}

// reports gathers the reports of all processes at shard 0, and returns the worst there. Elsewhere
// it returns that of this process.
func (c *crew) reports(own distortion.Report) (distortion.Report, error) {
	mine, err := json.Marshal(own)
	if err != nil {
		return own, err
	}
	all, err := c.Gather(c.name(" distortion"), mine, nil)
	if err != nil || !c.leads() {
		return own, err
	}
	var worst distortion.Report
	for i, data := range all {
		var r distortion.Report
		if err := json.Unmarshal(data, &r); err != nil {
			return own, fmt.Errorf("the report of %s: %w", c.Name(i), err)
		}
		worst = worst.Worse(c.Name(i), r)
	}
	return worst, nil
}

// hide returns the units that shard 0 hides to all processes.
func (c *crew) hide(units []string) ([]string, error) {
	text, err := json.Marshal(units)
	if err != nil {
		return nil, err
	}
	if text, err = c.Share(c.name(" hidden"), text); err != nil {
		return nil, err
	}
	return units, json.Unmarshal(text, &units)
}

// own ranges over those of the samples that this process sent.
func (c *crew) own(samples iter.Seq[*sample.Sample]) iter.Seq[*sample.Sample] {
	if c == nil {
		return samples
	}
	return func(yield func(*sample.Sample) bool) {
		for s := range samples {
			if s.Shard == c.Index && !yield(s) {
				return
			}
		}
	}
}

// A relay sends the samples of this process to shard 0. A nil relay sends none.
type relay struct {
	crew *crew
	data []byte
}

// relay returns where the samples of this process go.
func (c *crew) relay() *relay {
	if c.leads() {
		return nil
	}
	return &relay{crew: c}
}

// relayed is about how many bytes of samples are sent at once.
const relayed = 64 << 10

// add adds a sample. All samples are sent now if the process is idle.
func (r *relay) add(s *sample.Sample, idle bool) error {
	if r == nil {
		return nil
	}
	r.data = store.Append(r.data, s)
	if !idle && len(r.data) < relayed {
		return nil
	}
	data := r.data
	r.data = r.data[:0]
	return r.crew.Send(data)
}
