package sample

import (
	"fmt"
	"strings"
	"time"
)

// An SLO (service level objective) consists of the limits that a good request keeps. A zero limit means no
// limit.
type SLO struct {
	TTFT, TPOT, E2E time.Duration
}

// ParseSLO parses limits like "ttft=500ms,tpot=50ms,e2e=10s".
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

// String returns the limits in the form that [ParseSLO] parses.
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

// NeedsStream reports whether the SLO limits the TTFT or the TPOT, which exist only for streamed answers.
func (s SLO) NeedsStream() bool { return s.TTFT > 0 || s.TPOT > 0 }

// Met reports whether a request keeps every limit. A failed request keeps none. A request without the
// limited metric does not keep the limit, with one exception: a stream of a single token has no TPOT, and
// keeps any TPOT limit.
func (s SLO) Met(r *Sample) bool {
	if r.Outcome != OK {
		return false
	}
	within := func(limit time.Duration, figure func() (time.Duration, bool)) bool {
		d, ok := figure()
		return limit == 0 || ok && d <= limit
	}
	tpot := within(s.TPOT, r.TPOT) || r.Streamed && r.OutputTokens < 2 && r.TokenSource != Contradicted
	return within(s.TTFT, r.TTFT) && tpot && within(s.E2E, r.E2E)
}
