package judge

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TooManyFailed describes the failures of a pass if the share of failed requests exceeds the tolerated
// share. Otherwise it returns "".
func TooManyFailed(samples iter.Seq[*sample.Sample], tolerated float64) string {
	text, tooMany := failures(samples, tolerated)
	if !tooMany {
		return ""
	}
	return text
}

// failures describes the failures of samples: how many there are of each kind, and up to five different
// ones. The text is "" if no request failed. The result tooMany says that the share of failed requests
// exceeds the tolerated share.
//
// If a server closes a kept-alive connection when the next request has arrived, there are two possible
// reasons: it closed the connection independently of the request, or it refused the request. A server that
// refuses requests also refuses some on new connections. If this has happened, the requests that were sent
// again count as failed.
func failures(samples iter.Seq[*sample.Sample], tolerated float64) (text string, tooMany bool) {
	outcomes := map[sample.Outcome]int{}
	var shown []string
	seen := map[string]bool{}
	failed, all, refused, unread := 0, 0, false, 0
	for s := range samples {
		all++
		if s.Outcome == sample.OK || s.Outcome == sample.Left {
			if s.ResentUnread {
				unread++
			}
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
	if failed == 0 {
		return "", false
	}
	text = fmt.Sprintf("%d of %d requests failed, %.4g%% are tolerated: %s%s%s",
		failed, all, 100*tolerated, tally(outcomes), again, strings.Join(shown, ""))
	return text, float64(failed)/float64(all) > tolerated
}

// tally formats counts like "http 1, truncated 2", sorted by name.
func tally[K ~string](counts map[K]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(parts, ", ")
}
