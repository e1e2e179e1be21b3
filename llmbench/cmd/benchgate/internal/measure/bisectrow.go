package measure

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
)

// A bisectRow is the row by which commits are judged: one unit of one benchmark. If the unit says why figures were
// withheld, a sample with the unit counts as twice as bad as one without, and half of that is allowed.
type bisectRow struct {
	gate.Row
	margin float64 // as a logarithm
}

func newBisectRow(r gate.Row) bisectRow {
	if r.Withheld != nil {
		half := 0.5
		r.Better, r.Margin = "lower", &half
	}
	if r.Amounts { // of values above 0
		share := *r.Margin / *r.Old.Median
		r.Margin = &share
	}
	row := bisectRow{Row: r, margin: math.Log1p(*r.Margin)}
	if r.Better == "higher" {
		row.margin = -math.Log1p(-*r.Margin)
	}
	return row
}

func (row bisectRow) title() string { return row.Name + " " + row.Unit }

// signal returns how clearly the pairs are worse than the margin, in standard deviations of a pair.
func (row bisectRow) signal(pairs []float64) float64 {
	var sum, squares float64
	for _, x := range pairs {
		sum += x
	}
	mean := sum / float64(len(pairs))
	for _, x := range pairs {
		squares += (x - mean) * (x - mean)
	}
	return (mean - row.margin) / math.Sqrt(squares/float64(len(pairs))+1e-9)
}

// change converts a difference, a logarithm that is larger if worse, to a change of the row's value, as a share.
func (row bisectRow) change(worse float64) float64 {
	if row.Better == "higher" {
		worse = -worse
	}
	return math.Expm1(worse)
}

// difference returns the difference of the values in two samples. A sample without the value is an error that
// names the side.
func (row bisectRow) difference(sides [2]side, texts [2][]byte) (worse float64, err error) {
	for i, text := range texts {
		value, ok := row.value(text)
		if !ok {
			return 0, &sideError{sides[i].name, fmt.Errorf("no value of %s above 0", row.title())}
		}
		worse += math.Log(value) * float64(2*i-1)
	}
	if row.Better == "higher" {
		worse = -worse
	}
	return worse, nil
}

// value returns the row's value in a sample. It must be above 0.
func (row bisectRow) value(text []byte) (float64, bool) {
	for rec := range benchline.Records[*benchfmt.Result](text) {
		if rec.Name.String() != row.Name || rec.GetConfig("pkg") != row.Pkg {
			continue
		}
		if row.Withheld != nil {
			return row.withheld(rec)
		}
		for _, v := range rec.Values {
			if v.Unit == row.Unit {
				return v.Value, v.Value > 0 && !math.IsInf(v.Value, 0)
			}
			if v.OrigUnit == row.Unit {
				return v.OrigValue, v.OrigValue > 0 && !math.IsInf(v.OrigValue, 0)
			}
		}
	}
	return 0, false
}

// withheld returns 2 if figures of a result were withheld for the reason of the row, and 1 if they were not. A result
// that has neither the reason nor one of these figures has no value.
func (row bisectRow) withheld(rec *benchfmt.Result) (float64, bool) {
	sound := len(row.Withheld.Units) == 0
	for _, v := range rec.Values {
		unit := cmp.Or(v.OrigUnit, v.Unit)
		if unit == row.Unit && v.Value > 0 {
			return 2, true
		}
		sound = sound || slices.Contains(row.Withheld.Units, unit)
	}
	return 1, sound
}

// changeText describes the difference of a pair.
func (row bisectRow) changeText(worse float64) string {
	switch {
	case row.Withheld == nil:
		return fmt.Sprintf("%+.1f%%", 100*row.change(worse))
	case worse > 0:
		return "only the first " + row.runs()
	case worse < 0:
		return "only the second " + row.runs()
	}
	return "no difference"
}

// runs says what a run does that has the reason of the row.
func (row bisectRow) runs() string {
	if _, runs, ok := strings.Cut(row.Withheld.Says, ":"); ok {
		return strings.ReplaceAll(runs, "-", " ")
	}
	return "have " + row.Unit
}

// A sideError says that the samples of one side cannot be used.
type sideError struct {
	side string
	err  error
}

func (e *sideError) Error() string { return e.err.Error() }

func (e *sideError) Unwrap() error { return e.err }

// difference returns the difference of a round's samples.
func (r *rounds) difference(row bisectRow, round int) (float64, error) {
	var texts [2][]byte
	for i, s := range r.sides {
		var err error
		if texts[i], err = os.ReadFile(r.file(s, round)); err != nil {
			return 0, err
		}
	}
	return row.difference(r.sides, texts)
}
