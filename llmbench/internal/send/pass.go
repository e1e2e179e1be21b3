package send

import (
	"context"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Pass is the posts of a pass, when they are sent, and who takes the samples. If several processes make the pass
// together, it is the part of this process.
type Pass struct {
	Options
	Number int // of the pass, for its samples
	Shard  int // of this process, for its samples
	Posts  Posts
	Limit  time.Duration // of the time of the pass; 0: none

	// A closed loop has so many Workers. The first one begins at Offset, and each further one
	// Stagger later than the one before.
	Workers         int
	Offset, Stagger time.Duration

	// In an open loop, Due has the instant of each request of the pass, by the index of the request, and
	// MaxInFlight is the largest number of posts in flight, or 0.
	Due         []time.Duration
	MaxInFlight int

	With   Others
	Beside Beside // runs beside the pass if the kernel gives no timestamps; nil: nothing
	// Keep keeps a sample; one goroutine calls it. Idle says that no other sample waits. An error ends the pass.
	Keep func(s *sample.Sample, idle bool) error
}

// Others are the other processes that make the pass, if there are any.
type Others interface {
	// Start returns the zero of the instants of the pass, when all processes are ready.
	Start() (time.Time, error)
	// Collect gives the samples of other processes to take, by several goroutines, if this process
	// keeps them. The function wait returns when all of these have come, or why they have not.
	Collect(take func(*sample.Sample)) (wait func() error)
	// Fail ends the pass of all processes because of err, and returns why the pass has ended.
	Fail(err error) error
}

// Beside is what runs beside a pass with so many requests in flight.
type Beside interface {
	Open(ctx context.Context, inFlight int)
	Begin(ctx context.Context, inFlight int, start time.Time)
	End()
}

// A Result is what a pass yields beside its samples.
type Result struct {
	Strain       strain.Strain         // of the process, during the pass
	ClockChange  time.Duration         // by how much the wall clock was set during the pass
	RecorderWait time.Duration         // sum of the times that requests waited until their samples were kept
	Late         time.Duration         // by how much the pass, or a worker of a closed loop, began late
	LateTurns    map[int]time.Duration // by how much the client sent turns of sessions late, by request, in sum
}

// nothing runs beside a pass.
type nothing struct{}

func (nothing) Open(context.Context, int)             {}
func (nothing) Begin(context.Context, int, time.Time) {}
func (nothing) End()                                  {}
