package scenarios

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
)

// loadVariables returns the sorted names of all variables that some scenarios read and others do not.
func loadVariables() (all []string) {
	for _, sc := range everyScenario() {
		all = append(all, sc.reads...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// takes returns nil if the scenario reads a load variable, and otherwise an error that says why it does not. The
// function value returns the value of any variable.
func (sc Scenario) takes(name string, value func(name string) string) error {
	full := value("LLMBENCH_FULL")
	switch {
	case !slices.Contains(sc.reads, name):
		return fmt.Errorf("%s does not read it; it is for %s", sc.Name, readers(name))
	case name == "LLMBENCH_DATASET":
		return sc.takesDataset(value(name))
	case name == "LLMBENCH_CONCURRENCY" && strings.Contains(value(name), ":") && !slices.Contains(sc.reads, "LLMBENCH_RATE"):
		return sc.noStages()
	case sc.Name == "Accuracy" && slices.Contains(lengths, name) && (value("LLMBENCH_DATASET") == "" || sc.fits(value("LLMBENCH_DATASET")) != nil):
		return errors.New("Accuracy reads it only for a data set with answers in LLMBENCH_DATASET, such as needle")
	case slices.Contains(lengths, name) && !isWhole(value(name)) && (!slices.Contains(sc.reads, "LLMBENCH_DATASET") || sc.fits != nil && sc.fits("random") != nil):
		return fmt.Errorf("%s draws no lengths: want a whole number of tokens", sc.Name)
	case sc.study != nil && full != "" && full != "0" && slices.Contains([]string{"LLMBENCH_CONCURRENCY", "LLMBENCH_REQUESTS", "LLMBENCH_DURATION"}, name):
		return fmt.Errorf("%s sends published loads as they are, because LLMBENCH_FULL is %s", sc.Name, full)
	}
	return nil
}

// readers lists the scenarios that read a load variable, or, if these are most of them, the others.
func readers(name string) string {
	var yes, no []string
	for _, sc := range everyScenario() {
		if slices.Contains(sc.reads, name) {
			yes = append(yes, sc.Name)
		} else {
			no = append(no, sc.Name)
		}
	}
	if len(yes) > len(no) {
		return "all scenarios but " + strings.Join(no, ", ")
	}
	return strings.Join(yes, ", ")
}

// config reads the variables that the scenario reads from the process's environment. It checks the variables of all
// packages in the process, and returns an error that names each variable that cannot be used. If a load variable is set
// that the scenario does not take, this is an error too, unless another benchmark that the process runs takes it;
// the notes of the config then say so.
func (sc Scenario) config() (config, error) {
	environ := os.Environ()
	if err := env.Check(environ); err != nil {
		return config{}, err
	}
	var unread, notes []string
	r := env.NewReader(environ)
	for _, name := range loadVariables() {
		value := r.Value(name)
		if value == "" {
			continue
		}
		why := sc.takes(name, r.Value)
		if why == nil {
			continue
		}
		unread = append(unread, name)
		if taken, without := selected(name, r.Value); len(taken) > 0 {
			notes = append(notes, fmt.Sprintf("%s=%s is read by %s, and not by %s, which run without it", name, value, strings.Join(taken, ", "), strings.Join(without, ", ")))
		} else {
			r.Errorf("%s=%s: %w", name, value, why)
		}
	}
	for _, name := range unread {
		r.Unset(name)
	}
	c := parseOwn(r)
	c.notes = notes
	return c, r.Err()
}

// selected divides the scenarios whose benchmarks the process runs: taken are the scenarios that take a load variable,
// and without are the others. The function value returns the value of any variable.
func selected(name string, value func(name string) string) (taken, without []string) {
	running := llmbench.Benchmarks()
	for _, sc := range everyScenario() {
		switch {
		case !slices.Contains(running, "Benchmark"+sc.Name):
		case sc.takes(name, value) == nil:
			taken = append(taken, sc.Name)
		default:
			without = append(without, sc.Name)
		}
	}
	return taken, without
}

// told holds the notes that were printed.
var told sync.Map

// tell prints each of the notes once in a process.
func tell(b *testing.B, notes []string) {
	b.Helper()
	for _, note := range notes {
		if _, printed := told.LoadOrStore(note, true); !printed {
			harness.Note(b, note)
		}
	}
}
