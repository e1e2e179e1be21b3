package sample

import "time"

// A Clock is where the instants of an answer come from.
type Clock string

// The clocks, as records spell them.
const (
	// KernelClock instants are the kernel's receive timestamps of the last segment of each
	// read (Linux, TCP); with TLS, of the last segment of the TLS record. The client's own
	// delay is not part of them.
	KernelClock Clock = "kernel"
	// UserClock instants are those at which the client's reads returned.
	UserClock Clock = "user"
)

// ClockError is the accuracy of the mapping from the wall clock, which timestamps are on, to
// the monotonic clock. An instant that contradicts another by no more is not wrong.
const ClockError = 100 * time.Microsecond

// EventLags are the lags, as in [Sample].Lags, of events other than deltas.
type EventLags struct{ FirstOutput, ChoiceFirst, ChoiceLast, LastEvent, Done time.Duration }

// ToUserClock changes the sample's instants from the kernel's clock to the user clock.
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
	s.FirstByteLag, s.EndLag, s.Lags, s.Merged, s.EventLags = 0, 0, nil, nil, EventLags{}
}
