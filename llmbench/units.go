package llmbench

import (
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// RegisterUnits adds units to the catalogue of this process. [Run] reports the core units of the catalogue,
// or all units with LLMBENCH_UNITS=all. [Main] prints the metadata of the units that are reported. A
// package that has its own units calls RegisterUnits in an init function. A unit that only one benchmark
// reports belongs in [Load].Units instead. RegisterUnits panics if a unit is invalid or has the name of
// another unit.
func RegisterUnits(units ...sample.Unit) { process.RegisterUnits(units...) }

// Units returns the catalogue of this process: first [sample.Units], then the registered units in the order
// of their registration.
func Units() []sample.Unit { return process.Units() }

// unknownUnits returns the sorted keys of figures that are not the name of any of the units.
func unknownUnits(units []sample.Unit, figures map[string]float64) (names []string) {
	for name := range figures {
		if _, known := sample.Find(units, name); !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
