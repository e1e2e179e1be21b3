package report

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
)

// verdict draws the comparison of package gate: for each row, the 95 % confidence intervals of
// both medians as shares of the old median, and the margin.
func verdict(r *gate.Report) (*Picture, error) {
	p := &Picture{ID: "verdict", Title: "Old against new: " + string(r.Verdict)}
	p.Table.Head = []string{"benchmark", "unit", "old", "new", "change", "margin", "p worse", "n", "verdict"}
	olds := &chart.Series{Name: "old", Kind: chart.Bars, Look: chart.LookOf(0)}
	news := &chart.Series{Name: "new", Kind: chart.Bars, Look: chart.LookOf(1)}
	margins := &chart.Series{Name: "as much worse as is allowed", Kind: chart.Limits, Look: chart.Look{Color: chart.Ink, Dash: chart.Dotted}}
	plane := &chart.Panel{Y: chart.Axis{Label: "change", Unit: "%"}, Beside: true, Series: []*chart.Series{olds, news, margins}}
	left := 0
	for _, row := range r.Rows {
		p.Table.add(row.Name, row.Unit, interval(row.Old), interval(row.New), share(row.Change), share(row.Margin), number(row.PAdjusted),
			fmt.Sprintf("%d+%d", row.Old.N, row.New.N), string(row.Verdict))
		if row.Margin == nil || row.Old.Median == nil || row.New.Median == nil || *row.Old.Median == 0 {
			continue
		}
		if len(plane.Lanes) == maxLanes {
			left++
			continue
		}
		percent := func(v *float64, fallback float64) float64 {
			if v == nil {
				v = &fallback
			}
			return 100 * (*v / *row.Old.Median - 1)
		}
		interval := func(s gate.Summary) chart.Point {
			return chart.Point{X: float64(len(plane.Lanes)), Value: percent(s.Median, 0), Low: percent(s.Low, *s.Median), High: percent(s.High, *s.Median)}
		}
		olds.Points = append(olds.Points, interval(row.Old))
		news.Points = append(news.Points, interval(row.New))
		worse := 100 * *row.Margin
		if row.Better == "higher" {
			worse = -worse
		}
		margins.Points = append(margins.Points, chart.At(float64(len(plane.Lanes)), worse))
		plane.Lanes = append(plane.Lanes, row.Unit+" "+short(row.Name))
	}
	p.Caption = fmt.Sprintf("%s against %s: %s. Medians with their 95 %% intervals, as shares of the old median.", r.New, r.Old, r.Verdict)
	for _, problem := range r.Problems {
		p.Caption += " Cannot judge: " + problem.Name + " " + problem.Message + "."
	}
	if len(plane.Lanes) == 0 {
		p.Caption += " No gated row has both medians, so there is nothing to draw."
	}
	if left > 0 {
		p.Caption += fmt.Sprintf(" The picture has the first %d gated rows, and lacks %d.", maxLanes, left)
	}
	p.panels = []*chart.Panel{plane}
	return p, nil
}

// short returns the part of a name that fits into a label: the load.
func short(name string) string {
	row := newRow(benchfile.ParseName(name))
	text := row.Base
	if load, x, ok := row.load(); ok {
		text += " " + load + "=" + exactly(x)
	}
	return text
}

func interval(s gate.Summary) string {
	switch {
	case s.Median == nil:
		return ""
	case s.Low == nil || s.High == nil:
		return exactly(*s.Median)
	}
	return fmt.Sprintf("%s [%s, %s]", exactly(*s.Median), exactly(*s.Low), exactly(*s.High))
}

func share(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%+.2f%%", 100**v)
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.3f", *v)
}
