package llmbench

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// claimed holds the benchmarks that have called [Run].
var claimed sync.Map // *testing.B to struct{}

// claim returns an error if b cannot be measured by [Run]: because Run has measured it already, because b is in a
// loop over b.Loop, or because metrics were reported before, which package testing would delete.
func claim(b *testing.B) error {
	const once = "one op is a pass, and Run makes as many passes as -benchtime asks for"
	if b.N == 0 { // only within a loop over b.Loop
		return errors.New("Run is called within a loop over b.Loop; call it once, without a loop: " + once)
	}
	if _, again := claimed.LoadOrStore(b, struct{}{}); again {
		return errors.New("Run is called again in the same benchmark; call it once, without a loop over b.N: " + once + ". Measure a second load in a sub-benchmark, with b.Run")
	}
	b.Cleanup(func() { claimed.Delete(b) })
	if units := reportedBefore(b); len(units) > 0 {
		return fmt.Errorf("%s reported before Run, where package testing deletes all metrics when the first pass begins; call b.ReportMetric after Run", strings.Join(units, ", "))
	}
	b.StartTimer() // b.Loop panics if the timer is stopped
	return nil
}

// reportedBefore returns the units of the metrics that b has. Package testing has no method for that. If it keeps
// metrics in another way in the future, reportedBefore returns nothing.
func reportedBefore(b *testing.B) (units []string) {
	extra := reflect.ValueOf(b).Elem().FieldByName("extra")
	if !extra.IsValid() || extra.Kind() != reflect.Map || extra.Type().Key().Kind() != reflect.String {
		return nil
	}
	for _, unit := range extra.MapKeys() {
		units = append(units, unit.String())
	}
	slices.Sort(units)
	return units
}
