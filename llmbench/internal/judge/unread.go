package judge

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An Unread says how many answers may have text that was not read, because the dialect does not know the members
// of an answer that may have had it.
type Unread struct {
	Streams int            // successful streams
	Members map[string]int // number of these streams by the first unknown member
	Last    bool           // such text may have come after the last delta
	Counted bool           // the tokens of such a stream were counted by the client, which did not see them all
}

// findUnread finds the answers that may have text that was not read.
func findUnread(samples iter.Seq[*sample.Sample]) Unread {
	u := Unread{Members: map[string]int{}}
	for s := range samples {
		if s.Outcome != sample.OK || !s.Streamed {
			continue
		}
		u.Streams++
		if s.Unread == "" {
			continue
		}
		countName(u.Members, s.Unread)
		u.Last = u.Last || s.UnreadLast
		u.Counted = u.Counted || s.TokenSource == sample.FromDeltas || s.TokenSource == sample.FromTokenizer
	}
	return u
}

// countName adds 1 to the count of a name that a server chose. A server may choose many names.
func countName(counts map[string]int, name string) {
	const most = 5
	if _, known := counts[name]; !known && len(counts) >= most {
		name = "others"
	}
	counts[name]++
}

// JudgeUnread withholds the metrics that have no meaning if answers may have text that was not read: the times to
// deltas, between deltas and per token. The metrics that depend on the number of tokens are among them if the
// client counted the tokens, and the E2E latencies if text may have come after the last delta. It returns a text about
// these metrics, or "". It must be called before JudgeBursts and JudgeClient, which would otherwise blame something
// else for these metrics.
func (f *Figures) JudgeUnread(u Unread, slo sample.SLO) string {
	if len(u.Members) == 0 {
		return ""
	}
	units := append(sample.OfDeltas(f.Units, slo), sample.HiddenLength) // the reasoning may have been in the member
	if u.Counted {
		units = append(units, f.OfTokens()...)
	}
	for _, unit := range f.Units {
		if u.Last && (unit.Family == sample.FamilyE2E || unit.Family == sample.FamilyUserRate) {
			units = append(units, unit.Name)
		}
	}
	all := slices.Concat(units, f.computedFrom(units))
	if units = f.remove(all); len(units) == 0 {
		return ""
	}
	slices.Sort(units)
	f.Unread = units
	streams := 0
	for _, n := range u.Members {
		streams += n
	}
	f.Metrics[sample.UnreadShare] = 100 * float64(streams) / float64(u.Streams)
	f.withhold(Withholding{Units: units, Also: all, Why: ByUnread})
	return fmt.Sprintf("%s are omitted: of %d streams, some have a member that this release does not know, with possible text before or between the text that was read (streams by member: %s): switch the member off at the server or with LLMBENCH_BODY, or report its name", strings.Join(units, ", "), u.Streams, tally(u.Members))
}
