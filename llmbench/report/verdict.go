package report

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// verdict draws the comparison of package gate: for each row, the 95 % confidence intervals of
// both medians as shares of the old median, and the margin.
func verdict(r *gate.Report) (*Picture, error) {
	p := &Picture{ID: "verdict", Title: "Old against new: " + string(r.Verdict)}
	p.Table.Head = []string{"benchmark", "unit", "old", "new", "change", "margin", "p worse", "n", "verdict"}
	plt := newPlot("", "change (%)", "")
	var lanes []lane
	type mark struct{ x, y float64 }
	var margins, news []mark
	left := 0
	for _, row := range r.Rows {
		p.Table.add(row.Name, row.Unit, interval(row.Old), interval(row.New), share(row.Change), share(row.Margin), number(row.PAdjusted),
			fmt.Sprintf("%d+%d", row.Old.N, row.New.N), string(row.Verdict))
		if row.Margin == nil || row.Old.Median == nil || row.New.Median == nil || *row.Old.Median == 0 {
			continue
		}
		if len(news) == 40 {
			left++
			continue
		}
		percent := func(v *float64, fallback float64) float64 {
			if v == nil {
				v = &fallback
			}
			return 100 * (*v / *row.Old.Median - 1)
		}
		y := float64(len(news))
		lanes = append(lanes,
			lane{label: row.Unit + " " + short(row.Name), from: percent(row.Old.Low, *row.Old.Median), to: percent(row.Old.High, *row.Old.Median), color: 0, shift: -0.15},
			lane{from: percent(row.New.Low, *row.New.Median), to: percent(row.New.High, *row.New.Median), color: 1, shift: 0.15, same: true})
		news = append(news, mark{percent(row.New.Median, 0), y + 0.15})
		worse := 100 * *row.Margin
		if row.Better == "higher" {
			worse = -worse
		}
		margins = append(margins, mark{worse, y})
	}
	p.Caption = fmt.Sprintf("%s against %s: %s. Medians with their 95 %% intervals, as shares of the old median.", r.New, r.Old, r.Verdict)
	for _, problem := range r.Problems {
		p.Caption += " Cannot judge: " + problem.Name + " " + problem.Message + "."
	}
	if len(lanes) == 0 {
		p.Caption += " No gated row has both medians, so there is nothing to draw."
		lanes = []lane{{label: "nothing to draw"}}
	}
	if left > 0 {
		p.Caption += fmt.Sprintf(" The picture has the first 40 gated rows, and lacks %d.", left)
	}
	if err := laned(plt, lanes); err != nil {
		return nil, err
	}
	for _, m := range news {
		if err := ring(plt, m.x, m.y, ink, draw.CircleGlyph{}, 2); err != nil {
			return nil, err
		}
	}
	for _, m := range margins {
		l := line{look: look{color: ink, dashes: dashes[2]}, bare: true, xs: []float64{m.x, m.x}, ys: []float64{m.y - 0.4, m.y + 0.4}}
		if err := l.draw(plt); err != nil {
			return nil, err
		}
	}
	plt.Y.Max = max(plt.Y.Max, float64(len(news))-0.3)
	p.legend = []line{{name: "old", look: look{color: colors[0]}, bare: true}, {name: "new", look: look{color: colors[1]}, bare: true},
		{name: "as much worse as is allowed", look: look{color: ink, dashes: dashes[2]}, bare: true}}
	p.plots, p.height = [][]*plot.Plot{{plt}}, vg.Length(60+22*max(1, len(news)))
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
