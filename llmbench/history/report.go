package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/history/internal/watch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// A Verdict is the outcome of [Reader.Check].
type Verdict string

// The verdicts.
const (
	Nothing     Verdict = "nothing"
	Alarm       Verdict = "alarm"
	CannotJudge Verdict = "cannot judge"
)

// A Report says whether the newest run differs from the runs before it.
type Report struct {
	Verdict Verdict   `json:"verdict"`
	Summary string    `json:"summary"` // one line
	Run     string    `json:"run"`     // file name of the judged run
	Commit  string    `json:"commit"`
	Time    time.Time `json:"commit_time"`
	Machine string    `json:"machine,omitempty"`
	Server  string    `json:"server,omitempty"`
	// Nights is the promised rate of false alarms: on average, at most one false alarm in this number of
	// nights.
	Nights float64 `json:"nights"`
	Min    float64 `json:"min"` // smaller changes are ignored; a share: 0.01 is 1 %
	// Detectable is the size of a change that seven runs would reveal in a typical series with a probability of
	// 80 %, as a share. It assumes normal noise. It is 0 if no series was judged.
	Detectable float64  `json:"detectable"`
	Causes     []Cause  `json:"causes"`              // regressions that this run revealed
	Improved   []Cause  `json:"improved"`            // improvements
	Suspects   []Move   `json:"suspects"`            // values out of line that only reruns can confirm
	Controls   []Series `json:"controls"`            // after a slow night: series to rerun besides the suspects, because they show whether the machine is still slow
	Cleared    []Move   `json:"cleared"`             // values out of line that reruns did not confirm
	SlowOnce   *Move    `json:"slow_once,omitempty"` // set if all series of the machine are worse in this run
	Known      []Cause  `json:"known"`               // regressions that the seven runs before revealed
	Same       []Series `json:"same"`                // series that were judged and did not move
	Young      []Series `json:"young"`               // series with too few earlier runs
	Missing    []string `json:"missing"`             // benchmarks that the previous run had and this run lacks
	Unsound    []string `json:"unsound"`             // results that are neither judged nor added to the baseline, with reasons
	LeftOut    []string `json:"left_out"`            // values that were never above 0, and reruns whose repeated run is missing
	Epochs     []string `json:"epochs"`              // differences in configuration that begin a new baseline
}

// A Series is one unit of one benchmark over all runs.
type Series struct {
	Benchmark string `json:"benchmark,omitempty"` // with its package, if known; "" stands for all series of the machine
	Unit      string `json:"unit,omitempty"`      // as the files spell it
	pattern   string // an argument of -bench that matches the benchmark
}

// A Move is a change of a series.
type Move struct {
	Series
	// Change is the change of the unit as a share of the value before: 0.05 is 5 % more. Low and High are its
	// 95 % confidence interval. If the move is of all series of a machine, positive is worse.
	Change float64 `json:"change"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	P      float64 `json:"p"`                // about the probability that any series shows such a change by chance in a night, rather more than less
	Reruns int     `json:"reruns,omitempty"` // how many reruns are needed
}

// A Cause is a change that may show in several series.
type Cause struct {
	Good  RunID  `json:"good"` // the last run without the change
	Bad   RunID  `json:"bad"`  // a run that has the change
	Moves []Move `json:"moves"`
	// The change began in one of the nights from first to last. The night found revealed it.
	first, last, found int
}

// A RunID names a run.
type RunID struct {
	Run    string    `json:"run"`
	Commit string    `json:"commit"`
	Time   time.Time `json:"commit_time"`
}

func newReport(run *Run, o CheckOptions) *Report {
	return &Report{Run: run.Name, Commit: run.Commit, Time: run.Time.UTC(), Machine: run.Machine, Server: run.Server, Nights: o.Nights, Min: o.Min}
}

// explain adds the night's findings to the night's report.
func (c *checker) explain(night int, result watch.Result, r *Report, last bool) {
	var worse, better []located
	moved := map[int]bool{}
	for _, f := range result.Findings {
		m := c.move(f)
		if !f.Shared {
			moved[f.Series] = true
		}
		switch f.Kind {
		case watch.Worse:
			worse = append(worse, located{m, f})
		case watch.Better:
			better = append(better, located{m, f})
		case watch.Suspect:
			r.Suspects = append(r.Suspects, m)
		case watch.Cleared:
			r.Cleared = append(r.Cleared, m)
		case watch.SlowOnce:
			r.SlowOnce = &m
		}
	}
	r.Improved = c.causes(better)
	for _, cause := range c.causes(worse) {
		if known := c.known(night, cause); known != nil {
			known.Moves = append(known.Moves, cause.Moves...)
			continue
		}
		cause.found = night
		c.found = append(c.found, cause)
	}
	if !last {
		return
	}
	for _, cause := range c.found {
		switch {
		case cause.found == night:
			r.Causes = append(r.Causes, cause)
		case cause.found >= night-7:
			r.Known = append(r.Known, cause)
		}
	}
	if len(result.Detectable) > 0 {
		r.Detectable = rounded(math.Expm1(robust.Median(result.Detectable)))
	}
	for _, id := range result.Judged {
		if !moved[id] {
			r.Same = append(r.Same, c.named(id))
		}
	}
	if result.Slow[c.machine(c.nights[night].Machine)] && len(r.Suspects) > 0 {
		r.Controls = c.controls(result.Judged, moved)
	}
	for _, id := range result.Young {
		r.Young = append(r.Young, c.named(id))
	}
	c.compareConfigurations(night)
}

// controls returns the series of the first benchmarks of which no series has moved: at least watch.Controls series,
// or none if there are too few.
func (c *checker) controls(judged []int, moved map[int]bool) (all []Series) {
	restless := map[string]bool{}
	for _, id := range judged {
		if moved[id] {
			restless[c.named(id).pattern] = true
		}
	}
	for _, id := range judged {
		s := c.named(id)
		if restless[s.pattern] {
			continue
		}
		if n := len(all); n >= watch.Controls && s.pattern != all[n-1].pattern {
			break
		}
		all = append(all, s)
	}
	if len(all) < watch.Controls {
		return nil
	}
	return all
}

// known returns an earlier cause of which now may be another sign, or nil. That is a cause on the same machine,
// revealed by an earlier run, whose range of possible first runs overlaps the range of now.
func (c *checker) known(night int, now Cause) *Cause {
	for i := range c.found {
		before := &c.found[i]
		if before.found < night && before.first <= now.last && now.first <= before.last && c.nights[before.last].Machine == c.nights[now.last].Machine {
			return before
		}
	}
	return nil
}

// located is a move with the finding that it describes.
type located struct {
	move    Move
	finding watch.Finding
}

// causes groups the moves whose ranges of possible first runs overlap into causes.
func (c *checker) causes(all []located) []Cause {
	slices.SortStableFunc(all, func(a, b located) int { return cmp.Compare(a.finding.First, b.finding.First) })
	var causes []Cause
	for _, l := range all {
		if n := len(causes); n > 0 && l.finding.First <= causes[n-1].last {
			cause := &causes[n-1]
			cause.Moves = append(cause.Moves, l.move)
			cause.first, cause.last = max(cause.first, l.finding.First), min(cause.last, l.finding.Last)
		} else {
			causes = append(causes, Cause{Moves: []Move{l.move}, first: l.finding.First, last: l.finding.Last})
		}
		cause := &causes[len(causes)-1]
		cause.Good, cause.Bad = c.runID(c.before(l.finding, cause.first)), c.runID(cause.last)
	}
	for _, cause := range causes {
		slices.SortStableFunc(cause.Moves, func(a, b Move) int { return cmp.Compare(math.Abs(b.Change), math.Abs(a.Change)) })
	}
	return causes
}

// before returns the newest night before the given night that measured the finding's series.
func (c *checker) before(f watch.Finding, night int) int {
	for n := night - 1; n >= 0; n-- {
		if f.Shared && c.machine(c.nights[n].Machine) == f.Machine || !f.Shared && slices.Contains(c.present[f.Series], n) {
			return n
		}
	}
	return 0
}

func (c *checker) runID(night int) RunID {
	run := c.nights[night]
	return RunID{run.Name, run.Commit, run.Time.UTC()}
}

func (c *checker) named(id int) Series {
	cell := c.series[id].cell
	return Series{c.reader.benchmarkName(cell.Row), c.unit(cell.Unit), c.reader.pattern(cell.Row)}
}

// move converts a finding to the change of its unit.
func (c *checker) move(f watch.Finding) Move {
	m := Move{P: min(1, f.P), Reruns: f.Reruns}
	direction := 1.0
	if !f.Shared {
		m.Series = c.named(f.Series)
		direction = sign(c.rules[c.series[f.Series].cell.Unit])
	}
	m.Change, m.Low, m.High = math.Expm1(direction*f.Size), math.Expm1(direction*f.Low), math.Expm1(direction*f.High)
	if m.Low > m.High {
		m.Low, m.High = m.High, m.Low
	}
	for _, v := range []*float64{&m.Change, &m.Low, &m.High, &m.P} {
		*v = rounded(*v)
	}
	return m
}

// rounded rounds v to six significant digits, because further digits may differ between processors.
func rounded(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64) // no error: FormatFloat wrote the text
	return v
}

// compareConfigurations adds to the report what differs from the machine's previous run: changed configuration
// and missing benchmarks.
func (c *checker) compareConfigurations(night int) {
	run, r := c.nights[night], c.report
	have := map[benchproc.Key]Cell{}
	for _, cell := range run.Cells {
		have[cell.Row] = cell
	}
	p := night - 1
	for p >= 0 && c.nights[p].Machine != run.Machine {
		p--
	}
	if p < 0 {
		r.Epochs = append(r.Epochs, fmt.Sprintf("the first run of machine %q", run.Machine))
		return
	}
	changes := map[string]int{}
	var order []string
	seen := map[benchproc.Key]bool{}
	for _, cell := range c.nights[p].Cells {
		now, ok := have[cell.Row]
		switch name := c.reader.benchmarkName(cell.Row); {
		case seen[cell.Row]:
			continue
		case !ok:
			r.Missing = append(r.Missing, name)
		case now.Config != cell.Config:
			for _, f := range benchproc.NonSingularFields([]benchproc.Key{cell.Config, now.Config}) {
				text := fmt.Sprintf("%s: %s, before %s", f.Name, cmp.Or(now.Config.Get(f), "none"), cmp.Or(cell.Config.Get(f), "none"))
				if changes[text]++; changes[text] == 1 {
					order = append(order, text)
				}
			}
		}
		seen[cell.Row] = true
	}
	for _, text := range order {
		r.Epochs = append(r.Epochs, fmt.Sprintf("%s (%s)", text, count(changes[text], "benchmark")))
	}
	for _, s := range c.series {
		if all := c.present[c.ids[s]]; s.epoch > 0 && len(all) == 1 && all[0] == night {
			r.Epochs = append(r.Epochs, fmt.Sprintf("%s: a unit with same= differs from before", c.reader.benchmarkName(s.cell.Row)))
		}
	}
	slices.Sort(r.Epochs)
	r.Epochs = slices.Compact(r.Epochs)
}

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
	add(len(r.Suspects), "%s out of line, to be rerun", count(len(r.Suspects), "series"))
	add(len(r.Missing), "%s missing: %s", count(len(r.Missing), "benchmark"), strings.Join(r.Missing, ", "))
	add(len(r.Unsound), "not sound: %s", strings.Join(r.Unsound, "; "))
	add(len(r.Young), "%s with too few earlier runs", count(len(r.Young), "series"))
	switch {
	case len(r.Causes) > 0:
		r.Verdict = Alarm
		m := r.Causes[0].Moves[0]
		r.Summary = fmt.Sprintf("alarm: %s, most %s", count(len(r.Causes), "change"), m.text())
	case len(r.Suspects)+len(r.Missing)+len(r.Unsound) > 0 || judged == 0:
		r.Verdict = CannotJudge
		r.Summary = "cannot judge"
		if judged == 0 && len(rest) == 0 {
			rest = []string{"no results of a gated unit"}
		}
	default:
		r.Verdict, r.Summary = Nothing, fmt.Sprintf("nothing: %s in line with what came before", count(judged, "series"))
	}
	if len(rest) > 0 {
		r.Summary += ": " + strings.Join(rest, "; ")
	}
}

// text describes the move in one line.
func (m Move) text() string {
	return fmt.Sprintf("%s %+.1f%% (%+.1f%% to %+.1f%%)", m.Series.text(), 100*m.Change, 100*m.Low, 100*m.High)
}

func (s Series) text() string {
	if s.Benchmark == "" {
		return "all series of the machine, for the worse"
	}
	return s.Benchmark + " " + s.Unit
}
