package history

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// readRules reads the Unit lines of the options and of the newest run into c.rules.
func (c *checker) readRules() error {
	rules, problems, err := c.rulesOf(c.nights[len(c.nights)-1])
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

// rulesOf returns the rules of a run's Unit lines and of the options.
func (c *checker) rulesOf(run *Run) (map[string]gate.UnitRule, []gate.Problem, error) {
	units := gate.File{Name: "units"}
	if c.options.Units != nil {
		units.Data = bytes.NewReader(c.options.Units)
	}
	return gate.UnitRules(units, run.unitsSet)
}
