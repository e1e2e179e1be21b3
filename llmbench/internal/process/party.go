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
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Party consists of the processes that make a measurement together: this process alone, or the shards of
// a group. All of them go through the same steps. One of them is the leader: it keeps the records, judges
// the metrics and prints the result.
//
// A measurement calls the methods in this order: Step, then Start of package send, Collect and Relay while
// requests are in flight, EndPass and Verify after each pass, and finally Share, Worst and Spread.
type Party interface {
	send.Others

	// Part returns this process's part of the measurement.
	Part() shard.Part
	// Leads reports whether this process is the leader.
	Leads() bool
	// Name returns a name of a process that people understand.
	Name(index int) string

	// More reports whether b has another pass. The leader's b.Loop decides.
	More(b *testing.B) (bool, error)
	// Step begins a step. It returns an error unless all processes begin the same step with the same facts.
	Step(name string, facts ...shard.Fact) error
	// During returns a context that ends with ctx, or when the connection to another process is lost.
	During(ctx context.Context) (context.Context, context.CancelFunc)

	// Relay sends a sample of this process to the leader. The argument idle says that no other sample is
	// waiting to be sent.
	Relay(s *sample.Sample, idle bool) error
	// EndPass tells the others that the pass of this process has ended: normally, because of err if err is
	// not nil, or because ctx ended. It returns the reason if the pass has failed.
	EndPass(ctx context.Context, err error) error
	// Verify returns an error at the leader unless the processes have sent each of n requests want(request)
	// times. CheckStart returns an error at any process that began its part too late.
	Verify(samples iter.Seq[*sample.Sample], n int, want func(request int) int) error
	CheckStart(late time.Duration) error
	// Silences returns, at the leader, the processes from which nothing was received for a long time during
	// the pass, and for how long.
	Silences() map[int]time.Duration
	// ClockBound returns the maximum difference between the clocks of the processes.
	ClockBound() time.Duration

	// Share sends data of the leader to all processes, and returns the data.
	Share(what string, leaders []byte) ([]byte, error)
	// Worst returns, at the leader, the worst report of all processes on themselves. Other processes return
	// own.
	Worst(own distortion.Report) (distortion.Report, error)
	// Spread sends the leader's samples to the other processes, and calls keep there with each sample.
	Spread(all iter.Seq[*sample.Sample], keep func(*sample.Sample) error) error
}

// alone is the party of a process that measures without others.
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

// Own returns an iterator over the samples of the requests that this process sent.
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

// ShareJSON is like Share of p, for a value that is transferred as JSON. In the process that leads it returns
// the argument leaders itself.
func ShareJSON[T any](p Party, what string, leaders T) (value T, err error) {
	var data []byte
	if p.Leads() {
		if data, err = json.Marshal(leaders); err != nil {
			return leaders, p.Fail(err)
		}
	}
	if data, err = p.Share(what, data); err != nil || p.Leads() {
		return leaders, err
	}
	if err = json.Unmarshal(data, &value); err != nil {
		err = fmt.Errorf("message%s of shard 0: %w", what, err)
	}
	return value, err
}

// Agreed returns the leader's error, or nil, in all processes.
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

// A Common error is an error that all processes have. They can therefore continue with the next benchmark.
type Common struct{ Err error }

func (c Common) Error() string { return c.Err.Error() }
func (c Common) Unwrap() error { return c.Err }
