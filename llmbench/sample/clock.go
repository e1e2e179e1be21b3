package sample

import "time"

// A Clock tells where the instants of an answer come from.
type Clock string

// The clocks, as they stand in records.
const (
	// KernelClock instants are those at which the kernel received the last
	// segment of what was read: Linux, TCP. With TLS it is the last segment of
	// the record. What waited for the client's CPU did not make them later.
	KernelClock Clock = "kernel"
	// UserClock instants are those at which the client's Read returned.
	UserClock Clock = "user"
)

// ClockError is how far two measurements of the difference of the clocks may be
// apart without the wall clock having been set, and how far a stamp may be after
// the Read that returned it.
const ClockError = 100 * time.Microsecond

// EventLags are what [Sample].Lags is of the deltas: of the instants of other
// events.
type EventLags struct{ FirstOutput, ChoiceFirst, ChoiceLast, LastEvent, Done time.Duration }

// ToUserClock puts the sample's instants on the user clock.
func (s *Sample) ToUserClock() {
	s.Clock = UserClock
	s.FirstByte += s.FirstByteLag
	s.End += s.EndLag
	for i, lag := range s.Lags {
		if i == 0 {
			s.First += lag
		} else {
			s.Gaps[i-1] += lag - s.Lags[i-1]
		}
	}
	if n := len(s.Lags); n > 0 {
		s.Last += s.Lags[n-1]
	}
	s.FirstOutput += s.EventLags.FirstOutput
	s.Choices.First += s.EventLags.ChoiceFirst
	s.Choices.Last += s.EventLags.ChoiceLast
	s.LastEvent += s.EventLags.LastEvent
	s.Done += s.EventLags.Done
	s.FirstByteLag, s.EndLag, s.Lags, s.EventLags = 0, 0, nil, EventLags{}
}
