package process

import (
	"fmt"
	"slices"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// registered holds the units that packages have added to the catalogue.
var registered struct {
	mu    sync.Mutex
	units []sample.Unit
}

// RegisterUnits adds units to the catalogue. It panics if a unit is invalid, or if its name already exists.
func RegisterUnits(units ...sample.Unit) {
	registered.mu.Lock()
	defer registered.mu.Unlock()
	for _, u := range units {
		if err := u.Check(); err != nil {
			panic("llmbench: " + err.Error())
		}
		if _, exists := sample.Find(slices.Concat(sample.Units, registered.units), u.Name); exists {
			panic(fmt.Sprintf("llmbench: unit %q is registered twice", u.Name))
		}
		registered.units = append(registered.units, u)
	}
}

// Units returns the catalogue: first [sample.Units], then the registered units, in the order of their
// registration.
func Units() []sample.Unit {
	registered.mu.Lock()
	defer registered.mu.Unlock()
	return slices.Concat(sample.Units, registered.units)
}

// AddUnits adds the units of a load to the units that the process can print.
func AddUnits(units []sample.Unit) {
	current.mu.Lock()
	defer current.mu.Unlock()
	for _, u := range units {
		if _, exists := sample.Find(current.units(), u.Name); !exists {
			current.own = append(current.own, u)
		}
	}
}

// Unit returns the unit called name, or the zero value if there is none in the catalogue or in a load.
func Unit(name string) sample.Unit {
	current.mu.Lock()
	defer current.mu.Unlock()
	u, _ := sample.Find(current.units(), name)
	return u
}

// units returns the units of the process, in the order of result lines.
func (p *process) units() []sample.Unit { return slices.Concat(Units(), p.own) }
