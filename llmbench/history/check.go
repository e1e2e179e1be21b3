package history

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/history/internal/watch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// CheckOptions control [Reader.Check].
type CheckOptions struct {
	Nights  float64 // on average, at most one of this number of nights has a false alarm; 2 or more
	Min     float64 // ignore smaller changes; a share: 0.01 is 1 %
	MaxFail float64 // the largest share of failed requests that a sound result may have; 0 to 1
	Units   []byte  // lines such as "Unit ns/op gate=5%"; they override the newest run's Unit lines
}

// A series is one unit of one benchmark, over the runs of one epoch.
type series struct {
	cell  Cell // Value is 0
	epoch int  // index in checker.epochs of the cell's benchmark and configuration
}

// A checker replays the runs of a history in order. A night is a run that is not a rerun.
type checker struct {
	reader   *Reader
	options  CheckOptions
	rules    map[string]gate.UnitRule
	equal    []string // the units with same= and the accuracy units, sorted
	watch    *watch.Watch
	nights   []*Run            // the runs that are not reruns
	reruns   map[string][]*Run // keyed by the name of the repeated run
	ids      map[series]int
	series   []series
	present  [][]int // the nights that have the series, indexed by series number
	machines map[string]int
	epochs   map[Cell][]epoch // keyed by benchmark and configuration
	report   *Report
	found    []Cause // the regressions found so far
}

// An epoch groups the runs of one benchmark whose units with same= agree. For each unit in checker.equal, at
// the same index, the epoch holds the unit's latest values.
type epoch [][]float64

// Check judges the newest run that is not a rerun against the earlier runs. The runs come from
// [Reader.ReadAll]. Check returns an error only for wrong options; if the run itself cannot be judged, the
// report says why.
func (r *Reader) Check(runs []*Run, o CheckOptions) (*Report, error) {
	c, err := r.newChecker(runs, o)
	if err != nil {
		return nil, err
	}
	for night := range c.nights {
		last := night == len(c.nights)-1
		c.report = newReport(c.nights[night], o)
		if last {
			c.report.LeftOut = append(c.report.LeftOut, c.lost()...)
		}
		c.explain(night, c.watch.Night(c.values(night)), c.report, last)
	}
	c.conclude()
	return c.report, nil
}

// lost returns a text for each repeated run that is missing from the history although its reruns are there.
func (c *checker) lost() (texts []string) {
	for _, name := range slices.Sorted(maps.Keys(c.reruns)) {
		if !slices.ContainsFunc(c.nights, func(run *Run) bool { return run.Name == name }) {
			texts = append(texts, fmt.Sprintf("%s of %s, which the history does not have", count(len(c.reruns[name]), "rerun"), name))
		}
	}
	return texts
}

// newChecker returns a checker that has not looked at any night yet.
func (r *Reader) newChecker(runs []*Run, o CheckOptions) (*checker, error) {
	c := &checker{reader: r, options: o, reruns: map[string][]*Run{}, ids: map[series]int{}, machines: map[string]int{}, epochs: map[Cell][]epoch{}}
	switch {
	case !(o.Nights >= 2):
		return nil, fmt.Errorf("nights: %v, want 2 or more", o.Nights)
	case !(o.Min >= 0 && o.Min < 1):
		return nil, fmt.Errorf("min: %v, want a share from 0 to less than 1", o.Min)
	case !(o.MaxFail >= 0 && o.MaxFail <= 1):
		return nil, fmt.Errorf("max-fail: %v, want a share from 0 to 1", o.MaxFail)
	}
	for _, run := range runs {
		if run.RerunOf == "" {
			c.nights = append(c.nights, run)
		} else {
			c.reruns[run.RerunOf] = append(c.reruns[run.RerunOf], run)
		}
	}
	if len(c.nights) == 0 {
		return nil, errors.New("no runs apart from reruns")
	}
	c.watch = watch.New(watch.Options{Nights: o.Nights, Min: o.Min})
	return c, c.readRules()
}

// readRules reads the Unit lines of the options and of the newest run into c.rules.
func (c *checker) readRules() error {
	units := gate.File{Name: "units"}
	if c.options.Units != nil {
		units.Data = bytes.NewReader(c.options.Units)
	}
	rules, problems, err := gate.UnitRules(units, c.nights[len(c.nights)-1].unitsSet)
	if err != nil {
		return err
	}
	for _, p := range problems {
		return fmt.Errorf("%s: %s", p.Position(), p.Message)
	}
	c.rules = rules
	gated := false
	for unit, r := range rules {
		gated = gated || r.Gated
		if r.Same() || r.Points {
			c.equal = append(c.equal, unit)
		}
	}
	slices.Sort(c.equal)
	if gated {
		return nil
	}
	return errors.New("no unit is gated: want a line such as \"Unit ns/op better=lower gate=5%\" in the newest run or the file of -units")
}

// values returns the night's input for the watch: the values of the gated units of all sound benchmarks.
func (c *checker) values(night int) []watch.Value {
	run := c.nights[night]
	var values []watch.Value
	for _, group := range byBenchmark(run) {
		name := c.reader.benchmarkName(group[0].Row)
		epoch, why := c.epoch(group, run)
		if why != "" {
			c.report.Unsound = append(c.report.Unsound, name+": "+why)
			continue
		}
		for _, cell := range group {
			rule := c.rules[cell.Unit]
			if !rule.Gated || rule.Points {
				continue
			}
			if cell.Value <= 0 {
				why := fmt.Sprintf("%s: %s is %v: want more than 0", name, c.unit(cell.Unit), cell.Value)
				cell.Value = 0
				if _, before := c.ids[series{cell, epoch}]; before {
					c.report.Unsound = append(c.report.Unsound, why)
				} else {
					c.report.LeftOut = append(c.report.LeftOut, why)
				}
				continue
			}
			x := sign(rule) * math.Log(cell.Value)
			cell.Value = 0
			v := watch.Value{Series: c.id(series{cell, epoch}), Machine: c.machine(run.Machine), X: x}
			for _, again := range c.reruns[run.Name] {
				if value, ok := again.value(cell); ok && value > 0 {
					v.Reruns = append(v.Reruns, sign(rule)*math.Log(value))
				}
			}
			c.present[v.Series] = append(c.present[v.Series], night)
			values = append(values, v)
		}
	}
	return values
}

// sign returns the factor, +1 or -1, by which a logarithm is multiplied so that a larger one is worse.
func sign(r gate.UnitRule) float64 {
	if r.Better == "higher" {
		return -1
	}
	return +1
}

// value returns the run's value for the benchmark, configuration and unit of cell, if the run has one.
func (r *Run) value(cell Cell) (float64, bool) {
	for _, c := range r.Cells {
		if c.Row == cell.Row && c.Config == cell.Config && c.Unit == cell.Unit {
			return c.Value, true
		}
	}
	return 0, false
}

// byBenchmark groups the run's cells by benchmark and configuration, in the order of the file.
func byBenchmark(run *Run) [][]Cell {
	index := map[[2]benchproc.Key]int{}
	var groups [][]Cell
	for _, c := range run.Cells {
		key := [2]benchproc.Key{c.Row, c.Config}
		i, ok := index[key]
		if !ok {
			i = len(groups)
			index[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// epoch returns the number of the epoch to which a benchmark's result belongs: the newest epoch whose values of
// the units with same= agree with the result, or else a new epoch. If the result is not sound, why is the
// reason.
func (c *checker) epoch(group []Cell, run *Run) (number int, why string) {
	if run.Failed {
		return 0, "a benchmark of the run failed"
	}
	watched := make([]float64, len(c.equal)) // as in package gate, a missing value counts as 0
	for _, cell := range group {
		if cell.Unit == "fail-%" && cell.Value > 100*c.options.MaxFail {
			return 0, fmt.Sprintf("fail-%% is %v, want at most %v", cell.Value, 100*c.options.MaxFail)
		}
		if i, ok := slices.BinarySearch(c.equal, cell.Unit); ok {
			watched[i] = cell.Value
		}
	}
	key := Cell{Row: group[0].Row, Config: group[0].Config}
	epochs := c.epochs[key]
	number = len(epochs) - 1
	for number >= 0 && c.unlike(watched, epochs[number]) {
		number--
	}
	if number < 0 {
		number = len(epochs)
		epochs = append(epochs, make(epoch, len(c.equal)))
		c.epochs[key] = epochs
	}
	for i, unit := range c.equal {
		before := epochs[number][i]
		if rule := c.rules[unit]; rule.Points && len(before) > 0 {
			if drop := (watched[i] - robust.Median(before)) * sign(rule) / 100; drop > rule.Margin {
				return 0, fmt.Sprintf("%s is %.4g, but the median of %s is %.4g: want a loss of at most %.4g percentage points",
					c.unit(unit), watched[i], count(len(before), "earlier run"), robust.Median(before), 100*rule.Margin)
			}
		}
	}
	for i := range c.equal {
		all := append(epochs[number][i], watched[i])
		epochs[number][i] = all[max(0, len(all)-51):]
	}
	return number, ""
}

// unlike reports whether the values of any unit with same= differ from the epoch's values.
func (c *checker) unlike(watched []float64, e epoch) bool {
	for i, unit := range c.equal {
		if c.rules[unit].Same() && c.rules[unit].Unlike(watched[i], robust.Median(e[i]), unit) {
			return true
		}
	}
	return false
}

// id returns the number of a series, and assigns the next number to a new one.
func (c *checker) id(s series) int {
	id, ok := c.ids[s]
	if !ok {
		id = len(c.series)
		c.ids[s] = id
		c.series, c.present = append(c.series, s), append(c.present, nil)
	}
	return id
}

// machine returns the number of a machine, and assigns the next number to a new one.
func (c *checker) machine(name string) int {
	id, ok := c.machines[name]
	if !ok {
		id = len(c.machines)
		c.machines[name] = id
	}
	return id
}

// unit returns a unit as the files spell it, for example "ns/op" for "sec/op".
func (c *checker) unit(tidied string) string {
	if spelled, ok := c.reader.spelled[tidied]; ok {
		return spelled
	}
	return tidied
}

func count(n int, noun string) string {
	if n == 1 || strings.HasSuffix(noun, "s") {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
