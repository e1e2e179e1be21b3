package arrivals

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// A Process says when the requests of an open loop are due, whether or not earlier
// ones have ended. The types of this package are processes; a type of another package
// can be one too.
type Process interface {
	// Times returns the n instants at which requests are due, counted from the start
	// of the pass, in order. It returns the same instants every time.
	Times(n int) ([]time.Duration, error)
	// Name is the name of the process in records, such as "poisson": a-z, 0-9 and -.
	Name() string
	// Parameters are what defines the process besides its name, in records. The
	// name and the parameters of two schedules that differ should differ.
	Parameters() map[string]string
}

// Schedule returns the n instants of p. It is an error if they are not n, not in
// order, or not from 0 on.
func Schedule(p Process, n int) ([]time.Duration, error) {
	times, err := p.Times(n)
	switch {
	case err != nil:
		return nil, err
	case len(times) != n:
		return nil, fmt.Errorf("arrivals: %d times for %d requests", len(times), n)
	case !slices.IsSorted(times) || n > 0 && times[0] < 0:
		return nil, errors.New("arrivals: times must be in order, from 0 on")
	}
	return times, nil
}

// number spells v so that reading it gives the same value.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// whole spells v in decimal digits.
func whole(v uint64) string { return strconv.FormatUint(v, 10) }
