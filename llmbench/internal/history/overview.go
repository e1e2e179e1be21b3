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

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history/internal/watch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/rowname"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// An Overview shows a whole history: every series, and what changed when. Its methods write it as a page, as text
// for a terminal, and as a feed.
type Overview struct {
	report *Report // of the newest run
	names  *rowname.Names
	runs   []*Run    // without reruns, in the order of ReadAll
	dates            // of the runs
	now    time.Time // the present
	open   []Cause   // changes for the worse that are neither accepted nor gone, newest first
	panels []panel   // open changes first, then what changed in the last week, and then all others
	events []event   // newest first
}

// week is the time before the present whose events the first screen shows.
const week = 7 * 24 * time.Hour

// A panel is one unit of one benchmark on one machine, over all runs.
type panel struct {
	Series
	figure
	benchmark rowname.Benchmark
	machine   string
	cls       benchunit.Class
	suffix    string // of formatted values, such as "s"
	points    []point
	levels    []level
	shifts    []shift
	lastEvent int // the newest night of a shift, or -1
	open      bool
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

// Overview replays [Reader.Check] for each run in turn, and returns all results. It shows the gated units. The parameter
// now is the present, at which the last week ends.
func (r *Reader) Overview(runs []*Run, o CheckOptions, now time.Time) (*Overview, error) {
	all, err := r.checkers(runs, o)
	if err != nil {
		return nil, err
	}
	view := &Overview{names: all[0].names, now: now}
	at := map[*Run]int{}
	for _, run := range runs {
		if run.RerunOf == "" {
			at[run] = len(view.runs)
			view.runs = append(view.runs, run)
		}
	}
	view.dates = datesOf(view.runs, now)
	index := map[panelKey]int{}
	for _, c := range all {
		b := &overviewBuilder{checker: c, at: at, index: index, of: map[int][2]int{}, o: view}
		c.replay(b.see)
		for i := range c.found {
			view.events = append(view.events, event{kind: eventWorse, night: b.night(c.found[i].found), cause: &c.found[i]})
		}
		view.open = slices.Concat(view.open, c.report.Causes, c.report.Known)
	}
	view.report = join(all)
	view.finish()
	return view, nil
}

// A panelKey identifies a panel. A change of the configuration begins a new baseline in the same panel.
type panelKey struct {
	row     benchproc.Key
	unit    string
	machine string
}

// An overviewBuilder adds a machine's runs to an Overview while a checker replays them.
type overviewBuilder struct {
	*checker
	o     *Overview
	at    map[*Run]int     // index in Overview.runs
	index map[panelKey]int // in Overview.panels
	of    map[int][2]int   // the panel of each series, and the number of its newest point
}

// night returns the number in Overview.runs of one of the machine's nights.
func (b *overviewBuilder) night(of int) int { return b.at[b.nights[of]] }

// see adds a night.
func (b *overviewBuilder) see(night int, values []watch.Value, result watch.Result) {
	b.points(b.night(night), values)
	b.findings(result)
	if night < len(b.nights)-1 {
		b.compareConfigurations(night)
	}
	b.nightEvents(b.night(night))
}

// points adds the values of a night to the panels.
func (b *overviewBuilder) points(night int, values []watch.Value) {
	for _, v := range values {
		cell := b.series[v.Series].cell
		rule := b.rules[cell.Unit]
		key := panelKey{cell.Row, cell.Unit, b.machine}
		at, ok := b.index[key]
		if !ok {
			at = len(b.o.panels)
			b.index[key] = at
			p := panel{Series: b.named(v.Series), figure: figure{cell.Row, cell.Unit}, benchmark: b.reader.benchmark(cell.Row), machine: key.machine, cls: benchunit.ClassOf(cell.Unit), lastEvent: -1}
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
			p.shifts = append(p.shifts, shift{worse: f.Kind == watch.Worse, change: b.move(f).Change, begins: b.night(f.Last)})
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
	if m := cmp.Or(b.report.SlowOnce, b.report.Recovered); m != nil {
		b.o.events = append(b.o.events, event{kind: eventSlow, night: night,
			detail: fmt.Sprintf("all series of machine %q are worse by about %.1f%%", b.machine, 100*m.Change)})
	}
}

// finish sorts the events and panels and computes the levels.
func (o *Overview) finish() {
	slices.SortStableFunc(o.events, func(a, e event) int { return e.night - a.night })
	slices.SortStableFunc(o.open, func(a, c Cause) int { return c.Bad.Time.Compare(a.Bad.Time) })
	for i := range o.panels {
		p := &o.panels[i]
		p.split()
		p.open = slices.ContainsFunc(o.open, func(c Cause) bool {
			return c.Machine == p.machine && slices.ContainsFunc(c.Moves, func(m Move) bool { return m.figure == p.figure })
		})
	}
	rank := func(p *panel) int {
		switch {
		case p.open:
			return -2
		case o.changedLately(p):
			return -1
		}
		return 0
	}
	slices.SortStableFunc(o.panels, func(a, p panel) int {
		return cmp.Or(rank(&a)-rank(&p), rowname.Compare(a.benchmark, p.benchmark), strings.Compare(a.machine, p.machine))
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

// changedLately reports whether the level of a panel changed in the last week.
func (o *Overview) changedLately(p *panel) bool { return p.lastEvent >= 0 && o.isRecent(p.lastEvent) }

// recent returns the events of the last week that are no open changes.
func (o *Overview) recent() (all []event) {
	for _, e := range o.events {
		if o.isRecent(e.night) && !o.isOpen(e) {
			all = append(all, e)
		}
	}
	return all
}

// isOpen reports whether an event is an open change.
func (o *Overview) isOpen(e event) bool {
	return e.cause != nil && slices.ContainsFunc(o.open, func(c Cause) bool {
		return e.kind == eventWorse && c.Machine == e.cause.Machine && c.Bad.Run == e.cause.Bad.Run && c.found == e.cause.found
	})
}

// isRecent reports whether a run ran in the last week.
func (o *Overview) isRecent(night int) bool { return o.now.Sub(o.ran[night]) <= week }

// sentence describes an event in one line, without its run.
func (e event) sentence() string {
	if e.cause == nil {
		return string(e.kind) + ": " + e.detail
	}
	return fmt.Sprintf("%s: %s", e.kind, e.cause.text())
}

// headline says in two sentences how many changes are open, and what else was found in the last week.
func (o *Overview) headline() string {
	open := "No change for the worse is open."
	switch n := len(o.open); {
	case n == 1:
		open = "1 change for the worse is open."
	case n > 1:
		open = fmt.Sprintf("%d changes for the worse are open.", n)
	}
	return open + " " + o.lastWeek()
}

// lastWeek says what was found in the last week and is not open, in one sentence.
func (o *Overview) lastWeek() string {
	newest := slices.MaxFunc(o.ran, time.Time.Compare)
	if o.now.Sub(newest) > week {
		return fmt.Sprintf("No run in the last 7 days: the newest is of %s.", newest.UTC().Format(time.DateOnly))
	}
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
			parts = append(parts, numbers.Count(n, k.noun)+k.tail)
		}
	}
	switch {
	case len(parts) == 0 && slices.ContainsFunc(o.events, func(e event) bool { return o.isRecent(e.night) }):
		return "Nothing else changed in the last 7 days."
	case len(parts) == 0:
		return "Nothing changed in the last 7 days."
	case len(o.open) > 0:
		return "Besides, found in the last 7 days: " + strings.Join(parts, ", ") + "."
	}
	return "Found in the last 7 days: " + strings.Join(parts, ", ") + "."
}
