package calibrate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// A Tally counts predicted values by the size of their errors.
type Tally struct {
	Values                      int // all values
	Within5, Within10, Within20 int // values with an error of at most 5, 10 and 20 %
}

// Share returns n as a percentage of all values.
func (t Tally) Share(n int) float64 { return 100 * float64(n) / float64(max(t.Values, 1)) }

// Count returns a tally of all predicted values, in all units.
func Count(all []Prediction) Tally {
	var t Tally
	for _, q := range all {
		for _, u := range q.Units {
			off := math.Abs(q.Off(u))
			t.Values++
			if off <= 5 {
				t.Within5++
			}
			if off <= 10 {
				t.Within10++
			}
			if off <= 20 {
				t.Within20++
			}
		}
	}
	return t
}

// Summary prints a line for each profile: the shares of values with an error of at most 5, 10 and 20 %, and the
// median and largest held-out error in each unit. names gives the order; all has the predictions, keyed by
// profile name.
func Summary(w io.Writer, names []string, all map[string][]Prediction) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "profile\tvalues\t≤5%\t≤10%\t≤20%\theld-out error, median/most in %")
	var everything []Prediction
	for _, name := range names {
		t := Count(all[name])
		var units []string
		for _, e := range Errors(all[name]) {
			units = append(units, fmt.Sprintf("%s %.1f/%.0f", short(e.Unit), e.Median, e.Most))
		}
		fmt.Fprintf(tw, "%s\t%d\t%.0f\t%.0f\t%.0f\t%s\n", name, t.Values, t.Share(t.Within5), t.Share(t.Within10), t.Share(t.Within20), strings.Join(units, "  "))
		everything = append(everything, all[name]...)
	}
	sum := Count(everything)
	fmt.Fprintf(tw, "all\t%d\t%.1f\t%.1f\t%.1f\t\n", sum.Values, sum.Share(sum.Within5), sum.Share(sum.Within10), sum.Share(sum.Within20))
	tw.Flush()
}

// short returns a unit without the suffixes "-ns" and "-e2e".
func short(unit string) string { return strings.TrimSuffix(strings.TrimSuffix(unit, "-ns"), "-e2e") }

// Table prints a line for each held-out point: the error in each unit in percent, and the measured and
// predicted numbers of lost and of failed requests. A lost request is in no counter of the client.
func Table(w io.Writer, all []Prediction) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	units := []string{}
	for _, q := range all {
		for _, u := range q.Units {
			if !slices.Contains(units, u) {
				units = append(units, u)
			}
		}
	}
	fmt.Fprint(tw, "workload\tc\t")
	for _, u := range units {
		fmt.Fprintf(tw, "%s\t", short(u))
	}
	fmt.Fprintln(tw, "lost\tfailed\tgain\t")
	for _, q := range all {
		fmt.Fprintf(tw, "%s\t%d\t", q.Point.Workload, q.Point.Concurrency)
		for _, u := range units {
			if slices.Contains(q.Units, u) {
				fmt.Fprintf(tw, "%+.1f\t", q.Off(u))
			} else {
				fmt.Fprint(tw, "\t")
			}
		}
		for _, u := range []string{"lost-req", "failed-req"} {
			if measured, ok := q.Point.Values[u]; ok {
				fmt.Fprintf(tw, "%.0f→%.0f", measured, q.Predicted[u])
			}
			fmt.Fprint(tw, "\t")
		}
		fmt.Fprintf(tw, "%.1f\t\n", q.Gain)
	}
	tw.Flush()
}
