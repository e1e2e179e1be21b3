package sample

import "time"

// A Clock says how the instants of an answer were measured.
type Clock string

// The clocks, as records spell them.
const (
	// KernelClock instants are the kernel's receive timestamps (Linux, TCP). If a read returns bytes of
	// several TCP segments, or a TLS record has several, the instant is the timestamp of the last segment.
	// The client's own delay is not part of these instants.
	KernelClock Clock = "kernel"
	// UserClock instants are the times at which the client's reads returned.
	UserClock Clock = "user"
)

// ClockError is the accuracy of the conversion of kernel timestamps, which are on the wall clock, to the
// monotonic clock. Two instants that contradict each other by at most ClockError are therefore not an
// error.
const ClockError = 100 * time.Microsecond

// EventLags has lags, as in [Sample].Lags, of events that are not deltas.
type EventLags struct{ FirstOutput, ChoiceFirst, ChoiceLast, LastEvent, Done time.Duration }

// ToUserClock changes the sample's instants from the kernel clock to the user clock.
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
