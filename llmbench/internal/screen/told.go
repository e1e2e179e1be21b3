package screen

import (
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// leastTold is the smallest weight of the columns that Line has.
const leastTold = 8

// Line describes a sample in one line: "Serve concurrency=8: 3760 tok/s, TTFT p50 21.1 ms, TPOT 1.50 ms, E2E p50 67.6 ms".
// If the benchmark failed, the line says why.
func (e Entry) Line() string {
	var parts []string
	for _, c := range columns.Terminal {
		unit := c.Units[0]
		v, has := e.Figures[unit]
		_, with := e.Figures[c.With]
		_, without := e.Figures[c.Without]
		if !has || c.Truth || c.Weight < leastTold || c.With != "" && !with || without {
			continue
		}
		name, share := strings.CutSuffix(c.Title, " %")
		switch {
		case share:
			parts = append(parts, name+" "+number(v)+" %")
		case strings.HasSuffix(name, "/s"):
			parts = append(parts, number(v)+" "+name)
		default:
			parts = append(parts, name+" "+value(unit, v))
		}
	}
	if len(e.Withheld) > 0 {
		var names []string
		for _, w := range e.Withheld {
			names = append(names, strings.TrimSuffix(w.Unit, "-ns"))
		}
		parts = append(parts, "withheld: "+strings.Join(names, " "))
	}
	for _, note := range e.Notes {
		if strings.HasPrefix(note, "failed: ") || strings.HasPrefix(note, Undecided) {
			first, _, _ := strings.Cut(note, "\n")
			parts = append(parts, first)
		}
	}
	return redact.Line(Short(e.Benchmark) + ": " + strings.Join(parts, ", "))
}

// Short returns the two ends of the name of a benchmark, and what between them tells the rows of one scenario apart: "Serve
// concurrency=8", "GatewayOverhead stream=false via=gateway concurrency=1".
func Short(benchmark string) string {
	parts := strings.Split(strings.TrimPrefix(benchmark, "Benchmark"), "/")
	last := len(parts) - 1
	name := parts[0]
	for i, part := range parts[1:] {
		key, _, _ := strings.Cut(part, "=")
		if i+1 == last || key == "via" || key == "batch" || part == "stream=false" {
			name += " " + part
		}
	}
	return name
}
