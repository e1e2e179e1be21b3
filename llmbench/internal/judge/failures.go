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
// A request that was sent again counts once, by its last answer, as in the units fail-% and resent-%.
func failures(samples iter.Seq[*sample.Sample], tolerated Tolerated) (text string, tooMany bool) {
	outcomes := map[sample.Outcome]int{}
	var shown []example
	seen := map[string]bool{}
	var ends cuts
	failed, shed, all := 0, 0, 0
	for s := range samples {
		all++
		if s.Outcome == sample.OK || s.Outcome == sample.Left {
			continue
		}
		if s.Outcome == sample.Shed && tolerated.Shed > 0 {
			shed++
			continue
		}
		failed++
		outcomes[s.Outcome]++
		ends.add(s)
		if len(shown) == 5 {
			continue
		}
		if text := s.Err.Error(); !seen[text] {
			seen[text] = true
			shown = append(shown, example{kindOf(s), fmt.Sprintf("\n  request %d %s: %s: %s%s", s.Request, s.ID, s.Outcome, text, cutAt(s))})
		}
	}
	var texts []string
	if float64(shed) > tolerated.Shed*float64(all) {
		tooMany = true
		texts = append(texts, fmt.Sprintf("%d of %d requests were shed, %.4g%% are tolerated", shed, all, 100*tolerated.Shed))
	}
	hint := ""
	if tolerated.Shed > 0 && failed > 0 {
		if hint = sample.ShedHint(samples); hint != "" {
			hint = "\n  " + hint
		}
	}
	if failed > 0 {
		tooMany = tooMany || float64(failed)/float64(all) > tolerated.Fail
		texts = append(texts, fmt.Sprintf("%d of %d requests failed, %.4g%% are tolerated: %s%s%s",
			failed, all, 100*tolerated.Fail, tally(outcomes), ends.explain(shown, samples), hint))
	}
	return strings.Join(texts, "; "), tooMany
}

// Interrupted describes what had become of the requests of a pass that the user interrupted: how many were complete, and
// how many had failed and why. It shows one failure of each kind.
func Interrupted(samples iter.Seq[*sample.Sample]) string {
	outcomes := map[sample.Outcome]int{}
	all, complete, failed, text := 0, 0, 0, ""
	for s := range samples {
		all++
		switch s.Outcome {
		case sample.OK, sample.Left:
			complete++
		case sample.Canceled: // in flight, or not sent yet
		default:
			if failed++; outcomes[s.Outcome] == 0 {
				text += fmt.Sprintf("\n  request %d %s: %s: %s", s.Request, s.ID, s.Outcome, s.Err)
			}
			outcomes[s.Outcome]++
		}
	}
	if failed == 0 {
		return fmt.Sprintf("%d of %d requests were complete, and none had failed", complete, all)
	}
	return fmt.Sprintf("%d of %d requests had failed: %s; %d were complete%s", failed, all, tally(outcomes), complete, text)
}

// tally formats counts like "http 1, truncated 2", sorted by name.
func tally[K ~string](counts map[K]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(parts, ", ")
}
