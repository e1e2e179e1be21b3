package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
)

// Check returns an error if o cannot be used. If o leaves the scenario nothing to measure, the error wraps
// [ErrNothing]. Check needs no server, so it can be called before one is started.
func (sc Scenario) Check(o Options) error {
	_, _, _, err := sc.resolve(o)
	return err
}

// Run measures target in sub-benchmarks of b, like the scenario's method of [Options]. It skips b if the
// scenario has nothing to measure.
func (sc Scenario) Run(b *testing.B, target llmbench.Target, o Options) {
	b.Helper()
	o, c, cells := sc.begin(b, o, target)
	if d, items := target.Dialect.(dialect.ItemsDialect); items && sc.items == nil {
		harness.Skip(b, d.Name()+" generates no text")
	}
	s := connect(b, o, c, target, sc.asksLengths(o, cells), sc.items == nil).knowingShares()
	if o.Duration > 0 { // rates are of this time, and not until the end of the last answer
		s = s.withConfig(map[string]string{"duration": o.Duration.String()})
	}
	if o.WarmupFor > 0 {
		s = s.withConfig(map[string]string{"warmup": o.WarmupFor.String()})
	}
	if sc.study != nil {
		sc.study.measure(b, s, cells)
		return
	}
	sc.measure(b, s)
}

// asksLengths reports whether the scenario needs prompts of given lengths. Prompts from a file have the
// lengths of their texts.
func (sc Scenario) asksLengths(o Options, cells []cell) bool {
	switch {
	case sc.study != nil:
		return o.Simulated || slices.ContainsFunc(cells, func(c cell) bool { return c.data.file == "" })
	case sc.Name == "Accuracy":
		return strings.HasPrefix(o.Dataset, "needle")
	case slices.Contains(sc.reads, "LLMBENCH_DATASET"):
		data, err := server{options: o}.dataset(0, 0)
		_, isTrace := data.(benchdata.Trace)
		return err != nil || isTrace || pathOf(o.Dataset) == "" || o.Input > 0
	}
	return true
}

// begin returns the options completed for a target, the configuration and the cells, which resolve returns. It skips or ends b if nothing can
// be measured.
func (sc Scenario) begin(b *testing.B, o Options, target llmbench.Target) (Options, config, []cell) {
	b.Helper()
	harness.Watch(b)
	o.Simulated = o.Simulated || target.Simulated
	o, c, cells, err := sc.resolve(o)
	tell(b, c.notes)
	if errors.Is(err, ErrNothing) {
		harness.Skip(b, err.Error())
	}
	if err != nil {
		b.Fatal(err)
	}
	return o, c, cells
}

// resolve completes o from the environment, checks it, and returns the loads if the scenario is a study.
func (sc Scenario) resolve(o Options) (Options, config, []cell, error) {
	c, err := sc.config()
	if err != nil {
		return o, c, nil, err
	}
	if err = sc.takesDataset(o.Dataset); err == nil {
		o, err = o.separated()
	}
	if err != nil {
		return o, c, nil, fmt.Errorf("LLMBENCH_DATASET: %w", err)
	}
	o = o.withEnvironment(c)
	if err := sc.takesLoad(o); err != nil {
		return o, c, nil, err
	}
	if sc.prepare != nil {
		o, err = sc.prepare(o, c)
	}
	if err = cmp.Or(err, sc.checkDataset(o), o.check()); err != nil || sc.oneForm {
		return o, c, nil, err
	}
	if err := checkFull(o.Full); err != nil {
		return o, c, nil, err
	}
	if sc.study != nil {
		cells, err := sc.study.cells(o)
		return o, c, cells, err
	}
	if o.Full != "" && o.Full != "1" {
		return o, c, nil, fmt.Errorf("%w: %s has no part in LLMBENCH_FULL=%s", ErrNothing, sc.Name, o.Full)
	}
	return o, c, nil, nil
}

// takesLoad returns an error if the options have a duration and the scenario sends no load for a time, or if they have users,
// a warm-up by time or a maximum of requests in flight, and the scenario does not read them.
func (sc Scenario) takesLoad(o Options) error {
	switch {
	case o.Duration != 0 && !slices.Contains(sc.reads, "LLMBENCH_DURATION"):
		return fmt.Errorf("options: Duration %v: %s sends no load for a time; it is for %s", o.Duration, sc.Name, readers("LLMBENCH_DURATION"))
	case len(o.Users) > 0 && !slices.Contains(sc.reads, "LLMBENCH_RATE"):
		return fmt.Errorf("options: Users %v: %w", o.Users, sc.noStages())
	case o.WarmupFor != 0 && !slices.Contains(sc.reads, "LLMBENCH_WARMUP"):
		return fmt.Errorf("options: WarmupFor %v: %s does not read it; it is for %s", o.WarmupFor, sc.Name, readers("LLMBENCH_WARMUP"))
	case o.MaxInFlight != 0 && !slices.Contains(sc.reads, "LLMBENCH_MAX_IN_FLIGHT"):
		return fmt.Errorf("options: MaxInFlight %d: %s does not read it; it is for %s", o.MaxInFlight, sc.Name, readers("LLMBENCH_MAX_IN_FLIGHT"))
	}
	return nil
}

// noStages returns the error for users in stages of a scenario that does not read them.
func (sc Scenario) noStages() error {
	return fmt.Errorf("%s reads no stages of users, which are for %s: want a comma list of numbers", sc.Name, readers("LLMBENCH_RATE"))
}

// checkDataset returns an error if the scenario cannot use the data sets in the options.
func (sc Scenario) checkDataset(o Options) error {
	if slices.Contains(sc.reads, "LLMBENCH_CLASSES") {
		classes, _ := parseClasses(o.Classes) // prepare has checked them
		for _, c := range classes {
			if err := findDataset(c.dataset); err != nil {
				return fmt.Errorf("class %s: %w", c.name, err)
			}
		}
	}
	if o.Dataset == "" || !slices.Contains(sc.reads, "LLMBENCH_DATASET") {
		return nil
	}
	if _, err := (server{options: o}).dataset(0, 0); err != nil {
		return err
	}
	return findDataset(o.Dataset)
}

// findDataset returns an error if the file of a data set cannot be opened, so that it is missed before a server is started.
func findDataset(dataset string) error {
	_, values, err := benchdata.Separate(dataset, "lengths")
	path := pathOf(dataset)
	if i := strings.LastIndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	path = cmp.Or(path, values["lengths"])
	if err != nil || path == "" {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("LLMBENCH_DATASET: %s: %w", kindOf(dataset), err)
	}
	return f.Close()
}

// takesDataset returns an error if the scenario reads data sets, but not this one, or not one of its parameters.
func (sc Scenario) takesDataset(dataset string) error {
	if dataset == "" || !slices.Contains(sc.reads, "LLMBENCH_DATASET") {
		return nil
	}
	rest, own, err := benchdata.Separate(dataset, parameters...)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if lengths := sc.items == nil && (name == "input" || name == "output"); !lengths && !slices.Contains(sc.parameters, name) {
			return fmt.Errorf("dataset %q: %s does not read the parameter %s", dataset, sc.Name, name)
		}
	}
	if err != nil || sc.fits == nil {
		return nil // whoever opens it reports the error
	}
	return sc.fits(rest)
}
