package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// large is a change, as a share, that readers expect to see in its first run. Few or noisy earlier runs hide it, which the
// summary then says.
const large = 0.1

// conclude sets the verdict and the summary.
func (c *checker) conclude() {
	r := c.report
	judged := len(r.Same)
	for _, all := range [][]Cause{r.Causes, r.Improved} {
		for _, cause := range all {
			judged += len(cause.Moves)
		}
	}
	judged += len(r.Suspects) + len(r.Cleared)
	var rest []string
	add := func(n int, format string, args ...any) {
		if n > 0 {
			rest = append(rest, fmt.Sprintf(format, args...))
		}
	}
	if m := r.SlowOnce; m != nil {
		what := ", also when rerun, but it was slow in other runs: later runs decide"
		if m.Reruns > 0 {
			what = ", to be rerun"
		}
		add(1, "all series of the machine worse by about %.1f%%%s", 100*m.Change, what)
	}
	undecided := 0
	for _, m := range r.Suspects {
		if m.Reruns == 0 {
			undecided++
		}
	}
	add(len(r.Suspects)-undecided, "%s out of line, to be rerun", numbers.Count(len(r.Suspects)-undecided, "series"))
	add(undecided, "%s out of line, also when rerun: later runs decide", numbers.Count(undecided, "series"))
	if len(r.withheldAlarm) == 0 || len(r.Causes) > 0 {
		add(len(r.Withheld), "%s", strings.Join(r.Withheld, "; "))
	}
	add(len(r.Missing), "%s", missed(r.Missing))
	add(len(r.Unsound), "not sound: %s", strings.Join(r.Unsound, "; "))
	add(len(r.Young), "%s with too few earlier runs", numbers.Count(len(r.Young), "series"))
	switch {
	case len(r.Causes) > 0:
		r.Verdict = Alarm
		r.Summary = "alarm: " + most(r.Causes)
	case len(r.withheldAlarm) > 0:
		r.Verdict, r.Summary = Alarm, "alarm: "+strings.Join(r.withheldAlarm, "; ")
	case len(r.Suspects)+len(r.Missing)+len(r.Unsound) > 0 || r.SlowOnce != nil || judged == 0:
		r.Verdict = CannotJudge
		r.Summary = "cannot judge"
		if judged == 0 && len(rest) == 0 {
			rest = []string{"no results of a gated unit"}
		}
	default:
		r.Verdict, r.Summary = Nothing, fmt.Sprintf("nothing: %s in line with what came before", numbers.Count(judged, "series"))
		if r.AtOnce > large {
			r.Summary += fmt.Sprintf(" (a change of less than %.1f%% does not show at once, and of less than %.1f%% not within seven runs)", 100*r.AtOnce, 100*r.Detectable)
		}
	}
	if len(rest) > 0 {
		r.Summary += ": " + strings.Join(rest, "; ")
	}
	if r.news = r.Summary; len(r.Known) > 0 {
		r.Summary += "; still open: " + most(r.Known)
	}
}

// most counts causes, which are regressions, and describes the one with the largest move.
func most(causes []Cause) string {
	largest := slices.MaxFunc(causes, func(a, b Cause) int { return bySize(a.largest(), b.largest()) })
	if len(causes) == 1 {
		return largest.text()
	}
	return fmt.Sprintf("%s, most %s", numbers.Count(len(causes), "change"), largest.text())
}
