package judge

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const (
	// leastPause is the shortest time of silence that is called a pause.
	leastPause = 500 * time.Millisecond
	// pauseRatio is how many times as long as the longest gap of most streams a pause must be.
	pauseRatio = 5
	// mostPauses is the number of the longest gaps that are examined, and mostShown the number of pauses in a note.
	mostPauses, mostShown = 8, 3
	// slowPrefill is how many times as long per character as usual a prefill may take. A longer time is a pause.
	slowPrefill = 3
)

// A pause is a time in which no stream got a delta, although at least one was in the middle of its answer.
type pause struct {
	pass     int
	from, to time.Duration // since the start of the pass
	streams  int           // streams in the middle of their answer
	waiting  int           // streams that waited for their first delta

	broken bool // a delta came meanwhile
	slow   int  // streams of the measurement with other gaps that are nearly as long
	prompt int  // characters of the longest prompt whose first delta ended the pause
}

func (p *pause) length() time.Duration { return p.to - p.from }

// overlap returns how long a gap and the pause overlap.
func (p *pause) overlap(pass int, from, to time.Duration) time.Duration {
	if pass != p.pass {
		return 0
	}
	return max(0, min(to, p.to)-max(from, p.from))
}

// PauseNotes returns a note about the times in which all streams stood still, as if the server or the network had been
// stopped. It leaves out pauses that are usual for the measurement, that the prefill of a prompt explains, or that are
// between bursts. The argument late is the longest time by which the client is known to have read late: shorter pauses
// on the client's own clock may be the client's.
func (f Facts) PauseNotes(samples iter.Seq[*sample.Sample], late time.Duration) []records.Note {
	if f.Bursts.Found() {
		return nil
	}
	all := findPauses(samples, late)
	if len(all) == 0 {
		return nil
	}
	var texts []string
	for i, p := range all {
		if i == mostShown {
			texts = append(texts, fmt.Sprintf("and %d more times", len(all)-i))
			break
		}
		who := "all streams"
		if p.streams+p.waiting == 1 {
			who = "the only stream"
		}
		texts = append(texts, fmt.Sprintf("%s stood still for %.1f s at %.1f s of pass %d", who, p.length().Seconds(), p.from.Seconds(), p.pass))
	}
	return []records.Note{{Kind: records.NotePause, Text: strings.Join(texts, ", ") + ": the server or the network stopped; latencies contain that time"}}
}

// findPauses returns the pauses in the order in which they came.
func findPauses(samples iter.Seq[*sample.Sample], late time.Duration) []pause {
	all := longestGaps(samples, late)
	if len(all) == 0 {
		return nil
	}
	streams := 0
	var pace []float64 // TTFT per character, in nanoseconds
	for s := range samples {
		if s.Deltas < 2 {
			continue
		}
		streams++
		addStream(all, s)
		if ttft, has := s.TTFT(); has && s.PromptChars > 0 && len(pace) < 1<<14 {
			pace = append(pace, float64(ttft)/float64(s.PromptChars))
		}
	}
	usual := 0.0
	if len(pace) > 0 {
		slices.Sort(pace)
		usual = pace[len(pace)/2]
	}
	all = slices.DeleteFunc(all, func(p pause) bool {
		return p.broken || p.streams == 0 || 10*p.slow > streams || float64(p.length()) <= slowPrefill*usual*float64(p.prompt)
	})
	slices.SortFunc(all, func(a, b pause) int { return cmp.Or(cmp.Compare(a.pass, b.pass), cmp.Compare(a.from, b.from)) })
	return all
}

// longestGaps returns the longest gaps between deltas as pauses. Each pause is the time that all long gaps around it
// have in common.
func longestGaps(samples iter.Seq[*sample.Sample], late time.Duration) (all []pause) {
	const most = 1 << 12 // gaps in memory
	var gaps []pause
	least := leastPause
	byLength := func(a, b pause) int { return cmp.Or(cmp.Compare(b.length(), a.length()), cmp.Compare(a.from, b.from)) }
	for s := range samples {
		at := s.First
		for _, gap := range s.Gaps {
			if gap >= least && (s.Clock == sample.KernelClock || gap > 2*late) {
				gaps = append(gaps, pause{pass: s.Pass, from: at, to: at + gap})
			}
			at += gap
		}
		if len(gaps) > most {
			slices.SortFunc(gaps, byLength)
			gaps = gaps[:most/2]
			least = gaps[len(gaps)-1].length()
		}
	}
	slices.SortFunc(gaps, byLength)
	for _, g := range gaps {
		if len(all) == mostPauses {
			break
		}
		if slices.ContainsFunc(all, func(p pause) bool { return p.overlap(g.pass, g.from, g.to) > 0 }) {
			continue
		}
		p := g
		for _, o := range gaps {
			if p.overlap(o.pass, o.from, o.to) > g.length()/2 {
				p.from, p.to = max(p.from, o.from), min(p.to, o.to)
			}
		}
		all = append(all, p)
	}
	return all
}

// addStream adds to each pause what a stream did meanwhile.
func addStream(all []pause, s *sample.Sample) {
	var longest time.Duration // gap outside the pauses
	within := 0               // gaps within the pauses
	at := s.First
	for _, gap := range s.Gaps {
		if slices.ContainsFunc(all, func(p pause) bool { return p.overlap(s.Pass, at, at+gap) > gap/2 }) {
			within++
		} else {
			longest = max(longest, gap)
		}
		at += gap
	}
	for i := range all {
		p := &all[i]
		if pauseRatio*longest > p.length() || 2*within > len(s.Gaps) {
			p.slow++
		}
		if s.Pass != p.pass {
			continue
		}
		edge := p.length() / 20
		if s.First < p.to-edge && s.Last > p.from+edge && hasDelta(s, p.from+edge, p.to-edge) {
			p.broken = true
		} else if s.First <= p.from+edge && s.Last >= p.to-edge {
			p.streams++
		} else if s.Start <= p.from+edge && s.First >= p.to-edge {
			p.waiting++
		}
		if s.Start < p.from+p.length()/2 && s.First >= p.to-edge && s.First <= p.to+p.length()/5 {
			p.prompt = max(p.prompt, s.PromptChars)
		}
	}
}

// hasDelta reports whether a delta of s came between two instants.
func hasDelta(s *sample.Sample, from, to time.Duration) bool {
	at := s.First
	for i := range s.Deltas {
		if at > from && at < to {
			return true
		}
		if i < len(s.Gaps) {
			at += s.Gaps[i]
		}
	}
	return false
}
