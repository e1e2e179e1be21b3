package arrivals

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// A Process computes when the requests of an open loop are due, whether or not earlier requests have ended.
// Types outside this package can be processes, too.
type Process interface {
	// Times returns the n instants at which requests are due, in order, counted from the start of the pass,
	// which is one run of the load. It returns the same instants every time.
	Times(n int) ([]time.Duration, error)
	// Name returns the process's name in records, such as "poisson". It consists of a-z, 0-9 and hyphens.
	Name() string
	// Parameters returns the process's parameters in records. Two processes with different schedules should
	// differ in their name or in a parameter.
	Parameters() map[string]string
}

// Schedule returns the n instants of p. It returns an error if p returns another number of instants, if
// they are not in order, or if one is negative.
func Schedule(p Process, n int) ([]time.Duration, error) {
	times, err := p.Times(n)
	switch {
	case err != nil:
		return nil, err
	case len(times) != n:
		return nil, fmt.Errorf("arrivals: %d times for %d requests", len(times), n)
	case !slices.IsSorted(times) || n > 0 && times[0] < 0:
		return nil, errors.New("arrivals: times out of order: want increasing times, from 0 on")
	}
	return times, nil
}

// number formats v so that parsing gives the same value.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// whole formats v in decimal digits.
func whole(v uint64) string { return strconv.FormatUint(v, 10) }
