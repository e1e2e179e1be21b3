package measure

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/bisect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// A looker is a bisection whose ends were compared.
type looker struct {
	*bisection
	search *bisect.Search
	row    bisectRow
}

func (b *bisection) newReport() *bisectReport {
	return &bisectReport{Verdict: bisectCannotJudge, Alpha: b.Alpha, Good: b.commits[0].hash, Bad: b.commits[len(b.commits)-1].hash}
}

// report returns the report of a search that ends with summary.
func (l *looker) report(summary string) *bisectReport {
	r := l.newReport()
	r.Summary, r.Name, r.Unit, r.Margin, r.Noise, r.Pairs = summary, l.row.Name, l.row.Unit, *l.row.Margin, numbers.Rounded(l.search.Noise(), 4), len(l.state.Pairs)
	if c, ok := l.search.Named(); ok && c.New == c.Old+1 {
		r.Verdict, r.First, r.Parent = bisectFound, l.commits[c.New].hash, l.commits[c.Old].hash
		r.Change = l.change(c)
	}
	for number, c := range l.commits {
		if number == 0 {
			continue
		}
		all := bisectCommit{Commit: c.hash, Time: c.time.UTC(), Subject: c.subject, Probability: numbers.Rounded(l.search.Probability(number), 4), Skipped: l.state.Skipped[number]}
		against := bisect.Comparison{New: number}
		if pairs := l.search.Pairs(against); len(pairs) > 0 {
			change := l.change(against)
			all.Change = &change
		}
		for _, pair := range l.state.Pairs {
			switch {
			case pair == against:
				all.Pairs++
			case pair.New == number:
				all.Confirmed++
			}
		}
		r.Commits = append(r.Commits, all)
	}
	return r
}

// change returns the median change of a comparison, as a share.
func (l *looker) change(c bisect.Comparison) float64 {
	return numbers.Rounded(l.row.change(robust.Median(l.search.Pairs(c))), 4)
}

// margin returns how far the row may change, with its sign, as text.
func (l *looker) marginText() string { return fmt.Sprintf("%+.3g%%", 100*l.row.change(l.row.margin)) }

// noise describes the loss and its noise.
func (l *looker) noise() string {
	bad := bisect.Comparison{New: len(l.commits) - 1}
	if l.row.Withheld != nil {
		return fmt.Sprintf("%s: %s", l.row.title(), l.withheldText(bad))
	}
	return fmt.Sprintf("%s changes by %+.1f%%, where %s is allowed, and a pair has a standard deviation of %.1f%%", l.row.title(), 100*l.change(bad), l.marginText(), 100*l.search.Noise())
}

// withheldText says in how many pairs of a comparison only the new commit has the reason of the row.
func (l *looker) withheldText(c bisect.Comparison) string {
	pairs := l.search.Pairs(c)
	only := 0
	for _, x := range pairs {
		if x > 0 {
			only++
		}
	}
	return fmt.Sprintf("in %d of %d pairs, only the runs of %.12s %s", only, len(pairs), l.commits[c.New].hash, l.row.runs())
}

// favorite returns the most probable commit.
func (l *looker) favorite() (best int) {
	for number := 1; number < len(l.commits); number++ {
		if best == 0 || l.search.Probability(number) > l.search.Probability(best) {
			best = number
		}
	}
	return best
}

// favoriteText names the most probable commit.
func (l *looker) favoriteText() string {
	best := l.favorite()
	return fmt.Sprintf("the first worse commit is %.12s with a probability of %.0f%%", l.commits[best].hash, 100*l.search.Probability(best))
}

// pairsText returns a number of pairs as text.
func pairsText(pairs float64) string {
	switch {
	case !(pairs < 1e5):
		return "more than 100000"
	case pairs < 20:
		return fmt.Sprintf("%.0f", math.Ceil(pairs))
	}
	return fmt.Sprintf("%.2g", math.Ceil(pairs))
}

// conclude returns the summary of a search that needs no further pairs.
func (l *looker) conclude() string {
	c, ok := l.search.Named()
	switch {
	case !ok:
		return "cannot judge: no further pair can tell more; " + l.favoriteText()
	case c.New > c.Old+1:
		var names []string
		for number := c.Old + 1; number <= c.New; number++ {
			names = append(names, fmt.Sprintf("%.12s", l.commits[number].hash))
		}
		return fmt.Sprintf("cannot judge which of %d commits is the first that is worse than allowed, because only the last of them can be measured: %s", len(names), strings.Join(names, ", "))
	}
	if l.row.Withheld != nil {
		return fmt.Sprintf("%.12s is the first commit that is worse than allowed: %s: %s and not of its parent (with a confidence of %.4g%%); its subject is %q",
			l.commits[c.New].hash, l.row.Name, l.withheldText(c), 100*(1-l.Alpha), l.commits[c.New].subject)
	}
	return fmt.Sprintf("%.12s is the first commit that is worse than allowed: %s %+.1f%% against its parent (median of %d pairs; worse than %s with a confidence of %.4g%%); its subject is %q",
		l.commits[c.New].hash, l.row.title(), 100*l.change(c), len(l.search.Pairs(c)), l.marginText(), 100*(1-l.Alpha), l.commits[c.New].subject)
}

// exhausted returns the summary of a search that has taken all allowed pairs.
func (l *looker) exhausted() string {
	text := fmt.Sprintf("cannot judge: %d pairs were not enough (-pairs): %s; %s", l.limit, l.noise(), l.favoriteText())
	best := l.favorite()
	for _, c := range l.state.Pairs {
		if c.Confirm && c.New == best && len(l.search.Pairs(c)) >= 8 && math.Abs(l.change(c)) <= math.Abs(l.row.change(l.row.margin)) {
			return text + fmt.Sprintf(", but changes by only %+.1f%% against its parent: do several commits share the loss?", 100*l.change(c))
		}
	}
	return text + fmt.Sprintf("; about %s further pairs are needed", pairsText(l.search.Needed()))
}
