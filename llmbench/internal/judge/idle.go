package judge

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Coverage returns the share of the time of a closed loop, in [0,1], for which its users had a session or a request: from its first t0 to its
// last end. The samples are of the given number of passes, in each of which the users were there for the given time, up to [sample.Sample.Until].
func Coverage(samples iter.Seq[*sample.Sample], users, passes int, during time.Duration) float64 {
	type id struct{ pass, request int }
	type span struct{ from, to time.Duration }
	all := map[id]span{}
	for s := range samples {
		k := id{s.Pass, s.Request}
		one := span{max(s.Due, s.From), min(s.End, s.Until)}
		if other, has := all[k]; has {
			one = span{min(one.from, other.from), max(one.to, other.to)}
		}
		all[k] = one
	}
	var sum time.Duration
	for _, one := range all {
		sum += max(0, one.to-one.from)
	}
	return float64(sum) / float64(during) / float64(users*passes)
}

// JudgeIdle withholds rates and latencies if the coverage is below the least one, and returns a text about them, or "".
func (f *Figures) JudgeIdle(coverage, least float64) string {
	if coverage >= least {
		return ""
	}
	var units []string
	for _, u := range f.known() {
		if u.Timed() {
			units = append(units, u.Name)
		}
	}
	f.Metrics[sample.IdleShare] = 100 * (1 - coverage)
	f.withhold(Withholding{Units: append(units, f.computedFrom(units)...), Why: ByIdle})
	return fmt.Sprintf("for %.3g %% of the time of the load its users had no session, and for at most %.3g %% they may have none: want more sessions, fewer failures or fewer users\n  %s are withheld", 100*(1-coverage), 100*(1-least), strings.Join(units, ", "))
}
