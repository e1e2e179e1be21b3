package llmbench

import (
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Result is the outcome of [Run] or [Pass].
type Result struct {
	// Elapsed is the total duration of the passes. A pass lasts from its first t0, or the end of its [Load].WarmupFor, to the end
	// of its last response, or of its [Load].Duration if that is earlier.
	Elapsed time.Duration
	// Bounds holds, keyed by unit name, the interval that contains the true value of each metric that the
	// client's delays can change. It includes withheld metrics. Bounds is nil if the client's delays are
	// unknown, or if [Pass] did not judge them.
	Bounds map[string]sample.Interval

	// Withheld holds, keyed by unit name, why a metric means nothing and was not reported: an error that wraps
	// [ErrClientBound], [ErrBursts] or [ErrUnread]. It includes units that results do not show. It is empty if the load did not have
	// its metrics judged; see [BoundReported].
	Withheld map[string]error

	samples *store.Store
}

// All returns an iterator over the samples of all passes, in the order in which their requests ended, with the samples of a
// warm-up that is part of a pass ([Load].WarmupFor), which [sample.Measured] leaves out. The iterator
// may be used any number of times before Close. Each sample is a copy that the caller may keep and change.
// The field Err of a [sample.Sample] keeps only its text, so [errors.Is] finds no other error in it.
//
// If the samples take more than 64 MiB, they are stored in a file in the folder LLMBENCH_OUT, or in
// [os.TempDir]. The iteration ends early if the file cannot be read; see [Result.Err].
func (r *Result) All() iter.Seq[*sample.Sample] { return r.samples.Between(0, r.samples.End()) }

// Err returns the error that made an iteration over the samples end early, or nil.
func (r *Result) Err() error { return r.samples.Err() }

// Close removes the file of the samples, if there is one. A result without a file need not be closed. Close
// may be called more than once.
func (r *Result) Close() error { return r.samples.Close() }
