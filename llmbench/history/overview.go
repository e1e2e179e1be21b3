package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"

	"github.com/seed-2b9cec6d/llmbench/llmbench/history/internal/watch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// An Overview shows a whole history: every series, and what changed when. Its methods write it as a page, as text
// for a terminal, and as a feed.
type Overview struct {
	report *Report // of the newest run
	runs   []*Run  // without reruns, in the order of commits
	panels []panel // what changed last first
	events []event // newest first
}

// week is the time before the newest run whose events the first screen shows.
const week = 7 * 24 * time.Hour

// A panel is one unit of one benchmark on one machine, over all runs.
type panel struct {
	Series
	machine   string
	cls       benchunit.Class
	suffix    string // of formatted values, such as "s"
	points    []point
	levels    []level
	shifts    []shift
	lastEvent int // the newest night of a shift, or -1
}

// A point is the result of one run.
type point struct {
	night    int // index in Overview.runs
	value    float64
	baseline bool // a new baseline begins here
	suspect  bool // out of line, until reruns or later runs decide
}

// A level is the range of points between two changes.
type level struct {
	from, to  int // indexes of points: from and all before to
	median    float64
	low, high float64 // three standard deviations around the median; outliers have no influence
}

// A shift is a change of the level.
type shift struct {
	worse  bool
	change float64 // as a share
	begins int     // the last of the nights in which the change may have begun
}

// An event is an alarm, an improvement or a new baseline.
type event struct {
	kind   eventKind
	night  int    // the run that revealed it
	cause  *Cause // nil for a new baseline and a slow night
	detail string // what changed, if cause is nil
}

type eventKind string

const (
	eventWorse    eventKind = "worse"
	eventBetter   eventKind = "better"
	eventBaseline eventKind = "new baseline"
	eventSlow     eventKind = "slow run"
)

// Overview replays [Reader.Check] for each run in turn, and returns all results. It shows the gated units.
func (r *Reader) Overview(runs []*Run, o CheckOptions) (*Overview, error) {
	c, err := r.newChecker(runs, o)
	if err != nil {
		return nil, err
	}
	b := &overviewBuilder{checker: c, index: map[panelKey]int{}, of: map[int][2]int{}, o: &Overview{runs: c.nights}}
	for night, run := range c.nights {
		last := night == len(c.nights)-1
		c.report = newReport(run, o)
		values := c.values(night)
		b.points(night, values)
		result := c.watch.Night(values)
		b.findings(result)
		c.explain(night, result, c.report, last)
		if !last {
			c.compareConfigurations(night)
		}
		b.nightEvents(night)
	}
	c.conclude()
	b.o.report = c.report
	for i := range c.found {
		cause := &c.found[i]
		b.o.events = append(b.o.events, event{kind: eventWorse, night: cause.found, cause: cause})
	}
	b.finish()
	return b.o, nil
}

// A panelKey identifies a panel. A change of the configuration begins a new baseline in the same panel.
type panelKey struct {
	row     benchproc.Key
	unit    string
	machine string
}

// An overviewBuilder makes an Overview while a checker replays a history.
type overviewBuilder struct {
	*checker
	o     *Overview
	index map[panelKey]int // in Overview.panels
	of    map[int][2]int   // the panel of each series, and the number of its newest point
}

// points adds the values of a night to the panels.
func (b *overviewBuilder) points(night int, values []watch.Value) {
	for _, v := range values {
		cell := b.series[v.Series].cell
		rule := b.rules[cell.Unit]
		key := panelKey{cell.Row, cell.Unit, b.nights[night].Machine}
		at, ok := b.index[key]
		if !ok {
			at = len(b.o.panels)
			b.index[key] = at
			p := panel{Series: b.named(v.Series), machine: key.machine, cls: benchunit.ClassOf(cell.Unit), lastEvent: -1}
			if strings.HasSuffix(cell.Unit, "sec") || strings.HasSuffix(cell.Unit, "sec/op") {
				p.suffix = "s"
			}
			b.o.panels = append(b.o.panels, p)
		}
		p := &b.o.panels[at]
		_, again := b.of[v.Series]
		x := point{night: night, value: math.Exp(sign(rule) * v.X), baseline: !again && len(p.points) > 0}
		// A series may return to an earlier baseline, when its configuration is as before again.
		if n := len(p.points); again && n > 0 && b.of[v.Series][1] != n-1 {
			x.baseline = true
		}
		b.of[v.Series] = [2]int{at, len(p.points)}
		p.points = append(p.points, x)
	}
}

// findings adds the findings of a night to the panels.
func (b *overviewBuilder) findings(result watch.Result) {
	for _, f := range result.Findings {
		if f.Shared {
			continue
		}
		p := &b.o.panels[b.of[f.Series][0]]
		switch f.Kind {
		case watch.Worse, watch.Better:
			p.shifts = append(p.shifts, shift{worse: f.Kind == watch.Worse, change: b.move(f).Change, begins: f.Last})
			p.lastEvent = p.points[b.of[f.Series][1]].night
		case watch.Suspect:
			p.points[b.of[f.Series][1]].suspect = true
		}
	}
}

// nightEvents adds the events of a night, apart from regressions, which later nights may still extend.
func (b *overviewBuilder) nightEvents(night int) {
	for _, cause := range b.report.Improved {
		b.o.events = append(b.o.events, event{kind: eventBetter, night: night, cause: &cause})
	}
	for _, text := range b.report.Epochs {
		b.o.events = append(b.o.events, event{kind: eventBaseline, night: night, detail: text})
	}
	if m := b.report.SlowOnce; m != nil {
		b.o.events = append(b.o.events, event{kind: eventSlow, night: night,
			detail: fmt.Sprintf("all series of machine %q are worse by about %.1f%% in this run alone", b.nights[night].Machine, 100*m.Change)})
	}
}

// finish sorts the events and panels and computes the levels.
func (b *overviewBuilder) finish() {
	slices.SortStableFunc(b.o.events, func(a, e event) int { return e.night - a.night })
	for i := range b.o.panels {
		b.o.panels[i].split()
	}
	slices.SortStableFunc(b.o.panels, func(a, p panel) int {
		return cmp.Or(p.lastEvent-a.lastEvent, strings.Compare(a.Benchmark, p.Benchmark))
	})
}

// split computes the levels of a panel: a level ends at a shift and at a new baseline.
func (p *panel) split() {
	from := 0
	for i := 1; i <= len(p.points); i++ {
		ends := i == len(p.points)
		if !ends {
			before, now := p.points[i-1].night, p.points[i].night
			ends = p.points[i].baseline || slices.ContainsFunc(p.shifts, func(s shift) bool { return before < s.begins && s.begins <= now })
		}
		if !ends {
			continue
		}
		var xs []float64
		for _, x := range p.points[from:i] {
			xs = append(xs, x.value)
		}
		middle, sd := robust.Spread(xs)
		p.levels = append(p.levels, level{from: from, to: i, median: middle, low: middle - 3*sd, high: middle + 3*sd})
		from = i
	}
}

// format returns a value with its unit.
func (p *panel) format(v float64) string { return benchunit.Scale(v, p.cls) + p.suffix }

// recent returns the events of the week before the newest run.
func (o *Overview) recent() (all []event) {
	newest := o.runs[len(o.runs)-1].Time
	for _, e := range o.events {
		if newest.Sub(o.runs[e.night].Time) <= week {
			all = append(all, e)
		}
	}
	return all
}

// sentence describes an event in one line, without its run.
func (e event) sentence() string {
	if e.cause == nil {
		return string(e.kind) + ": " + e.detail
	}
	m := e.cause.Moves[0]
	text := fmt.Sprintf("%s: %s", e.kind, m.text())
	if n := len(e.cause.Moves) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more series", n)
	}
	return text
}

// headline returns what the first screen says of the last week, in one sentence.
func (o *Overview) headline() string {
	counts := map[eventKind]int{}
	for _, e := range o.recent() {
		counts[e.kind]++
	}
	var parts []string
	for _, k := range []struct {
		kind       eventKind
		noun, tail string
	}{{eventWorse, "change", " for the worse"}, {eventBetter, "change", " for the better"}, {eventSlow, "slow run", ""}, {eventBaseline, "new baseline", ""}} {
		if n := counts[k.kind]; n > 0 {
			parts = append(parts, count(n, k.noun)+k.tail)
		}
	}
	if len(parts) == 0 {
		return "Nothing changed in the last week."
	}
	return "In the last week: " + strings.Join(parts, ", ") + "."
}
