package metrics

import (
	"math"
	"slices"
)

// A snapshot holds the values of a server's metrics at one instant, or the differences between two
// snapshots. A metric that the server does not have is nil.
type snapshot struct {
	cacheHits, cacheQueries, preemptions, queueSum, queueCount *float64
	requests, promptTokens, outputTokens                       *float64
	arrivals                                                   *float64
	drafts, draftTokens, accepted                              *float64
	cacheHitRate, kvUsage, waiting, openRequests, acceptLength *float64
	times
	starts   []float64 // see families.starts
	replicas []float64 // requests that each of several addresses has counted; nil for one address
}

// counters returns the fields that are counters.
func (s *snapshot) counters() []**float64 {
	return append(s.times.counters(), &s.cacheHits, &s.cacheQueries, &s.preemptions, &s.queueSum, &s.queueCount, &s.arrivals, &s.requests, &s.promptTokens, &s.outputTokens, &s.drafts, &s.draftTokens, &s.accepted)
}

// empty reports whether the server has none of the metrics.
func (s *snapshot) empty() bool {
	all := append(s.counters(), &s.cacheHitRate, &s.kvUsage, &s.waiting, &s.openRequests, &s.acceptLength)
	return !slices.ContainsFunc(all, func(v **float64) bool { return *v != nil })
}

// snapshot returns the values of the metrics that have these names.
func (n Names) snapshot(all families) (s snapshot) {
	s.cacheHits, _ = all.sum(n.CacheHits)
	s.cacheQueries, _ = all.sum(n.CacheQueries)
	s.preemptions, _ = all.sum(n.Preemptions)
	s.queueSum, s.queueCount = all.sum(n.QueueTime)
	s.arrivals, _ = all.sum(n.Arrivals)
	s.requests, _ = all.sum(n.Requests)
	s.promptTokens, _ = all.sum(n.PromptTokens)
	s.outputTokens, _ = all.sum(n.OutputTokens)
	s.draftTokens, _ = all.sum(n.DraftTokens)
	var each *float64
	s.accepted, each = all.sum(n.Accepted)
	if s.drafts, _ = all.sum(n.Drafts); len(n.Drafts) == 0 {
		s.drafts = each
	}
	s.acceptLength = all.mean(n.AcceptLength)
	s.cacheHitRate = all.mean(n.CacheHitRate)
	s.kvUsage = all.mean(n.KVUsage)
	s.openRequests = all.mean(n.OpenRequests)
	s.waiting, _ = all.sum(n.Waiting)
	s.times = n.times(all)
	s.starts = all.starts()
	if misses, _ := all.sum(n.CacheMisses); misses != nil && s.cacheHits != nil {
		both := possible(*misses + *s.cacheHits)
		if s.cacheQueries == nil {
			s.cacheQueries = both
		}
		if len(n.PromptTokens) == 0 {
			s.promptTokens = both
		}
	}
	return s
}

// rounding returns the possible difference between the printed value v of a counter and the true value. It
// is 0 if the server prints all digits.
func (n Names) rounding(v float64) float64 {
	if v < math.Pow10(n.Digits) {
		return 0
	}
	return n.lastDigit(v)
}

// lastDigit returns the value of the last digit with which a fractional counter is printed whose value is v. It is 0 if
// the server prints all digits.
func (n Names) lastDigit(v float64) float64 {
	if n.Digits == 0 || v <= 0 {
		return 0
	}
	return math.Pow10(int(math.Floor(math.Log10(v))) + 1 - n.Digits)
}

// valueOr0 returns *v, or 0 if v is nil.
func valueOr0(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
