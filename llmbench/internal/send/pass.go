package send

import (
	"context"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Pass describes one pass: the posts, when they are sent, and what happens with the samples. If several
// processes make the pass together, it describes the part of this process.
type Pass struct {
	Options
	Number int           // number of the pass, for its samples
	Shard  int           // number of this process, for its samples
	Limit  time.Duration // maximum duration of the pass; 0 means no limit
	// Classes are what the pass sends, all at the same time. Request i of the pass belongs to class i mod n of n classes.
	Classes []Class
	// If more requests than MostFailed fail, the pass is void. Only such a pass ends early because its server is gone;
	// -1 means that it ends whatever has failed.
	MostFailed int

	// For, if not 0, is for how long the closed loops send posts, from the start of the pass. Posts that are not sent by
	// then have no samples. Before From the pass is a warm-up: From is only passed on to the samples. MaxFail is the share
	// of failed requests that are tolerated: it takes the place of MostFailed, unless that is -1, because it is not known
	// before how many requests there will be. Closed loops end early, too, if more have failed and if the last ones all have;
	// see failing. MaxShed is the tolerated share of shed requests; if it is 0, they count as failed.
	From, For        time.Duration
	MaxFail, MaxShed float64
	// CutSessions says that turns of sessions that are due from For on are not sent. Their outcome is Left.
	CutSessions bool

	// Enough, if not nil, is closed when no further posts, and no further turns of sessions, should be sent. The requests in
	// flight then end. What is not sent has no samples.
	Enough <-chan struct{}

	With   Others
	Beside Beside // runs during the pass if the kernel provides no timestamps; nil means nothing
	// Keep stores a sample. Only one goroutine calls it. The argument idle says that no other sample is
	// waiting. If Keep returns an error, the pass ends.
	Keep func(s *sample.Sample, idle bool) error
}

// A Class is a part of a pass with posts and a loop of its own.
type Class struct {
	Name  string // for the samples; "" if the pass has only one class
	Posts Posts

	// Stays has, for each worker of a closed loop, when its user is there, in order. For an open loop, it is nil.
	Stays [][]arrivals.Stay

	// Width returns the largest number of turns of a post that may be in flight at the same time; nil means 1.
	Width func() int

	// In an open loop, Due has the due instant of each post. MaxInFlight is the maximum number of posts in flight; 0 means no
	// limit.
	Due         []time.Duration
	MaxInFlight int
}

// most returns the maximum number of requests in flight; 0 means no limit.
func (p *Pass) most() (n int) {
	for _, c := range p.Classes {
		if c.Due != nil && c.MaxInFlight == 0 {
			return 0
		}
		n += (len(c.Stays) + c.MaxInFlight) * c.width()
	}
	return n
}

// width returns the largest number of turns of a post that may be in flight at the same time.
func (c *Class) width() int {
	if c.Width == nil {
		return 1
	}
	return max(1, c.Width())
}

// users returns the number of workers of all closed loops.
func (p *Pass) users() (n int) {
	for _, c := range p.Classes {
		n += len(c.Stays)
	}
	return n
}

// Others stands for the other processes that make the pass, if there are any.
type Others interface {
	// Start waits until all processes are ready. It returns the instant from which the instants of the pass
	// are counted.
	Start() (time.Time, error)
	// Collect receives the samples of other processes, if this process keeps them. It calls take with each
	// sample, from several goroutines. The function wait waits until all samples have come. It returns an
	// error if they have not.
	Collect(take func(*sample.Sample)) (wait func() error)
	// Fail ends the pass of all processes because of err. It returns the error that ended the pass.
	Fail(err error) error
}

// Beside is something that runs during a pass. The argument inFlight is the number of requests in flight.
type Beside interface {
	Open(ctx context.Context, inFlight int)
	Begin(ctx context.Context, inFlight int, start time.Time)
	End()
}

// A Result is the result of a pass apart from its samples.
type Result struct {
	Strain       strain.Strain         // strain of the process during the pass
	ClockChange  time.Duration         // by how much the wall clock was set during the pass
	RecorderWait time.Duration         // sum of the times for which requests waited for the recorder
	Late         time.Duration         // by how much the pass, or a worker of a closed loop, began late
	Cut          bool                  // posts or turns were not sent because of Enough
	Stopped      string                // why a loop for a time sent nothing more before its time was over; "" if it did not stop
	LateTurns    map[int]time.Duration // by how much the client sent the turns of sessions late, summed over the turns, by request
}

// nothing is a Beside that does nothing.
type nothing struct{}

func (nothing) Open(context.Context, int)             {}
func (nothing) Begin(context.Context, int, time.Time) {}
func (nothing) End()                                  {}
