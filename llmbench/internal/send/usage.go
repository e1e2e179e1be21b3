package send

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A usageTrack follows the counts of output tokens that a server reports while it streams text. Such counts
// should be cumulative: each includes the tokens of all deltas so far. Some servers report with each event the
// tokens of this event alone. The last count then is not the length of the answer.
type usageTrack struct {
	counted    int  // number of events with text and a count
	grown      int  // how many of these have a higher count than the one before
	grewLast   bool // the last of these has a higher count than the one before
	last, most int  // the last count since the first delta, and the highest one with text
	falls      int  // how many counts were lower than the one before
	deepest    int  // by how much, at most
}

// add adds an event with a count. The argument begun says that there was text before.
func (t *usageTrack) add(d *dialect.Delta, begun bool) {
	n := d.Usage.OutputTokens
	if !begun && d.Chunks == 0 {
		return
	}
	if n < t.last {
		t.falls++
		t.deepest = max(t.deepest, t.last-n)
	}
	if d.Chunks > 0 {
		if t.grewLast = t.counted > 0 && n > t.last; t.grewLast {
			t.grown++
		}
		t.counted++
		t.most = max(t.most, n)
	}
	t.last = n
}

// contradicts reports whether the last count cannot be the number of output tokens of s: because counts fell;
// because they stayed the same while text came; or because the text came in many more deltas. A proxy that cuts
// the text of a token into several deltas may repeat a count a few times.
func (t *usageTrack) contradicts(s *sample.Sample, total int) bool {
	const (
		repeats = 4 // maximum number of deltas with one count, on average
		apart   = 2 // deltas that may have no token, such as a name of a tool; see explainedDeltas in package judge
	)
	deltas := s.Outputs - s.Blank
	if !s.Streamed || total == 0 || t.counted > 0 && total == s.MaxTokens {
		return false
	}
	stuck := total <= t.most && (t.counted > 1 && t.grown == 0 || t.counted > repeats*(t.grown+1))
	stated := t.grewLast && total >= deltas-apart // only the last count is of the whole answer
	return t.falls > 1 || t.deepest > excessAllowed || stuck && !stated || deltas > deltasPerToken*total+apart
}
