package sample

import (
	"fmt"
	"strings"
	"time"
)

// An SLO is a set of limits that a good request keeps; a zero limit is none.
type SLO struct {
	TTFT, TPOT, E2E time.Duration
}

// ParseSLO reads limits like "ttft=500ms,tpot=50ms,e2e=10s".
func ParseSLO(text string) (SLO, error) {
	var s SLO
	limits := map[string]*time.Duration{"ttft": &s.TTFT, "tpot": &s.TPOT, "e2e": &s.E2E}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		limit, known := limits[name]
		d, err := time.ParseDuration(value)
		if !known || err != nil || d <= 0 || *limit != 0 {
			return SLO{}, fmt.Errorf("%q is not a limit like ttft=500ms, tpot=50ms or e2e=10s, each at most once", part)
		}
		*limit = d
	}
	return s, nil
}

// String returns the limits as [ParseSLO] reads them.
func (s SLO) String() string {
	var parts []string
	add := func(name string, d time.Duration) {
		if d > 0 {
			parts = append(parts, name+"="+d.String())
		}
	}
	add("ttft", s.TTFT)
	add("tpot", s.TPOT)
	add("e2e", s.E2E)
	return strings.Join(parts, ",")
}

// Met reports whether a request kept every limit. A failed request keeps none.
// A limit on what the request does not have is kept when there was nothing to
// wait for (the time per token of a single token), and not otherwise.
func (s SLO) Met(r *Sample) bool {
	if r.Outcome != OK {
		return false
	}
	within := func(limit time.Duration, of func() (time.Duration, bool)) bool {
		d, ok := of()
		return limit == 0 || ok && d <= limit
	}
	tpot := within(s.TPOT, r.TPOT) || r.Streamed && r.OutputTokens < 2
	return within(s.TTFT, r.TTFT) && tpot && within(s.E2E, r.E2E)
}
