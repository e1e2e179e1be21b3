package gate

import (
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate/internal/decide"
)

// A File is a file in the Go benchmark format
// (https://go.dev/design/14313-benchmark-format).
type File struct {
	Name    string    // the name of the file in messages
	Version string    // what the results are of, such as a commit, for reports; may be ""
	Data    io.Reader // read to its end and not closed; nil means an empty file
}

// Options control how [Compare] decides. The zero value selects the defaults.
type Options struct {
	// Alpha limits the probability that a comparison of two equal versions ends
	// in Regression, over all gated rows together. The range is 0.001 to 0.5;
	// 0 means DefaultAlpha.
	Alpha float64
	// Ignore lists further configuration keys that may differ, besides those
	// that [Ignored] returns. A key that begins with a slash is a key of
	// benchmark names, for example /gomaxprocs.
	Ignore []string
	// NewFirst states that the i-th samples of both files are a pair: they were
	// taken one after the other, the new one first if NewFirst[i] is true. The
	// order of each pair must be random. Each file must have as many samples of
	// each gated row as NewFirst has elements. nil means that the samples are not
	// pairs.
	NewFirst []bool
	// Planned is the final number of samples a side, if pairs are compared while
	// samples are still being added. The verdict then counts only if
	// Report.Settled is true, and Report.Alpha is the part of Alpha that this
	// comparison may spend. 0 means that the files are complete.
	Planned int
	// Max is the number of samples a side up to which samples may be added
	// after Planned if the report is not settled then. At most Planned means
	// none. Looks lists the numbers of samples after which a regression may be
	// found.
	Max int
	// FailAdded makes it a problem if only the new file has a benchmark, or a gated
	// unit of a benchmark. Otherwise the other rows are judged. AllowRemoved does
	// the reverse for what only the old file has: a benchmark that disappears
	// unnoticed is no longer judged, so that is a problem unless it is allowed.
	FailAdded, AllowRemoved bool
	// EmptyOld accepts an old file without results, of a version that has no
	// benchmarks. All benchmarks of the new file then count as added.
	EmptyOld bool
	// Partial accepts runs that did not end in PASS, as in files that were filtered,
	// converted or published. Then nobody can tell whether results are missing, nor
	// which of them come from one process.
	Partial bool
	// OneStart counts results that one process wrote for a benchmark, such as the results
	// of go test -count=10, as samples of their own. They share everything that
	// differs from start to start, so the test takes their noise for the whole noise.
	OneStart bool
	// RequireQuiet makes a row CannotJudge if it would pass but the noise of its
	// samples is larger than its margin, see Row.Noise.
	RequireQuiet bool
	// RequireNoWorse makes the verdict CannotJudge rather than Pass if a row is
	// not shown to be no worse than its margin allows.
	RequireNoWorse bool

	// inTurns says that the samples of a pair took turns, so that no drift is between them.
	inTurns bool
}

// Looks returns the numbers of samples of each side after which [Compare] may find a
// regression, and the part of Alpha that it spends at each. It returns nil if Planned
// is 0.
func (o Options) Looks() []Look {
	if o.Planned == 0 {
		return nil
	}
	if o.Alpha == 0 {
		o.Alpha = DefaultAlpha
	}
	var all []Look
	for _, l := range decide.NewPlan(o.Planned, o.Max, o.Alpha).Looks {
		all = append(all, Look{l.Samples, rounded(l.Alpha, 12)})
	}
	return all
}

// DefaultAlpha is the Alpha of zero Options.
const DefaultAlpha = 0.025

// minAlpha is the minimum of Options.Alpha.
const minAlpha = 0.001

// MinSamples returns the smallest number of samples of each side with which [Compare] can find
// a regression at alpha: 6 for DefaultAlpha.
func MinSamples(alpha float64) int { return decide.MinSamples(alpha) }

// Ignored returns the configuration keys that may always differ. They state which
// version was measured, and when. Two results are not comparable if any other key
// differs.
func Ignored() []string {
	return []string{"branch", "commit", "commit-time", "date", "go", "toolchain"}
}
