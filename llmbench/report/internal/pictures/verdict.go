package pictures

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/answer"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
)

// Verdict draws the comparison of package gate. For each gated row it shows the margin and the 95 %
// confidence intervals of both medians, as shares of the old median.
func Verdict(r *gate.Report) *Picture {
	p := &Picture{ID: "verdict", Title: "Old against new: " + string(r.Verdict)}
	p.Table.Head = []string{"benchmark and unit", "verdict", "change", "margin", "old", "new", "p worse", "n"}
	old := &chart.Series{Name: "old", Kind: chart.Bars, Look: chart.LookOf(0)}
	now := &chart.Series{Name: "new", Kind: chart.Bars, Look: chart.LookOf(1)}
	allowed := &chart.Series{Name: "as much worse as is allowed", Kind: chart.Limits, Look: chart.Look{Color: chart.Ink, Dash: chart.Dotted}, Bare: true}
	plane := &chart.Panel{Y: chart.Axis{Label: "change", Unit: "%"}, Beside: true, Series: []*chart.Series{old, now, allowed}}
	left := 0
	labels := answer.VerdictLabels(r)
	for _, i := range answer.VerdictOrder(r) {
		row, label := r.Rows[i], labels[i]
		p.Table.Add(Cell{Text: label}, Cell{Text: string(row.Verdict)}, change(&row), Cell{Text: row.Gate}, interval(row.Unit, row.Old), interval(row.Unit, row.New), chance(row.PAdjusted),
			Cell{Text: fmt.Sprintf("%d+%d", row.Old.N, row.New.N)})
		if row.Margin == nil || row.Old.Median == nil || row.New.Median == nil || *row.Old.Median <= 0 {
			continue
		}
		if len(plane.Lanes) == maxBars {
			left++
			continue
		}
		lane := len(plane.Lanes)
		plane.Lanes = append(plane.Lanes, label)
		of := func(s gate.Summary) chart.Point {
			percent := func(v *float64) float64 {
				if v == nil {
					v = s.Median
				}
				return 100 * (*v / *row.Old.Median - 1)
			}
			low, mid, high := percent(s.Low), percent(s.Median), percent(s.High)
			return chart.Point{X: float64(lane), Value: mid, Low: min(low, mid, high), High: max(low, mid, high), Text: human.Text(row.Unit, *s.Median)}
		}
		old.Points, now.Points = append(old.Points, of(row.Old)), append(now.Points, of(row.New))
		worse := 100 * *row.Margin
		if row.Amounts {
			worse /= *row.Old.Median
		}
		if row.Better == "higher" {
			worse = -worse
		}
		allowed.Points = append(allowed.Points, chart.At(float64(lane), worse))
	}
	if len(plane.Lanes) > 0 {
		p.panels = []*chart.Panel{plane}
	}
	p.Caption = fmt.Sprintf("%s against %s: %s. Medians with their 95 %% intervals, as shares of the old median.", r.New, r.Old, r.Verdict)
	if len(plane.Lanes) == 0 {
		p.Caption += " No gated row has both medians, so there is nothing to draw."
	}
	if left > 0 {
		p.Caption += fmt.Sprintf(" The picture has the first %d gated rows, and lacks %d.", maxBars, left)
	}
	return p
}

func interval(unit string, s gate.Summary) Cell {
	if s.Median == nil {
		return Cell{}
	}
	scale := human.ScaleOf(unit, *s.Median)
	c := Number(scale, unit, *s.Median)
	if s.Low != nil && s.High != nil {
		c.Text += fmt.Sprintf(" [%s, %s]", scale.Number(*s.Low), scale.Number(*s.High))
		c.Exact = fmt.Sprintf("%s [%s, %s] %s", Exactly(*s.Median), Exactly(*s.Low), Exactly(*s.High), unit)
	}
	return c.withUnit(scale)
}

func change(row *gate.Row) Cell {
	switch {
	case row.Change == nil:
		return Cell{}
	case row.Amounts:
		return Cell{Text: row.ChangeText(), Exact: Exactly(*row.Change) + " " + row.Unit}
	}
	return Cell{Text: row.ChangeText(), Exact: Exactly(100**row.Change) + " %"}
}

func chance(v *float64) Cell {
	if v == nil {
		return Cell{}
	}
	return Cell{Text: fmt.Sprintf("%.3f", *v), Exact: Exactly(*v)}
}
