package judge

import (
	"fmt"
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/lockstep"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Facts holds what the samples of all passes show, before the metrics are judged.
type Facts struct {
	Summary  sample.Summary
	Failures string // a text about failed requests that are tolerated, or ""
	Bursts   sample.Bursts
	start    sample.Start
	Unread   Unread
	Recorded Recorded
	Together float64 // deltas that came together with the delta before / deltas after the first
	// AskForDeltas says how requests can ask for the number of tokens in each delta, or is "".
	AskForDeltas string
	// Compared says that the measurement is an arm, which is compared with another one.
	Compared bool

	excess  string
	unknown unknownEnds
	hidden  int
}

// FindFacts finds all facts together, because the samples may have to be read from a file. The argument
// elapsed is the total duration of the passes. For late see [sample.FindBursts].
func FindFacts(all iter.Seq[*sample.Sample], elapsed, late time.Duration, slo sample.SLO, tolerated Tolerated) (f Facts) {
	type samples = iter.Seq[*sample.Sample]
	lockstep.Range(all,
		func(s samples) { f.Summary = sample.Summarize(s, elapsed, slo) },
		func(s samples) { f.Failures, _ = failures(s, tolerated) },
		func(s samples) { f.Bursts = sample.FindBursts(s, late) },
		func(s samples) { f.start = sample.FindStart(s, late) },
		func(s samples) { f.Unread = findUnread(s) },
		func(s samples) { f.Together = together(s) },
		func(s samples) { f.Recorded = findRecorded(s) },
		func(s samples) { f.excess = excess(s) },
		func(s samples) { f.unknown = findUnknownEnds(s) },
		func(s samples) { f.hidden = hidden(s) })
	if n := f.Summary.Sources[sample.Contradicted]; n > 0 {
		f.Summary.Metrics[sample.UsageError] = 100 * float64(n) / float64(f.Summary.Outcomes[sample.OK])
	}
	return f
}

// together returns the share of deltas after the first that came together with the delta before, or 0 if there are none.
func together(samples iter.Seq[*sample.Sample]) float64 {
	n, all := 0, 0
	for s := range samples {
		for _, gap := range s.Gaps {
			if all++; gap <= 0 {
				n++
			}
		}
	}
	if all == 0 {
		return 0
	}
	return float64(n) / float64(all)
}

// excess returns a text about answers with more output tokens than the request allowed, or "" if there are
// none.
func excess(samples iter.Seq[*sample.Sample]) string {
	var first *sample.Sample
	n, all := 0, 0
	for s := range samples {
		all++
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
	return fmt.Sprintf("the server reports more output tokens than were allowed in %d of %d requests; the first is %s of pass %d, %d of %d",
		n, all, first.ID, first.Pass, first.OutputTokens, first.MaxTokens)
}

// hidden returns the number of successful answers with reasoning tokens that were not streamed.
func hidden(samples iter.Seq[*sample.Sample]) (n int) {
	for s := range samples {
		if s.Outcome == sample.OK && s.Streamed && s.HidesReasoning() {
			n++
		}
	}
	return n
}
