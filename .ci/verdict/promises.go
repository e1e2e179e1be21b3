package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// The limits of the promises, in percent.
const (
	maxShown    = 5 // the error of a figure that is shown
	rightWithin = 2 // the error of the figures of a run that should not be refused
	nearZero    = 2 // the error that client-err-% need not tell from 0
	maxAccused  = 2 // the runs that may be refused although their figures are right
	minTold     = 90
)

// A promise is what should hold for the runs together.
type promise struct {
	held bool
	text string
}

func (p promise) String() string {
	if p.held {
		return "held: " + p.text
	}
	return "BROKEN: " + p.text
}

// promises returns whether the results keep the promises.
func promises(all []result) []promise {
	s := sum(all)
	return []promise{
		{s.wrong == 0, fmt.Sprintf("%d of %d shown figures are more than %d %% wrong; want none", s.wrong, s.shown, maxShown)},
		{100*s.accused <= maxAccused*s.runs, fmt.Sprintf("%d of %d runs were refused although all figures are within %d %%; want at most %d %%", s.accused, s.runs, rightWithin, maxAccused)},
		{100*s.told >= minTold*s.runs, fmt.Sprintf("client-err-%% is within a factor of 2 of the truth, or both are at most %d %%, in %d of %d runs; want %d %%", nearZero, s.told, s.runs, minTold)},
	}
}

// A total is what counts in the results of some runs.
type total struct {
	runs, refused, accused, told          int     // runs
	shown, wrong, withheld, withheldRight int     // figures
	worstShown                            float64 // percent
}

// sum adds results.
func sum(all []result) (t total) {
	for _, r := range all {
		t.runs++
		for _, f := range r.Figures {
			switch {
			case f.Shown:
				t.shown++
				t.worstShown = max(t.worstShown, f.Error)
			default:
				t.withheld++
				if f.Error <= rightWithin {
					t.withheldRight++
				}
			}
		}
		t.wrong += len(r.wrong())
		if r.refused() {
			t.refused++
		}
		if r.accused() {
			t.accused++
		}
		if r.told() {
			t.told++
		}
	}
	return t
}

// table returns the results of each load as a table in Markdown.
func table(all []result) string {
	loads := map[load][]result{}
	var order []load
	for _, r := range all {
		if loads[r.load] == nil {
			order = append(order, r.load)
		}
		loads[r.load] = append(loads[r.load], r)
	}
	slices.SortFunc(order, func(a, b load) int { return 1000*(a.Streams-b.Streams) + a.Loops - b.Loops })
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 1, ' ', 0)
	fmt.Fprintf(w, "| streams\t| busy loops\t| runs\t| refused\t| refused, all figures within %d %%\t| client-err-%% tells the error\t| figures shown, more than %d %% wrong\t| largest error shown\t| figures withheld, within %d %%\t|\n", rightWithin, maxShown, rightWithin)
	fmt.Fprintln(w, strings.Repeat("| ---\t", 9)+"|")
	row := func(streams, loops any, t total) {
		fmt.Fprintf(w, "| %v\t| %v\t| %d\t| %d\t| %d\t| %d\t| %d, %d\t| %.2g %%\t| %d, %d\t|\n",
			streams, loops, t.runs, t.refused, t.accused, t.told, t.shown, t.wrong, t.worstShown, t.withheld, t.withheldRight)
	}
	for _, l := range order {
		row(l.Streams, l.Loops, sum(loads[l]))
	}
	row("all", "all", sum(all))
	w.Flush()
	return text.String()
}
