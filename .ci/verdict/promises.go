package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// The limits of the promises, in percent.
const (
	maxShown    = 5 // largest error that a shown metric may have
	rightWithin = 2 // a metric with at most this error should be shown
	nearZero    = 2 // client-err-% need not distinguish errors up to this size
	minFast     = 90
	minTold     = 90
)

// maxK6Off is the largest accepted difference between k6's median TTFT and the truth.
const maxK6Off = time.Millisecond

// In a healthy run, the server's mean TPOT and median TTFT may differ from the configured times by these
// shares. The TTFT may differ by ownTime more, because the server needs time to read a request and to wake up.
const (
	maxTPOTOff = 0.05
	maxTTFTOff = 0.1
	ownTime    = 2 * time.Millisecond
)

// In healthy runs at slowToken per token or more, every right metric should be shown. From fastToken up to
// slowToken, minFast percent of the right metrics should be shown.
const (
	slowToken = 2 * time.Millisecond
	fastToken = 500 * time.Microsecond
)

// A promise is a statement about all runs together, and whether it holds.
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

// promises evaluates the promises of a check for its results.
func (c check) promises(all []result) []promise {
	switch c {
	case starved:
		return starvedPromises(all)
	case byPriority:
		return priorityPromises(all)
	case k6:
		near := only(all, func(r result) bool {
			return slices.ContainsFunc(r.Figures, func(f figure) bool {
				return f.Unit == sample.P50TTFT && math.Abs(f.Measured-f.True) <= float64(maxK6Off)
			})
		})
		return []promise{{len(near) == len(all), fmt.Sprintf("the median of llm_ttft is within %v of the truth in %d of %d runs: want all", maxK6Off, len(near), len(all))}}
	}
	s := sum(all)
	slow := sum(only(all, func(r result) bool { return r.healthy() && r.PerToken >= slowToken }))
	paced := sum(only(all, func(r result) bool { return r.PerToken >= slowToken }))
	fast := sum(only(all, func(r result) bool { return r.healthy() && r.PerToken >= fastToken && r.PerToken < slowToken }))
	return []promise{
		{s.wrong == 0, fmt.Sprintf("%d of %d shown figures are more than %d %% wrong: want none", s.wrong, s.shown, maxShown)},
		{slow.rightShown == slow.right, fmt.Sprintf("%d of %d figures within %d %% are shown in %d healthy runs at %v a token and more: want all", slow.rightShown, slow.right, rightWithin, slow.runs, slowToken)},
		{100*fast.rightShown >= minFast*fast.right, fmt.Sprintf("%d of %d figures within %d %% are shown in %d healthy runs at %v a token: want %d %%", fast.rightShown, fast.right, rightWithin, fast.runs, fastToken, minFast)},
		{100*paced.told >= minTold*paced.runs, fmt.Sprintf("client-err-%% is within a factor of 2 of the truth, or both are at most %d %%, in %d of %d runs at %v a token and more: want %d %%", nearZero, paced.told, paced.runs, slowToken, minTold)},
	}
}

// starvedPromises evaluates the promises of the check "starved": client-err-% must distinguish starved clients
// from others.
func starvedPromises(all []result) []promise {
	limited := only(all, func(r result) bool { return r.Starved })
	other := only(all, func(r result) bool { return !r.Starved && r.worst() <= maxShown/2. })
	noticed := len(only(limited, func(r result) bool { return r.accused() || r.ClientError != nil && r.told() }))
	accused := len(only(other, result.accused))
	return []promise{
		{noticed == len(limited), fmt.Sprintf("client-err-%% is above %d %%, or within a factor of 2 of the truth, for %d of %d starved clients: want all", maxShown, noticed, len(limited))},
		{accused == 0, fmt.Sprintf("client-err-%% is above %d %% for %d of %d other clients within %v %% of the truth: want none", maxShown, accused, len(other), maxShown/2.)},
	}
}

// only returns the results for which wanted is true.
func only(all []result, wanted func(result) bool) []result {
	return slices.DeleteFunc(slices.Clone(all), func(r result) bool { return !wanted(r) })
}

// A total counts runs and metrics over several results.
type total struct {
	runs, told        int     // number of runs, and of runs in which client-err-% was right
	figures, shown    int     // number of metrics, and of metrics that were shown
	right, rightShown int     // number of metrics within rightWithin of the truth, and how many of them were shown
	wrong             int     // number of shown metrics with an error above maxShown
	worstShown        float64 // largest error of a shown metric, in percent
}

// sum returns the total over the results.
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

// table returns a Markdown table with a row for each time per token and each kind of work beside the client.
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
