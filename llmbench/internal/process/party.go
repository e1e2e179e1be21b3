package process

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Party is the processes that make a measurement: this process alone, or the shards of a group. All of them go
// through the same steps. One of them leads: it keeps the records, judges the figures and prints the result.
//
// A measurement calls Step, then Start of package send, Collect and Relay while requests are in flight, EndPass and
// Verify after each pass, and Share, Worst and Spread to conclude.
type Party interface {
	send.Others

	// Part returns the part of this process.
	Part() shard.Part
	// Leads reports whether this process leads.
	Leads() bool
	// Name returns the name of a process for people.
	Name(index int) string

	// More reports whether b has another pass, as the leader's b.Loop says.
	More(b *testing.B) (bool, error)
	// Step begins a step, and returns an error unless all processes begin it with the same facts.
	Step(name string, facts ...shard.Fact) error
	// During returns a context that ends with ctx, and when another process is lost.
	During(ctx context.Context) (context.Context, context.CancelFunc)

	// Relay sends a sample of this process to the leader. Idle says that no other sample waits.
	Relay(s *sample.Sample, idle bool) error
	// EndPass tells the others that the pass of this process has ended, because of err unless that is nil, or because
	// ctx ended. It returns why the pass has failed.
	EndPass(ctx context.Context, err error) error
	// Verify returns an error to the leader unless the processes have sent each of n requests as often as want
	// says, and to any process that began its part late.
	Verify(samples iter.Seq[*sample.Sample], n int, want func(request int) int) error
	CheckStart(late time.Duration) error
	// Silences returns at the leader how long nothing was heard of a process in the pass, if that was long.
	Silences() map[int]time.Duration
	// ClockBound returns how far the clocks of the processes may be apart.
	ClockBound() time.Duration

	// Share returns what the leader has to all processes.
	Share(what string, leaders []byte) ([]byte, error)
	// Worst returns at the leader the worst of what the processes say of themselves, and elsewhere own.
	Worst(own distortion.Report) (distortion.Report, error)
	// Spread gives the leader's samples to keep in the other processes.
	Spread(all iter.Seq[*sample.Sample], keep func(*sample.Sample) error) error
}

// alone is a process that makes a measurement by itself.
type alone struct{}

func (alone) Part() shard.Part                               { return shard.Part{} }
func (alone) Leads() bool                                    { return true }
func (alone) Name(int) string                                { return "this process" }
func (alone) More(b *testing.B) (bool, error)                { return b.Loop(), nil }
func (alone) Fail(err error) error                           { return err }
func (alone) Step(string, ...shard.Fact) error               { return nil }
func (alone) Start() (time.Time, error)                      { return time.Now(), nil }
func (alone) Collect(func(*sample.Sample)) func() error      { return func() error { return nil } }
func (alone) Relay(*sample.Sample, bool) error               { return nil }
func (alone) EndPass(_ context.Context, err error) error     { return err }
func (alone) CheckStart(time.Duration) error                 { return nil }
func (alone) Silences() map[int]time.Duration                { return nil }
func (alone) ClockBound() time.Duration                      { return 0 }
func (alone) Share(_ string, leaders []byte) ([]byte, error) { return leaders, nil }

func (alone) During(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func (alone) Verify(iter.Seq[*sample.Sample], int, func(int) int) error { return nil }

func (alone) Worst(own distortion.Report) (distortion.Report, error) { return own, nil }

func (alone) Spread(iter.Seq[*sample.Sample], func(*sample.Sample) error) error { return nil }

// Own ranges over the samples of the requests that this process sent.
func Own(p Party, samples iter.Seq[*sample.Sample]) iter.Seq[*sample.Sample] {
	if p.Part().Alone() {
		return samples
	}
	return func(yield func(*sample.Sample) bool) {
		for s := range samples {
			if s.Shard == p.Part().Index && !yield(s) {
				return
			}
		}
	}
}

// Agreed returns the error of the leader, or nil, to all processes.
func Agreed(p Party, err error) error {
	text := ""
	if err != nil {
		text = err.Error()
	}
	data, lost := p.Share(" verdict", []byte(text))
	switch {
	case lost != nil:
		return lost
	case err != nil && p.Leads():
		return Common{err}
	case len(data) > 0 && !p.Leads():
		return Common{errors.New(string(data))}
	}
	return nil
}

// A Common error is one that all processes have, so that they can go on with the next benchmark.
type Common struct{ Err error }

func (c Common) Error() string { return c.Err.Error() }
func (c Common) Unwrap() error { return c.Err }
