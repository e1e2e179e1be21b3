package llmbench

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// excess describes the answers with more output tokens than the request allowed. It returns ""
// without such answers.
func excess(samples []sample.Sample) string {
	var first *sample.Sample
	n := 0
	for i := range samples {
		s := &samples[i]
		if s.Outcome == sample.OK && s.TokenSource == sample.FromUsage && s.MaxTokens > 0 && s.OutputTokens > s.MaxTokens {
			if n == 0 {
				first = s
			}
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("the server states more output tokens than were allowed in %d of %d requests; the first is %s of pass %d, %d of %d",
		n, len(samples), first.ID, first.Pass, first.OutputTokens, first.MaxTokens)
}

// tooManyFailed describes the failures of a pass if the share of failed requests is above what
// is tolerated. Otherwise it returns "".
func tooManyFailed(samples []sample.Sample, tolerated float64) string {
	outcomes := map[sample.Outcome]int{}
	var shown []string
	seen := map[string]bool{}
	failed := 0
	for i := range samples {
		s := &samples[i]
		if s.Outcome == sample.OK || s.Outcome == sample.Left {
			continue
		}
		failed++
		outcomes[s.Outcome]++
		if text := s.Err.Error(); !seen[text] && len(shown) < 5 {
			seen[text] = true
			shown = append(shown, fmt.Sprintf("\n  request %d %s: %s: %s", i, s.ID, s.Outcome, text))
		}
	}
	if float64(failed)/float64(len(samples)) <= tolerated {
		return ""
	}
	return fmt.Sprintf("%d of %d requests failed, %.4g%% are tolerated: %s%s",
		failed, len(samples), 100*tolerated, tally(outcomes), strings.Join(shown, ""))
}

// tally formats counts like "http 1, truncated 2", sorted by name.
func tally[K ~string](counts map[K]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(parts, ", ")
}
