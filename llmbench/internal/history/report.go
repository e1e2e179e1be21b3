package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history/internal/watch"
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
	Verdict Verdict   `json:"verdict"` // of this report and of Others: the most important one
	Summary string    `json:"summary"` // one line, also about Others
	news    string    // Summary without Known, if there are some
	Run     string    `json:"run"` // file name of the judged run
	Commit  string    `json:"commit"`
	Time    time.Time `json:"commit_time"`
	Machine string    `json:"machine,omitempty"`
	Server  string    `json:"server,omitempty"`
	place   string    // see CheckOptions.Place
	shared  string    // what the names of all series have in common, or ""
	// Nights is the promised rate of false alarms: on average, at most one false alarm in this number of
	// nights.
	Nights float64 `json:"nights"`
	Min    float64 `json:"min"` // smaller changes are ignored; a share: 0.01 is 1 %
	// Detectable is the size of a change that seven runs would reveal in a typical series with a probability of
	// 80 %, as a share. It assumes normal noise. It is 0 if Same is empty. AtOnce is the same for one run, which such a
	// change puts out of line.
	Detectable float64  `json:"detectable"`
	AtOnce     float64  `json:"at_once"`
	Causes     []Cause  `json:"causes"`              // regressions that this run revealed
	Improved   []Cause  `json:"improved"`            // improvements
	Suspects   []Move   `json:"suspects"`            // values out of line that only reruns can confirm, or later runs if they need no reruns
	Controls   []Series `json:"controls"`            // after a slow night: series to rerun besides the suspects, because they show whether the machine is still slow
	Cleared    []Move   `json:"cleared"`             // values out of line that reruns did not confirm
	SlowOnce   *Move    `json:"slow_once,omitempty"` // set if all series of the machine are worse in this run, and reruns have not decided why
	Recovered  *Move    `json:"recovered,omitempty"` // set if all series of the machine were worse in this run, but not in reruns
	Known      []Cause  `json:"known"`               // regressions that earlier runs revealed and that are neither accepted nor gone
	Same       []Series `json:"same"`                // series that were judged and did not move
	Young      []Series `json:"young"`               // series with too few earlier runs
	Missing    []string `json:"missing"`             // benchmarks, figures of gated units and margins that earlier runs had and this run lacks
	Withheld   []string `json:"withheld"`            // why figures of gated units were withheld in this run, and in how many runs before
	Unsound    []string `json:"unsound"`             // results that are neither judged nor added to the baseline, with reasons
	LeftOut    []string `json:"left_out"`            // values that were never above 0, or may be 0 or negative because lower is better and the margin has an amount, reruns whose repeated run is missing, and machines without a current run
	Epochs     []string `json:"epochs"`              // differences in configuration that begin a new baseline
	Order      []string `json:"order"`               // clocks that were wrong, and commits that are not newer than the commits measured before
	// withheldAlarm are the texts of Withheld that chance does not explain and that are the server's doing.
	withheldAlarm []string
	// Others are the reports about the other machines. Each has a verdict and a summary of its own.
	Others []*Report `json:"others,omitempty"`
}

// newest returns the Summary without Known, which an overview shows by itself.
func (r *Report) newest() string { return cmp.Or(r.news, r.Summary) }

// A Series is one unit of one benchmark over all runs.
type Series struct {
	Benchmark string `json:"benchmark,omitempty"` // with its package, if known; "" stands for all series of the machine
	Unit      string `json:"unit,omitempty"`      // as the files spell it
	pattern   string // an argument of -bench that matches the benchmark
	words     string // in words, without what all series share
}

// A Move is a change of a series.
type Move struct {
	Series
	// Change is the change of the unit as a share of the value before: 0.05 is 5 % more. Low and High are its
	// 95 % confidence interval. If the move is of all series of a machine, positive is worse.
	Change  float64 `json:"change"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	P       float64 `json:"p"`                // about the probability that any series shows such a change by chance in a night, rather more than less
	Reruns  int     `json:"reruns,omitempty"` // how many reruns are needed
	figure  figure
	finding watch.Finding // what the move describes
}

// A figure is a unit of a benchmark in all configurations. The zero value stands for all series of a machine.
type figure struct {
	row  benchproc.Key
	unit string
}

// A Cause is a change that may show in several series.
type Cause struct {
	Good    RunID  `json:"good"` // the last run without the change
	Bad     RunID  `json:"bad"`  // a run that has the change
	Moves   []Move `json:"moves"`
	Machine string `json:"machine,omitempty"`
	shared  string // what the names of all series have in common, or ""
	// The change began in one of the nights from first to last. The night found revealed it.
	first, last, found int
}

// A RunID names a run.
type RunID struct {
	Run    string    `json:"run"`
	Commit string    `json:"commit"`
	Time   time.Time `json:"commit_time"`
}

// text describes the move in one line.
func (m Move) text() string {
	return fmt.Sprintf("%s %+.1f%% (%+.1f%% to %+.1f%%)", m.Series.text(), 100*m.Change, 100*m.Low, 100*m.High)
}

// bySize compares moves by how large they are, whatever their direction.
func bySize(a, b Move) int {
	return cmp.Compare(math.Abs(a.finding.Size), math.Abs(b.finding.Size))
}

// largest returns the largest move of the cause.
func (c Cause) largest() Move { return slices.MaxFunc(c.Moves, bySize) }

// text describes the cause in one line: its largest move, the number of the others, and since when.
func (c Cause) text() string {
	s := c.largest().text()
	if n := len(c.Moves) - 1; n > 0 {
		s += fmt.Sprintf(" and %d more series", n)
	}
	return s + " since " + c.Bad.text()
}

// text names the commit of a run, or the day of the run if no commit is known.
func (r RunID) text() string {
	if noCommit(r.Commit) {
		return r.Time.Format(time.DateOnly)
	}
	return fmt.Sprintf("%.12s", r.Commit)
}

func (s Series) text() string {
	if s.Benchmark == "" {
		return allSeries
	}
	return s.words
}

const allSeries = "all series of the machine, for the worse"

// id names the series in words that stay the same, whichever other series a history has.
func (s Series) id() string {
	if s.Benchmark == "" {
		return allSeries
	}
	return s.Benchmark + " " + s.Unit
}
