package llmbench

import (
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// RegisterUnits adds units to the catalogue of the process. [Run] reports the core units of the
// catalogue, or all with LLMBENCH_UNITS=all, and [Main] prints the metadata of those that are reported.
// Packages with units of their own call RegisterUnits in an init function; a unit of a single
// benchmark belongs in [Load].Units instead. RegisterUnits panics if a unit is not valid or has
// the name of another unit.
func RegisterUnits(units ...sample.Unit) { process.RegisterUnits(units...) }

// Units returns the catalogue of the process: [sample.Units], then the units that were
// registered, in the order of their registration.
func Units() []sample.Unit { return process.Units() }

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
