package llmbench

import (
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Result is what [Run] and [Pass] measured.
type Result struct {
	// Elapsed is the sum over passes of the time from the first t0 to the end of the last
	// response.
	Elapsed time.Duration
	// Bounds are, by unit, the intervals of the true values of the figures that the client's delays can change,
	// also of figures that are withheld. They are nil if these delays are unknown, and if [Pass] did not
	// judge them.
	Bounds map[string]sample.Interval

	samples *store.Store
}

// All ranges over the samples of all passes, in the order in which their requests ended. It may
// be called any number of times before Close. Each sample is a new one, and the caller's. Of
// [sample.Sample].Err only the text remains, so that [errors.Is] finds nothing in it.
//
// Samples that take more than 64 MiB are in a file, in the folder LLMBENCH_OUT or in the
// folder of [os.TempDir]. A range ends early if the file cannot be read; see [Result.Err].
func (r *Result) All() iter.Seq[*sample.Sample] { return r.samples.Between(0, r.samples.End()) }

// Err returns why a range over samples ended early, or nil.
func (r *Result) Err() error { return r.samples.Err() }

// Close removes the file of the samples, if there is one. A result without a file need not be
// closed. Close may be called again.
func (r *Result) Close() error { return r.samples.Close() }
