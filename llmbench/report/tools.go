package report

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compat"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/pictures"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// toolFigures holds the rows of the table with the values of other tools.
var toolFigures = []struct {
	title    string
	unit     string // the unit of llmbench, or ""
	scale    float64
	decimals int
	of       func(f compat.Figures) compat.Value
}{
	{"completed", "", 1, 0, func(f compat.Figures) compat.Value { return f.Completed }},
	{"failed", "", 1, 0, func(f compat.Figures) compat.Value { return f.Failed }},
	{"req/s", sample.RequestRate, 1, 3, func(f compat.Figures) compat.Value { return f.Requests }},
	{"output tok/s", sample.OutputRate, 1, 2, func(f compat.Figures) compat.Value { return f.Output }},
	{"mean TTFT (ms)", sample.MeanTTFT, 1e-6, 3, func(f compat.Figures) compat.Value { return f.TTFT.Mean }},
	{"p50 TTFT (ms)", sample.P50TTFT, 1e-6, 3, func(f compat.Figures) compat.Value { return f.TTFT.At(50) }},
	{"p99 TTFT (ms)", sample.P99TTFT, 1e-6, 3, func(f compat.Figures) compat.Value { return f.TTFT.At(99) }},
	{"mean TPOT (ms)", sample.MeanTPOT, 1e-6, 3, func(f compat.Figures) compat.Value { return f.TPOT.Mean }},
	{"mean ITL (ms)", sample.MeanITL, 1e-6, 3, func(f compat.Figures) compat.Value { return f.ITL.Mean }},
	{"p99 ITL (ms)", sample.P99ITL, 1e-6, 3, func(f compat.Figures) compat.Value { return f.ITL.At(99) }},
	{"mean latency (ms)", sample.MeanE2E, 1e-6, 3, func(f compat.Figures) compat.Value { return f.E2E.Mean }},
	{"p99 latency (ms)", sample.P99E2E, 1e-6, 3, func(f compat.Figures) compat.Value { return f.E2E.At(99) }},
}

// toolsOf returns what every tool would report for the first pass of the first sample of a row.
func toolsOf(label string, row *results.Row) *toolsTable {
	run := row.Runs[0]
	t := &toolsTable{ID: pictures.Slug("tools", label), Title: label + ": one run, every tool's numbers"}
	t.Caption = "What each tool would have printed if it had read the same bytes at the same instants. ? means that the records do not determine the figure, ≤ and ≥ that they bound it, and - that the tool does not print it."
	pass := compat.Of(run, 0)
	if run.Passes() > 1 {
		t.Caption += fmt.Sprintf(" It is the first of %d passes.", run.Passes())
	}
	t.Caption += doubtOf(row)
	// The results of tools keep their input in memory. So only the values are kept here.
	values := make([][]compat.Value, len(compat.Tools))
	var wg sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, tool := range compat.Tools {
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			f := tool.Figures(pass)
			for _, row := range toolFigures {
				values[i] = append(values[i], row.of(f))
			}
		})
	}
	wg.Wait()
	t.Table.Head = []string{"", "llmbench"}
	t.Why.Head = []string{"tool", "why figures are unknown"}
	for i, tool := range compat.Tools {
		t.Table.Head = append(t.Table.Head, tool.Title)
		if why := unknown(values[i]); why != "" {
			t.Why.Add(pictures.Texts(tool.Title, why)...)
		}
	}
	own := run.PassFigures(0)
	for j, row := range toolFigures {
		cells := []string{row.title}
		switch v, has := own.Metrics[row.unit]; {
		case row.title == "completed":
			cells = append(cells, fmt.Sprint(own.Requests-own.Failed()))
		case row.title == "failed":
			cells = append(cells, fmt.Sprint(own.Failed()))
		case slices.Contains(run.Withheld(), row.unit):
			cells = append(cells, "withheld")
		case has:
			cells = append(cells, compat.Value{V: v * row.scale}.Text(row.decimals))
		default:
			cells = append(cells, "-")
		}
		for i := range compat.Tools {
			v := values[i][j]
			v.V *= row.scale
			cells = append(cells, v.Text(row.decimals))
		}
		t.Table.Add(pictures.Texts(cells...)...)
	}
	return t
}

// differences returns a table of the reasons why tools print different numbers for the same run.
func differences() *toolsTable {
	t := &toolsTable{ID: "tools", Title: "Why tools differ", Caption: "Each tool prints other numbers for the same run, because definitions differ."}
	t.Table.Head = []string{"tool", "why it differs"}
	for _, tool := range compat.Tools {
		t.Table.Add(pictures.Texts(tool.Title, tool.Differs)...)
	}
	return t
}

// unknown returns which values of a tool are unknown, in the order of the table. Each reason occurs
// once.
func unknown(values []compat.Value) string {
	var reasons []string
	figures := map[string][]string{}
	for i, v := range values {
		if v.Bound != compat.CannotTell {
			continue
		}
		if figures[v.Why] == nil {
			reasons = append(reasons, v.Why)
		}
		figures[v.Why] = append(figures[v.Why], toolFigures[i].title)
	}
	for i, why := range reasons {
		reasons[i] = strings.Join(figures[why], ", ") + ": " + why
	}
	return strings.Join(reasons, "; ")
}
