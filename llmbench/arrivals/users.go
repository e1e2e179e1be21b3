package arrivals

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Users are the number of users of a closed loop, which changes with time. The stages follow one another. Rate and To of a
// [Stage] are numbers of users instead of requests per second; they are whole.
//
// The users are numbered from 0. User k is there while the number is k+1 or more, so that in a linear ramp the users begin,
// or leave, at even intervals. The number of users there at an instant of a ramp is its number rounded down.
type Users []Stage

// mostUsers is the largest number of users in [Users].
const mostUsers = 1e6

// A Stay is a time, from From until before To, during which a user of a closed loop is there: it sends its next request when
// its last one has ended. The request that is in flight at To is answered. Both are durations since the start of the pass.
type Stay struct{ From, To time.Duration }

// ParseUsers reads stages in the form that [ParseStages] reads, such as "1..64:30s,64:1m,64..1:30s", as numbers of users. It
// returns an error if they are invalid; see [Users.Check].
func ParseUsers(text string) (Users, error) {
	all, err := parseStages(text)
	if err == nil {
		err = Users(all).Check()
	}
	return all, err
}

// Check returns an error if there are no stages, or if a stage is invalid: its numbers of users must be whole, from 0 to
// a million. The last stage must have a user.
func (u Users) Check() error {
	length := 0.0
	for i, g := range u {
		if !isUsers(g.Rate) || !isUsers(g.To) {
			return fmt.Errorf("stage %d: %v: want whole numbers of users from 0 to %d", i+1, g, int(mostUsers))
		}
		if err := g.check(); err != nil {
			return fmt.Errorf("stage %d: %w", i+1, err)
		}
		length += float64(g.For)
	}
	switch {
	case len(u) == 0:
		return errors.New("stages: none: want at least one")
	case u[len(u)-1].most() == 0:
		return errors.New("stages: the last one has no user: want at least one")
	case length > math.MaxInt64/2:
		return fmt.Errorf("stages: %.4g s in total: want at most %.4g s", length/1e9, math.MaxInt64/2/1e9)
	}
	return nil
}

// isUsers reports whether n is a number of users.
func isUsers(n float64) bool { return n >= 0 && n <= mostUsers && n == math.Trunc(n) }

// String returns the stages in the form that [ParseUsers] reads.
func (u Users) String() string { return textOf(u) }

// Duration returns the time of all stages together.
func (u Users) Duration() (all time.Duration) {
	for _, g := range u {
		all += g.For
	}
	return all
}

// Most returns the largest number of users.
func (u Users) Most() (most int) {
	for _, g := range u {
		most = max(most, g.most())
	}
	return most
}

// most returns the largest number of users of a stage.
func (g Stage) most() int { return int(max(g.Rate, g.To)) }

// end returns the number at the end of the stage.
func (g Stage) end() float64 {
	if g.Ramp == Flat {
		return g.Rate
	}
	return g.To
}

// Stays returns when user k is there, in order. If several users come at once, because the number of users is larger at the
// beginning of a stage than it was before, each of them begins stagger later than the one before.
func (u Users) Stays(k int, stagger time.Duration) (all []Stay) {
	begin, before := time.Duration(0), 0.0
	for _, g := range u {
		s, there := g.stay(float64(k + 1))
		s.From, s.To = begin+s.From, begin+s.To
		switch n := len(all); {
		case !there:
		case n > 0 && all[n-1].To == s.From:
			all[n-1].To = s.To
		default:
			if s.From == begin { // one of those that come at once
				s.From += time.Duration(max(0, k-int(before))) * stagger
			}
			all = append(all, s)
		}
		begin, before = begin+g.For, g.end()
	}
	return slices.DeleteFunc(all, func(s Stay) bool { return s.From >= s.To })
}

// stay returns when a user is there whom the stage has while its number is n or more, since the beginning of the stage. It
// returns false if that is never so.
func (g Stage) stay(n float64) (Stay, bool) {
	from, to := g.Rate >= n, g.end() >= n
	switch {
	case from && to:
		return Stay{0, g.For}, true
	case from:
		return Stay{0, g.at(n)}, true
	case to:
		return Stay{g.at(n), g.For}, true
	}
	return Stay{}, false
}

// at returns when a ramp has the number n, which is from the one at its beginning to the one at its end.
func (g Stage) at(n float64) time.Duration {
	share := (n - g.Rate) / (g.To - g.Rate)
	if g.Ramp == Exponential {
		share = math.Log(n/g.Rate) / math.Log(g.To/g.Rate)
	}
	return time.Duration(math.Round(share * float64(g.For)))
}
