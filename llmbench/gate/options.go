package gate

import (
	"cmp"
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate/internal/decide"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// A File is a file in the Go benchmark format
// (https://go.dev/design/14313-benchmark-format).
type File struct {
	Name    string    // name of the file, for messages
	Version string    // version that was measured, such as a commit, for reports; may be ""
	Data    io.Reader // read to its end and not closed; nil means an empty file
}

// Options control how [Compare] decides. The zero value selects the defaults.
type Options struct {
	// Alpha limits the probability that a comparison of two equal versions ends in Regression, over all
	// gated rows together. The range is 0.001 to 0.5; 0 means DefaultAlpha.
	Alpha float64
	// Ignore lists configuration keys that may differ, in addition to the keys that [Ignored] returns. A
	// key that begins with a slash is a key in benchmark names, for example /gomaxprocs.
	Ignore []string
	// NewFirst, if not nil, says that the i-th samples of both files are a pair: they were taken one after
	// the other, the new one first if NewFirst[i] is true. The order in each pair must be random. Each file
	// must have len(NewFirst) samples of each gated row. If NewFirst is nil, the samples are not pairs,
	// unless the files say so by the lines of [RoundLine].
	NewFirst []bool
	// Planned is the final number of samples per side. It is for comparisons of pairs while samples are
	// still being added. The verdict is valid only if Report.Settled is true, and Report.Alpha is the part
	// of Alpha that this comparison may spend. If Planned is 0, the files are complete.
	Planned int
	// Max is the largest number of samples per side. If the report is not settled after Planned samples,
	// more samples may be added up to Max. If Max is at most Planned, none are added. Looks returns the
	// numbers of samples after which a regression may be found.
	Max int
	// FailAdded makes it a problem if only the new file has a benchmark, or a gated unit of a benchmark.
	// Without FailAdded, the other rows are judged nevertheless. AllowRemoved is for the reverse case: if
	// only the old file has a benchmark or a gated unit, that is a problem unless AllowRemoved is set,
	// because a benchmark that disappears unnoticed is not judged any more. If nothing is left to judge, that is a problem
	// in any case.
	FailAdded, AllowRemoved bool
	// EmptyOld accepts an old file without results, for an old version that has no benchmarks. All
	// benchmarks of the new file then count as added.
	EmptyOld bool
	// Partial accepts runs that did not end in PASS, as in files that were filtered, converted or
	// published. It is then unknown whether results are missing, and which results come from one process.
	Partial bool
	// OneStart accepts several results of a benchmark from one process, such as the results of go test
	// -count=10, and counts each as a sample. Such results share everything that differs between starts, so
	// their noise may be smaller than the noise that the test should use. Without OneStart, the results of each of
	// several processes count as one sample, their mean.
	OneStart bool
	// RequireQuiet makes a row CannotJudge if it would pass but its noise is larger than its margin; see
	// Row.Noise.
	RequireQuiet bool
	// RequireNoWorse makes the verdict CannotJudge rather than Pass if a row is not shown to be no worse
	// than its margin allows.
	RequireNoWorse bool

	// inTurns says that the samples of a pair took turns, so that no drift is between them.
	inTurns bool
	// budgets says that only budgets are judged, and that there are no old results.
	budgets bool
}

// Looks returns the numbers of samples per side after which [Compare] may find a regression, and the part
// of Alpha that it spends at each of them. It returns nil if Planned is 0.
func (o Options) Looks() []Look {
	if o.Planned == 0 {
		return nil
	}
	var all []Look
	for _, l := range decide.NewPlan(o.Planned, o.Max, cmp.Or(o.Alpha, DefaultAlpha)).Looks {
		all = append(all, Look{l.Samples, numbers.Rounded(l.Alpha, 12)})
	}
	return all
}

// DefaultAlpha is used if Options.Alpha is 0.
const DefaultAlpha = 0.025

// minAlpha is the smallest allowed Options.Alpha.
const minAlpha = 0.001

// MinSamples returns the smallest number of samples per side with which [Compare] can find a regression at
// alpha, if one row is gated: 6 for DefaultAlpha. Of pairs with several gated rows, Compare wants one sample more.
func MinSamples(alpha float64) int { return decide.MinSamples(alpha, 1) }

// Ignored returns the configuration keys that may always differ, because they say which version was
// measured, and when. If any other key differs, results are not comparable.
func Ignored() []string {
	return []string{"branch", "commit", "commit-time", "date", "go", "toolchain"}
}
