package judge

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Tolerated holds the largest shares of all requests, from 0 to 1, that may fail and that may be shed. If
// Shed is 0, shed requests count as failed ones.
type Tolerated struct{ Fail, Shed float64 }

// TooManyFailed describes the failures of a pass if a share exceeds the tolerated share. Otherwise it
// returns "".
func TooManyFailed(samples iter.Seq[*sample.Sample], tolerated Tolerated) string {
	text, tooMany := failures(samples, tolerated)
	if !tooMany {
		return ""
	}
	return text
}

// failures describes the failures of samples: how many there are of each kind, and up to five different
// ones. The text is "" if no request failed. The result tooMany says that a share exceeds the tolerated
// share. Shed requests of which tolerated allows some are described only if there are too many.
//
// If a server closes a kept-alive connection when the next request has arrived, there are two possible
// reasons: it closed the connection independently of the request, or it refused the request. A server that
// refuses requests also refuses some on new connections. If this has happened, the requests that were sent
// again count as failed.
func failures(samples iter.Seq[*sample.Sample], tolerated Tolerated) (text string, tooMany bool) {
	outcomes := map[sample.Outcome]int{}
	var shown []string
	seen := map[string]bool{}
	failed, shed, all, refused, unread := 0, 0, 0, false, 0
	for s := range samples {
		all++
		if s.Outcome == sample.OK || s.Outcome == sample.Left {
			if s.ResentUnread {
				unread++
			}
			continue
		}
		if s.Outcome == sample.Shed && tolerated.Shed > 0 {
			shed++
			continue
		}
		failed++
		refused = refused || s.Outcome == sample.Connect && s.Wrote > 0
		outcomes[s.Outcome]++
		if len(shown) == 5 {
			continue
		}
		if text := s.Err.Error(); !seen[text] {
			seen[text] = true
			shown = append(shown, fmt.Sprintf("\n  request %d %s: %s: %s", s.Request, s.ID, s.Outcome, text))
		}
	}
	again := ""
	if refused && unread > 0 {
		failed += unread
		again = fmt.Sprintf(", sent again after a connection was closed %d", unread)
	}
	var texts []string
	if float64(shed) > tolerated.Shed*float64(all) {
		tooMany = true
		texts = append(texts, fmt.Sprintf("%d of %d requests were shed, %.4g%% are tolerated", shed, all, 100*tolerated.Shed))
	}
	if failed > 0 {
		tooMany = tooMany || float64(failed)/float64(all) > tolerated.Fail
		texts = append(texts, fmt.Sprintf("%d of %d requests failed, %.4g%% are tolerated: %s%s%s",
			failed, all, 100*tolerated.Fail, tally(outcomes), again, strings.Join(shown, "")))
	}
	return strings.Join(texts, "; "), tooMany
}

// tally formats counts like "http 1, truncated 2", sorted by name.
func tally[K ~string](counts map[K]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(parts, ", ")
}
