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
	for s := range samples {
		if s.Scheduled {
			due.add(s.Due)
			sent.add(s.Start)
		}
	}
	if due.n < 2 || due.length() <= 0 || sent.length() <= 0 {
		return 0, 0, false
	}
	return float64(due.n-1) / due.length().Seconds(), float64(sent.n-1) / sent.length().Seconds(), true
}

// Late returns how late the client sent a scheduled request. It counts from the due instant, or from
// Granted if that is later.
func (s *Sample) Late() time.Duration { return s.Start - max(s.Due, s.Granted) }

// A span is the time between the first and the last of n instants.
type span struct {
	first, last time.Duration
	n           int
}

// add extends the span to an instant.
func (s *span) add(at time.Duration) {
	if s.n == 0 {
		s.first, s.last = at, at
	}
	s.first, s.last = min(s.first, at), max(s.last, at)
	s.n++
}

func (s *span) length() time.Duration { return s.last - s.first }

// offered returns the number of requests after the first of each schedule, and the time in which they were
// due. Their quotient is the mean rate of the schedules. A schedule has the due instants of one pass of an open
// loop.
func offered(schedules map[int]*span) (requests float64, due time.Duration) {
	for _, s := range schedules {
		requests += float64(s.n - 1)
		due += s.length()
	}
	return requests, due
}

// Elapsed returns the sum of the durations of the passes of samples. A pass lasts from the first t0, or [Sample.From] if that is
// later, to the end of the last response, or to [Sample.Until] if that is earlier. A pass with Until and with requests of an open
// loop lasts from From to Until: an open loop need not have a request in flight when its time begins or ends.
func Elapsed(samples iter.Seq[*Sample]) (sum time.Duration) {
	passes := map[int]*span{}
	whole := map[int]time.Duration{}
	for s := range samples {
		p := passes[s.Pass]
		if p == nil {
			p = new(span)
			passes[s.Pass] = p
		}
		p.add(s.clamp(s.Due))
		p.add(s.clamp(s.End))
		if s.Scheduled && s.Until > 0 {
			whole[s.Pass] = s.Until - s.From
		}
	}
	for pass, p := range passes {
		if length := p.length(); length > 0 { // otherwise all responses had ended before From
			sum += max(length, whole[pass])
		}
	}
	return sum
}
