package history

import (
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history/internal/watch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/rowname"
)

// CheckOptions control [Reader.Check].
type CheckOptions struct {
	Nights  float64 // on average, at most one of this number of nights has a false alarm; 2 or more
	Min     float64 // ignore smaller changes; a share: 0.01 is 1 %
	MaxFail float64 // the largest share of failed requests that a sound result may have; 0 to 1
	Units   []byte  // lines such as "Unit ns/op gate=5%"; they override the newest run's Unit lines
	// Run is the file name of the only run to judge, as the newest run of its machine. If it is "", the newest run of
	// each machine is judged.
	Run string
	// Place has the flags that say where the history is, such as "-dir results", for the commands that texts advise.
	Place string
}

// check returns an error if an option is wrong.
func (o CheckOptions) check() error {
	switch {
	case !(o.Nights >= 2):
		return fmt.Errorf("nights: %v: want 2 or more", o.Nights)
	case !(o.Min >= 0 && o.Min < 1):
		return fmt.Errorf("min: %v: want a share from 0 to less than 1", o.Min)
	case !(o.MaxFail >= 0 && o.MaxFail <= 1):
		return fmt.Errorf("max-fail: %v: want a share from 0 to 1", o.MaxFail)
	}
	return nil
}

// A series is one unit of one benchmark, over the runs of one epoch.
type series struct {
	cell  Cell // Value is 0
	epoch int  // index in checker.epochs of the cell's benchmark and configuration
}

// An epoch groups the runs of one benchmark whose units with same= agree. For each unit in checker.equal, at
// the same index, the epoch holds the unit's latest values.
type epoch [][]float64

// A checker replays the runs of one machine in order. A night is a run that is not a rerun. Runs that measured an old
// commit again are left out, except the last one.
type checker struct {
	reader  *Reader
	options CheckOptions
	rules   map[string]gate.UnitRule
	equal   []string // the units with same= and the accuracy units, sorted
	watch   *watch.Watch
	machine string
	nights  []*Run
	again   bool              // the last night measures an old commit again
	ahead   []*Run            // runs of the machine in the future, which have no place among the nights
	lost    []string          // reruns whose repeated run is missing
	gone    string            // says that the machine has not run lately, so that it is not judged; "" if it has
	wrong   error             // what is wrong in the newest run's Unit lines, so that it cannot be judged; or nil
	reruns  map[string][]*Run // keyed by the name of the repeated run
	ids     map[series]int
	series  []series
	present [][]int          // the nights that have the series, indexed by series number
	epochs  map[Cell][]epoch // keyed by benchmark and configuration
	names   *rowname.Names
	report  *Report
	found   []Cause // the regressions found so far
}

// newChecker returns a checker that has not looked at any night yet, and knows no rules. The nights are the machine's
// runs, in order, without reruns; among all runs are their reruns.
func (r *Reader) newChecker(nights, all []*Run, o CheckOptions) *checker {
	c := &checker{reader: r, options: o, machine: nights[0].Machine, reruns: map[string][]*Run{}, ids: map[series]int{}, epochs: map[Cell][]epoch{},
		watch: watch.New(watch.Options{Nights: o.Nights, Min: o.Min})}
	for _, run := range all {
		if run.RerunOf != "" && run.Machine == c.machine {
			c.reruns[run.RerunOf] = append(c.reruns[run.RerunOf], run)
		}
	}
	again, last := repeated(nights), len(nights)-1
	for i, run := range nights {
		if i == last || !again[run] || run.Accepted {
			c.nights = append(c.nights, run)
		}
	}
	c.again = again[nights[last]]
	for name, reruns := range c.reruns {
		if !slices.ContainsFunc(all, func(run *Run) bool { return run.Name == name }) {
			c.lost = append(c.lost, fmt.Sprintf("%s of %s, which the history does not have", numbers.Count(len(reruns), "rerun"), name))
		}
	}
	slices.Sort(c.lost)
	return c
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

// lastNight returns the last night that has a series.
func (c *checker) lastNight(id int) int { return c.present[id][len(c.present[id])-1] }

// unit returns a unit as the files spell it, for example "ns/op" for "sec/op".
func (c *checker) unit(tidied string) string {
	if spelled, ok := c.reader.spelled[tidied]; ok {
		return spelled
	}
	return tidied
}

func (c *checker) named(id int) Series {
	cell := c.series[id].cell
	unit := c.unit(cell.Unit)
	return Series{c.reader.benchmarkName(cell.Row), unit, c.reader.pattern(cell.Row), c.names.Row(c.reader.benchmark(cell.Row), unit)}
}

func (c *checker) runID(night int) RunID {
	run := c.nights[night]
	return RunID{run.Name, run.Commit, run.Time.UTC()}
}

// accepted returns the newest night whose results Ack has accepted, or -1.
func (c *checker) accepted() int {
	for n := len(c.nights) - 1; n >= 0; n-- {
		if c.nights[n].Accepted {
			return n
		}
	}
	return -1
}

// sign returns the factor, +1 or -1, by which a logarithm is multiplied so that a larger one is worse.
func sign(r gate.UnitRule) float64 {
	if r.Better == "higher" {
		return -1
	}
	return +1
}
