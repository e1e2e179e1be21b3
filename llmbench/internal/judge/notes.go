package judge

import (
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// shortAnswers is the share of the requested output tokens below which short answers are logged.
const shortAnswers = 0.95

// manyCached is the percentage of cached prompt tokens above which they are logged.
const manyCached = 10

// Notes returns notes about the source of the metrics, for their reader.
func (f Facts) Notes() (all []records.Note) {
	s := f.Summary
	add := func(n records.Note, format string, args ...any) {
		n.Text = fmt.Sprintf(format, args...)
		all = append(all, n)
	}
	if f.excess != "" {
		add(records.Note{Kind: records.NoteLengths}, "%s", f.excess)
	}
	if text, doubt := f.unknown.describe(s.Requests); text != "" {
		add(records.Note{Kind: records.NoteFinish, Doubt: doubt}, "%s", text)
	}
	if f.start.Found() && !f.Bursts.Found() {
		tells := ". LLMBENCH_DIRECT tells which of the two"
		if f.Compared {
			tells = ""
		}
		add(records.Note{Kind: records.NoteStart}, "%s came together in %d of %d streams, and the later ones one by one: the server or a gateway holds them back for %v or longer (Nagle and delayed acknowledgement?)%s", f.start, f.start.Held, f.start.Streams, f.start.Longer.Round(time.Millisecond), tells)
	}
	if asked, output := s.Metrics[sample.AskedOutputLength], s.Metrics[sample.OutputLength]; output > 0 && output < shortAnswers*asked {
		add(records.Note{Kind: records.NoteLengths, Doubt: true}, "answers are shorter than asked: mean %.4g of %.4g output tokens; metrics depend on the length", output, asked)
	}
	if cached := s.Metrics[sample.CachedShare]; cached > manyCached {
		units := firstTokens(s.Metrics)
		add(records.Note{Kind: records.NoteCache, Doubt: len(units) > 0, Units: units}, "the server took %.3g%% of the prompts' tokens from its cache, which shortens the TTFT: prompts have a common beginning, or were sent before, in this process or without Target.Salt in another", cached)
	}
	stated := s.Sources[sample.FromUsage] + s.Sources[sample.NoOutput]
	switch n := s.Sources[sample.Contradicted]; {
	case n > 0:
		add(records.Note{Kind: records.NoteTokens}, "the figures of output tokens, and the TPOT, are omitted: in %d of %d answers the reported usage cannot be the number of output tokens: it counts single events, or decreases. Set LLMBENCH_TOKENIZER, which counts the tokens of the text, or make the server report the usage of the whole answer at the end", n, s.Outcomes[sample.OK])
	case len(s.Sources) > 1 || stated == 0 && s.Outcomes[sample.OK] > 0:
		add(records.Note{Kind: records.NoteTokens}, "the server did not report all output tokens: %s", tally(s.Sources))
	}
	for _, text := range s.Contradictions {
		add(records.Note{Kind: records.NoteTokens}, "%s", text)
	}
	if text := s.DescribeDeltas(); text != "" {
		if s.DeltaTokens == nil {
			text += f.AskForDeltas
		}
		add(records.Note{Kind: records.NoteTokens}, "%s", text)
	}
	if len(s.Clocks) > 1 {
		add(records.Note{Kind: records.NoteClock}, "not all instants are the kernel's: requests by clock: %s", tally(s.Clocks))
	}
	if f.hidden > 0 {
		add(records.Note{Kind: records.NoteTokens}, "the server counted reasoning tokens that it did not stream in %d of %d requests: these have no TPOT", f.hidden, s.Requests)
	}
	if s.Connected > 0 {
		add(records.Note{Kind: records.NoteConnections}, "%d of %d requests had to open a connection; the time it took is in their latency, and in the records", s.Connected, s.Requests)
	}
	if s.Resent > 0 {
		add(records.Note{Kind: records.NoteConnections}, "the server closed kept connections: %d of %d requests were sent again; the time lost is in their latency", s.Resent, s.Requests)
	}
	return all
}

// firstTokens returns the units among figures that are times to the first delta.
func firstTokens(figures map[string]float64) (units []string) {
	for _, u := range sample.Units {
		if _, known := figures[u.Name]; known && u.Family == sample.FamilyTTFT {
			units = append(units, u.Name)
		}
	}
	return units
}
