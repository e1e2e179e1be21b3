package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// The limits of the promises, in percent.
const (
	maxShown    = 5 // the error of a figure that is shown
	rightWithin = 2 // the error of a figure that should be shown
	nearZero    = 2 // the error that client-err-% need not tell from 0
	minFast     = 90
	minTold     = 90
)

// maxK6Off is how far the median TTFT of k6 may be from the truth.
const maxK6Off = time.Millisecond

// By how much the mean TPOT and the median TTFT of a healthy run's server may differ from what the server was told: a
// share, and for the TTFT the time that the server takes to read a request and to wake up.
const (
	maxTPOTOff = 0.05
	maxTTFTOff = 0.1
	ownTime    = 2 * time.Millisecond
)

// The time of a token from which on every right figure should be shown, and from which on
// minFast percent of them should be.
const (
	slowToken = 2 * time.Millisecond
	fastToken = 500 * time.Microsecond
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

// promises returns whether the results of a check keep its promises.
func (c check) promises(all []result) []promise {
	switch c {
	case starved:
		return starvedPromises(all)
	case k6:
		near := only(all, func(r result) bool {
			return slices.ContainsFunc(r.Figures, func(f figure) bool {
				return f.Unit == "p50-ttft-ns" && math.Abs(f.Measured-f.True) <= float64(maxK6Off)
			})
		})
		return []promise{{len(near) == len(all), fmt.Sprintf("the median of llm_ttft is within %v of the truth in %d of %d runs; want all", maxK6Off, len(near), len(all))}}
	}
	s := sum(all)
	slow := sum(only(all, func(r result) bool { return r.healthy() && r.PerToken >= slowToken }))
	paced := sum(only(all, func(r result) bool { return r.PerToken >= slowToken }))
	fast := sum(only(all, func(r result) bool { return r.healthy() && r.PerToken >= fastToken && r.PerToken < slowToken }))
	return []promise{
		{s.wrong == 0, fmt.Sprintf("%d of %d shown figures are more than %d %% wrong; want none", s.wrong, s.shown, maxShown)},
		{slow.rightShown == slow.right, fmt.Sprintf("%d of %d figures within %d %% are shown in %d healthy runs at %v a token and more; want all", slow.rightShown, slow.right, rightWithin, slow.runs, slowToken)},
		{100*fast.rightShown >= minFast*fast.right, fmt.Sprintf("%d of %d figures within %d %% are shown in %d healthy runs at %v a token; want %d %%", fast.rightShown, fast.right, rightWithin, fast.runs, fastToken, minFast)},
		{100*paced.told >= minTold*paced.runs, fmt.Sprintf("client-err-%% is within a factor of 2 of the truth, or both are at most %d %%, in %d of %d runs at %v a token and more; want %d %%", nearZero, paced.told, paced.runs, slowToken, minTold)},
	}
}

// starvedPromises returns whether client-err-% tells starved clients from others.
func starvedPromises(all []result) []promise {
	limited := only(all, func(r result) bool { return r.Starved })
	other := only(all, func(r result) bool { return !r.Starved && r.worst() <= maxShown/2. })
	noticed, accused := len(only(limited, result.accused)), len(only(other, result.accused))
	return []promise{
		{noticed == len(limited), fmt.Sprintf("client-err-%% is above %d %% for %d of %d starved clients; want all", maxShown, noticed, len(limited))},
		{accused == 0, fmt.Sprintf("client-err-%% is above %d %% for %d of %d other clients within %v %% of the truth; want none", maxShown, accused, len(other), maxShown/2.)},
	}
}

// only returns the results that are wanted.
func only(all []result, wanted func(result) bool) []result {
	return slices.DeleteFunc(slices.Clone(all), func(r result) bool { return !wanted(r) })
}

// A total is what counts in the results of some runs.
type total struct {
	runs, told        int     // runs
	figures, shown    int     // figures
	right, rightShown int     // figures within rightWithin of the truth
	wrong             int     // figures that are shown, and more than maxShown from the truth
	worstShown        float64 // percent
}

// sum adds results.
func sum(all []result) (t total) {
	for _, r := range all {
		t.runs++
		for _, f := range r.Figures {
			t.figures++
			if f.Shown {
				t.shown++
				t.worstShown = max(t.worstShown, f.Error)
			}
			if f.Error <= rightWithin {
				t.right++
				if f.Shown {
					t.rightShown++
				}
			}
		}
		t.wrong += len(r.wrong())
		if r.told() {
			t.told++
		}
	}
	return t
}

// table returns the results of each time per token and neighbour as a table in Markdown.
func table(all []result) string {
	type key struct {
		token  time.Duration
		loops  int
		build  bool
		beside string
	}
	rows := map[key][]result{}
	for _, r := range all {
		k := key{r.PerToken, r.Loops, r.Build, r.beside()}
		rows[k] = append(rows[k], r)
	}
	var order []key
	for k := range rows {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.token, b.token), strings.Compare(fmt.Sprint(a.build), fmt.Sprint(b.build)), a.loops-b.loops)
	})
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 1, ' ', 0)
	fmt.Fprintf(w, "| a token\t| beside\t| runs\t| figures\t| within %d %%\t| of these shown\t| shown\t| more than %d %% wrong\t| largest error shown\t| client-err-%% tells the error\t|\n", rightWithin, maxShown)
	fmt.Fprintln(w, strings.Repeat("| ---\t", 10)+"|")
	row := func(token, beside any, t total) {
		fmt.Fprintf(w, "| %v\t| %v\t| %d\t| %d\t| %d\t| %d\t| %d\t| %d\t| %.2g %%\t| %d\t|\n",
			token, beside, t.runs, t.figures, t.right, t.rightShown, t.shown, t.wrong, t.worstShown, t.told)
	}
	for _, k := range order {
		row(k.token, k.beside, sum(rows[k]))
	}
	row("all", "all", sum(all))
	w.Flush()
	return text.String()
}
