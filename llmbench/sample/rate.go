package sample

import (
	"iter"
	"time"
)

// AchievedRate returns two rates of one open-loop pass, in requests per second: asked is the rate of the
// schedule, and achieved is the rate at which the requests were sent. It returns false if there are fewer
// than two scheduled requests, or if all were due or sent at once.
func AchievedRate(samples iter.Seq[*Sample]) (asked, achieved float64, ok bool) {
	var due, sent span
	n := 0
	for s := range samples {
		if s.Scheduled {
			due.add(s.Due, n)
			sent.add(s.Start, n)
			n++
		}
	}
	if n < 2 || due.length() <= 0 || sent.length() <= 0 {
		return 0, 0, false
	}
	return float64(n-1) / due.length().Seconds(), float64(n-1) / sent.length().Seconds(), true
}

// Late returns how late the client sent a scheduled request. It counts from the due instant, or from
// Granted if that is later.
func (s *Sample) Late() time.Duration { return s.Start - max(s.Due, s.Granted) }

// A span is the time between the first and the last of some instants.
type span struct{ first, last time.Duration }

// add extends the span to an instant. The argument n is the number of instants that were added before.
func (s *span) add(at time.Duration, n int) {
	if n == 0 {
		*s = span{at, at}
	}
	s.first, s.last = min(s.first, at), max(s.last, at)
}

func (s *span) length() time.Duration { return s.last - s.first }

// A schedule is the due instants of one pass of an open loop.
type schedule struct {
	span
	n int
}

// add adds a due instant.
func (s *schedule) add(due time.Duration) {
	s.span.add(due, s.n)
	s.n++
}

// offered returns the number of requests after the first of each schedule, and the time in which they were
// due. Their quotient is the mean rate of the schedules.
func offered(schedules map[int]*schedule) (requests float64, due time.Duration) {
	for _, s := range schedules {
		requests += float64(s.n - 1)
		due += s.length()
	}
	return requests, due
}

// Elapsed returns the duration of a pass: from the first t0 to the end of the last response.
func Elapsed(samples iter.Seq[*Sample]) time.Duration {
	var first, last time.Duration
	any := false
	for s := range samples {
		if !any {
			any, first, last = true, s.Due, s.End
		}
		first, last = min(first, s.Due), max(last, s.End)
	}
	return last - first
}
