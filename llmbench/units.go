package llmbench

import (
	"fmt"
	"slices"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// registered are the units that packages added to the catalogue.
var registered struct {
	mu    sync.Mutex
	units []sample.Unit
}

// RegisterUnits adds units to the catalogue of the process. [Run] reports the core units of the
// catalogue, or all with LLMBENCH_UNITS=all, and [Main] prints the metadata of those that are reported.
// Packages with units of their own call RegisterUnits in an init function; a unit of a single
// benchmark belongs in [Load].Units instead. RegisterUnits panics if a unit is not valid or has
// the name of another unit.
func RegisterUnits(units ...sample.Unit) {
	registered.mu.Lock()
	defer registered.mu.Unlock()
	for _, u := range units {
		if err := u.Check(); err != nil {
			panic("llmbench: " + err.Error())
		}
		if slices.ContainsFunc(slices.Concat(sample.Units, registered.units), named(u.Name)) {
			panic(fmt.Sprintf("llmbench: unit %q is registered twice", u.Name))
		}
		registered.units = append(registered.units, u)
	}
}

// Units returns the catalogue of the process: [sample.Units], then the units that were
// registered, in the order of their registration.
func Units() []sample.Unit {
	registered.mu.Lock()
	defer registered.mu.Unlock()
	return slices.Concat(sample.Units, registered.units)
}

// units returns the catalogue with the load's own units.
func (l Load) units() []sample.Unit {
	all := Units()
	for _, u := range l.Units {
		if !slices.ContainsFunc(all, named(u.Name)) {
			all = append(all, u)
		}
	}
	return all
}

// checkUnits checks the load's own units.
func (l Load) checkUnits() error {
	all := Units()
	for _, u := range l.Units {
		if err := u.Check(); err != nil {
			return err
		}
		if at := slices.IndexFunc(all, named(u.Name)); at < 0 {
			all = append(all, u)
		} else if all[at] != u {
			return fmt.Errorf("unit %s: another unit has this name", u.Name)
		}
	}
	return nil
}

// unknownUnits returns the names in figures that are not of units, sorted.
func unknownUnits(units []sample.Unit, figures map[string]float64) (names []string) {
	for name := range figures {
		if !slices.ContainsFunc(units, named(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// named returns the function that reports whether a unit has a name.
func named(name string) func(sample.Unit) bool {
	return func(u sample.Unit) bool { return u.Name == name }
}
