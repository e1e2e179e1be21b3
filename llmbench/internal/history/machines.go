package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/rowname"
)

// current is the time before the newest run in which a machine must have run for its newest run to be judged.
const current = 7 * 24 * time.Hour

// checkers returns a checker for each machine: first the machine that ran last, then the others whose newest run is to be
// judged, and then those without a current run. The allowed rate of false alarms is divided among those to be judged.
func (r *Reader) checkers(runs []*Run, o CheckOptions) ([]*checker, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	now := time.Now()
	nights, ahead, err := nightsOf(runs, o.Run, now)
	if err != nil {
		return nil, err
	}
	last := func(machine string) time.Time { return nights[machine][len(nights[machine])-1].ranAt(now) }
	var machines []string
	newest := ""
	for _, run := range runs {
		if all := nights[run.Machine]; len(all) == 0 || run != all[len(all)-1] {
			continue
		}
		if len(machines) == 0 || !last(run.Machine).Before(last(newest)) {
			newest = run.Machine
		}
		machines = append(machines, run.Machine)
	}
	isGone := func(machine string) bool { return last(newest).Sub(last(machine)) > current }
	slices.SortFunc(machines, func(a, b string) int {
		rank := func(machine string) int {
			switch {
			case machine == newest:
				return 0
			case !isGone(machine):
				return 1
			}
			return 2
		}
		return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
	})
	judged := len(machines)
	for judged > 1 && isGone(machines[judged-1]) {
		judged--
	}
	o.Nights *= float64(judged)
	var all []*checker
	for i, machine := range machines {
		c := r.newChecker(nights[machine], runs, o)
		if i >= judged {
			c.gone = fmt.Sprintf("machine %q: no run since %s", machine, last(machine).UTC().Format(time.DateOnly))
		}
		if c.wrong = c.readRules(); c.wrong != nil {
			if i == 0 {
				return nil, c.wrong
			}
			c.rules, c.equal = all[0].rules, all[0].equal
		}
		c.ahead = ahead[machine]
		all = append(all, c)
	}
	names := r.names(all)
	for _, c := range all {
		c.names = names
	}
	return all, nil
}

// common returns what all names have in common, or "".
func common(names *rowname.Names) string {
	all := names.Common()
	if pkg := names.Package(); pkg != "" && all != "" && all[0] != '/' {
		all = pkg + "." + all
	}
	return all
}

// names returns the names of all benchmarks with gated units.
func (r *Reader) names(all []*checker) *rowname.Names {
	seen := map[benchproc.Key]bool{}
	var benchmarks []rowname.Benchmark
	for _, c := range all {
		for _, run := range c.nights {
			for _, cell := range run.Cells {
				if c.rules[cell.Unit].Gated && !seen[cell.Row] {
					seen[cell.Row] = true
					benchmarks = append(benchmarks, r.benchmark(cell.Row))
				}
			}
		}
	}
	return rowname.Of(benchmarks)
}

// nightsOf returns the runs of each machine without reruns. If name is not "", only the run with this name is to be
// judged, so only the runs of its machine are returned, and it is the last one. Nobody knows the place of runs that are
// in the future, as their commits are. They are returned apart, unless all runs of the machine are.
func nightsOf(runs []*Run, name string, now time.Time) (nights, ahead map[string][]*Run, err error) {
	nights, ahead = map[string][]*Run{}, map[string][]*Run{}
	var named *Run
	for _, run := range runs {
		switch {
		case run.Name == name:
			named = run
		case run.RerunOf != "":
		case run.Date != "" && run.ranAt(now).Sub(now) > day:
			ahead[run.Machine] = append(ahead[run.Machine], run)
		default:
			nights[run.Machine] = append(nights[run.Machine], run)
		}
	}
	for machine, all := range ahead {
		if len(nights[machine]) == 0 {
			nights[machine] = all
			delete(ahead, machine)
		}
	}
	switch {
	case name == "" && len(nights) == 0:
		return nil, nil, errors.New("no runs apart from reruns")
	case name == "":
		return nights, ahead, nil
	case named == nil:
		return nil, nil, fmt.Errorf("run: %q: the history does not have this run: want a name as add and log print it", name)
	case named.RerunOf != "":
		return nil, nil, fmt.Errorf("run: %q repeats another run: want that one, %s", name, named.RerunOf)
	}
	return map[string][]*Run{named.Machine: append(nights[named.Machine], named)}, ahead, nil
}

// verdicts are in the order of importance.
var verdicts = []Verdict{Alarm, CannotJudge, Nothing}

// join returns the first checker's report with the reports of the others that judge a run.
func join(all []*checker) *Report {
	first := all[0].report
	reports := []*Report{first}
	for _, c := range all[1:] {
		if c.gone != "" {
			text := c.gone
			if open := len(c.report.Causes) + len(c.report.Known); open > 0 {
				text += fmt.Sprintf("; it had %s still open", numbers.Count(open, "change"))
			}
			first.LeftOut = append(first.LeftOut, text)
		} else {
			reports = append(reports, c.report)
		}
	}
	for _, r := range reports {
		r.Nights /= float64(len(reports))
	}
	if len(reports) == 1 {
		return first
	}
	first.Others = slices.Clone(reports[1:])
	slices.SortStableFunc(reports, func(a, b *Report) int {
		return slices.Index(verdicts, a.Verdict) - slices.Index(verdicts, b.Verdict)
	})
	of := func(r *Report, summary string) string {
		return fmt.Sprintf("%s on machine %q%s", r.Verdict, r.Machine, strings.TrimPrefix(summary, string(r.Verdict)))
	}
	var sums, news []string
	for _, r := range reports {
		sums, news = append(sums, of(r, r.Summary)), append(news, of(r, r.newest()))
	}
	first.Verdict, first.Summary, first.news = reports[0].Verdict, strings.Join(sums, "; "), strings.Join(news, "; ")
	return first
}
