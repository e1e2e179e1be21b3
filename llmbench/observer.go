package llmbench

import (
	"context"
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An Observer prepares a server for each pass, and returns the server's own metrics after the pass. Only
// the benchmark's goroutine calls its methods. The time of these calls is not measured.
type Observer interface {
	// Before is called before each measured pass. If it returns an error, the benchmark fails.
	Before(ctx context.Context) error
	// After is called after each measured pass, when the last response has ended. It returns the server's
	// metrics for all passes so far, keyed by unit name. A value that is not finite is omitted and logged.
	// An error is logged, too; the result then has no metrics from the Observer unless After succeeds for a
	// later pass.
	After(ctx context.Context) (map[string]float64, error)
}

// A SamplesObserver is an [Observer] that also has metrics that depend on the samples, such as the server's
// CPU time per output token.
type SamplesObserver interface {
	Observer
	// FiguresOf is called after the last pass, with the samples of all passes. It returns metrics keyed by
	// unit name, as After does. It is not called if After returned an error for the last pass.
	FiguresOf(samples iter.Seq[*sample.Sample]) map[string]float64
}

// A CountersObserver is an [Observer] that also has counters for the records.
type CountersObserver interface {
	Observer
	// Counters returns the values of counters before and after the last pass, by name. It is called after each call
	// of After, and returns nil if the values are unknown.
	Counters() map[string][2]float64
}

// A FootprintObserver is an [Observer] that also knows what the server's processes occupy at an instant.
type FootprintObserver interface {
	Observer
	// Footprint returns the CPU time of the server's processes since their start, and their resident memory in bytes. It
	// may be called at any time, by any goroutine. An error that wraps [errors.ErrUnsupported] says that this system does
	// not tell.
	Footprint() (cpu time.Duration, memory int64, err error)
}
