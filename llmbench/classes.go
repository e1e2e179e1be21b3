package llmbench

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Class is a part of a [Load] that has requests and a loop of its own, such as the interactive requests beside the batch
// requests. Its fields have the meanings of the fields of a Load with the same names. What tells a server the class, such as
// a priority, is in the Header or the Body of its requests.
type Class struct {
	// Name begins the names of the class's units, as [NameValue] returns it: NAME-p50-ttft-ns, NAME-output-tok/s and so on.
	Name string
	// Exactly one of Requests and Fresh must be set. More needs Concurrency or Users.
	Requests []Request
	Fresh    func(pass int) ([]Request, error)
	More     func(pass, part int) ([]Request, error)
	// Exactly one of Concurrency, Users and Arrivals must be set. The time of the stages of Users is the Duration of the
	// load. Of the requests of Arrivals, those are sent that are due until the load's WarmupFor and Duration are over.
	Concurrency int
	Users       arrivals.Users
	Arrivals    arrivals.Process
	// SLO, if any of its limits is set, adds the unit NAME-good-req/s.
	SLO sample.SLO
}

// setClasses checks l.Classes, and sets Concurrency to the number of all users, if there are Classes.
func (l *Load) setClasses() error {
	users := 0
	for _, c := range l.Classes {
		users += cmp.Or(c.Concurrency, c.Users.Most())
	}
	switch {
	case len(l.Requests) > 0 || l.Fresh != nil || l.More != nil:
		return errors.New("load: Classes, and Requests, Fresh or More beside them: want requests in the classes alone")
	case l.Concurrency != 0 && l.Concurrency != users || len(l.Users) > 0 || l.Arrivals != nil || l.MaxInFlight != 0:
		return errors.New("load: Classes, and Concurrency, Users, Arrivals or MaxInFlight beside them: want these in the classes alone")
	case l.Duration <= 0 || l.WarmupFor < 0:
		return fmt.Errorf("load: classes, duration %v, warm-up of %v: want a duration above 0, for which all classes are sent, and a warm-up of 0 or more", l.Duration, l.WarmupFor)
	}
	l.Concurrency = users
	for i, c := range l.Classes {
		same := func(other Class) bool { return NameValue(other.Name) == NameValue(c.Name) }
		if c.Name == "" || slices.ContainsFunc(l.Classes[:i], same) {
			return fmt.Errorf("load: class %q: want names that differ in letters, digits, dots, hyphens and underscores", c.Name)
		}
		if c.More != nil && c.Arrivals != nil {
			return fmt.Errorf("class %s: load: More and Arrivals: want More with Concurrency or Users", c.Name)
		}
		if _, err := l.of(i).check(); err != nil {
			return fmt.Errorf("class %s: %w", c.Name, err)
		}
	}
	return nil
}

// of returns the load of a class alone.
func (l *Load) of(i int) Load {
	c, one := l.Classes[i], *l
	one.Classes, one.Warmup, one.Units = nil, nil, nil
	one.Requests, one.Fresh, one.More = c.Requests, c.Fresh, c.More
	one.Concurrency, one.Users, one.Arrivals, one.SLO = cmp.Or(c.Concurrency, c.Users.Most()), c.Users, c.Arrivals, c.SLO
	one.Cancel.Seed += uint64(i)
	if c.Arrivals != nil {
		one.until, one.Duration, one.WarmupFor = l.sends(), 0, 0
	}
	return one
}

// loops returns the loads of the classes, or l itself if it has none. The load must have been checked.
func (l *Load) loops() []Load {
	if len(l.Classes) == 0 {
		return []Load{*l}
	}
	all := make([]Load, len(l.Classes))
	for i := range all {
		all[i] = l.of(i)
	}
	return all
}

// draws reports whether each pass has other requests.
func (l *Load) draws() bool {
	return l.Fresh != nil || l.More != nil || slices.ContainsFunc(l.Classes, func(c Class) bool { return c.Fresh != nil || c.More != nil })
}

// classes describes the classes for the records.
func (l *Load) classes() (all []records.Class) {
	for _, c := range l.Classes {
		one := records.Class{Name: c.Name, Concurrency: c.Concurrency, Users: c.Users.String(), SLO: c.SLO.String()}
		if c.Arrivals != nil {
			one.Arrivals = &records.Arrivals{Process: c.Arrivals.Name(), Parameters: c.Arrivals.Parameters()}
		}
		all = append(all, one)
	}
	return all
}

// due returns when the requests of an open loop are due, as far as they are sent: of the requests of a class, those before the end
// of its time.
func (l *Load) due(n int) (all []time.Duration, err error) {
	all, err = arrivals.Schedule(l.Arrivals, n)
	if err != nil || l.until == 0 {
		return all, err
	}
	at, _ := slices.BinarySearch(all, l.until)
	if at == 0 {
		return nil, fmt.Errorf("load: no request is due before %v: want a higher rate, or a longer duration", l.until)
	}
	return all[:at], nil
}
