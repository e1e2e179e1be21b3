package process

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultline"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// edit arranges that the lines of a benchmark's results are edited. If the testing package does not support
// this, the metadata of all units is printed at the end of the process.
func (p *process) edit(tb testing.TB) {
	p.mu.Lock()
	defer p.mu.Unlock()
	root, _, _ := strings.Cut(tb.Name(), "/")
	p.watched[root] = true
	if b, ok := tb.(*testing.B); ok && p.preamble.Out != nil && !p.attach(b, p.editLine, p.tellFailure, p.out.lose) {
		p.unedited = true
	}
}

// editLine sorts the metrics of a result into the order of the units. Metrics of the testing package itself
// keep their places at the beginning, and metrics of unknown units come last. It removes metrics that are
// not finite. It returns what must be printed before the line: the metadata of units that no earlier line
// had, and a comment about each removed metric. A line without metrics is not printed, nor is any line of a
// shard other than shard 0.
func (p *process) editLine(l *resultline.Line) (before string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.Drop = p.follows(); l.Drop {
		return ""
	}
	l.Figures = slices.DeleteFunc(l.Figures, func(f resultline.Figure) bool {
		if finite(f.Value) {
			return false
		}
		before += fmt.Sprintf("# %s: %s is left out: it is %v: want a finite number\n", l.Name, f.Unit, f.Value)
		return true
	})
	l.Drop = len(l.Figures) == 0
	rank := map[string]int{"ns/op": -1, "MB/s": -1}
	units := p.units()
	for i, u := range units {
		rank[u.Name] = i
	}
	place := func(f resultline.Figure) int {
		if at, known := rank[f.Unit]; known {
			return at
		}
		return len(units)
	}
	slices.SortStableFunc(l.Figures, func(a, b resultline.Figure) int { return cmp.Compare(place(a), place(b)) })
	p.table.Results++
	for _, f := range l.Figures {
		// A unit that only tells results apart is of no interest to people.
		if !slices.ContainsFunc(sample.Units, func(u sample.Unit) bool { return u.Name == f.Unit || u.Apart == f.Unit }) {
			p.table.AddFigure(withoutCPUs(l.Name), f.Unit, f.Value)
		}
		if at, known := rank[f.Unit]; known && at >= 0 {
			before += p.preamble.Describe(units[at])
		}
	}
	return before
}

// tellFailure tells the table why a benchmark failed, given the benchmark's log.
func (p *process) tellFailure(name, log string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.table.Failed(withoutCPUs(name), reasonOf(log))
}

// maxReason is the largest number of characters of a reason that is shown.
const maxReason = 240

// reasonOf returns the last text of a benchmark's log that is not a note of the harness, or "" if there is none: a
// benchmark ends with the error for which it fails, and may have logged its progress before. Only the first line of the
// text is returned, and no more than maxReason characters.
func reasonOf(log string) (reason string) {
	for line := range strings.Lines(log) {
		text, indented := strings.CutPrefix(line, "    ")
		if _, isNote := records.ParseNote(said(text)); !indented || strings.HasPrefix(text, "    ") || isNote || said(text) == "" {
			continue
		}
		reason = said(text)
	}
	if runes := []rune(reason); len(runes) > maxReason {
		return string(runes[:maxReason]) + "…"
	}
	return reason
}

// said returns the text of a line of a log, without the place in the source that logged it.
func said(line string) string {
	if place, text, found := strings.Cut(line, ": "); found && strings.Contains(place, ".go:") {
		line = text
	}
	return strings.TrimSpace(line)
}

// withoutCPUs returns the name of a benchmark as testing.B.Name returns it, given the name in a line of
// results.
func withoutCPUs(name string) string {
	if n := runtime.GOMAXPROCS(0); n != 1 {
		name = strings.TrimSuffix(name, fmt.Sprintf("-%d", n))
	}
	return name
}

// WarnWithoutMain logs once that the results lack what Main prints, if Main was not called.
func WarnWithoutMain(b *testing.B) {
	b.Helper()
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hasMain || p.warned {
		return
	}
	p.warned = true
	b.Log("TestMain does not call llmbench.Main: the results lack the metadata of units and the configuration of targets, and failures of later -count samples are forgotten")
}

// finite reports whether v may be in a line of results. Benchstat uses up all memory if a value is
// infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
