package answer

import (
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// overLoad says at which load one system saturates, and up to which load it meets the SLO.
func overLoad(s *systems.System, slo systems.SLO) (says []string) {
	name := ""
	if s.Name != "" {
		name = s.Name + ": "
	}
	if said := compare.Limit(s.Load, measurements([]*systems.System{s}, columns.Throughput, slo), slo.Share); said != "" {
		says = append(says, said+".")
	}
	peak := s.Peak()
	if peak == nil {
		return says
	}
	said := fmt.Sprintf("the throughput is greatest at %s, %s%s", at(peak), figure(peak, columns.Throughput...), mistrust(peak))
	if name == "" {
		said = "T" + said[1:]
	}
	knee, err := s.Knee()
	switch {
	case err == nil && knee != peak:
		said += fmt.Sprintf(". The knee, the greatest throughput / latency, is at %s: %s%s%s. More load than that adds more waiting than throughput",
			at(knee), figure(knee, columns.Throughput...), with(knee), mistrust(knee))
	case err == nil:
		said += fmt.Sprintf(", which is the knee, the greatest throughput / latency%s", with(knee))
	case hasRoom(s, peak):
		said += ". That is the highest load: the server may carry more"
	}
	return append(says, name+said+".")
}

// with returns what users see at the load of a row: their token rate and their latencies.
func with(r *results.Row) (text string) {
	for _, c := range columns.Users {
		if of := figure(r, c.Units...); of != "" {
			text += ", " + c.Title + " " + of
		}
	}
	return text
}

// mistrust returns a remark on the throughput of a row if requests failed or were shed, or if the throughput
// is in doubt. Otherwise it returns "".
func mistrust(r *results.Row) (text string) {
	for _, lost := range []struct{ unit, what string }{{sample.FailShare, "failed"}, {sample.ShedShare, "were shed"}} {
		if v, has := r.Spread(lost.unit); has != "" && v.Mid > 0 {
			text += fmt.Sprintf(" (%s of the requests %s)", figure(r, lost.unit), lost.what)
		}
	}
	if _, unit := r.Spread(columns.Throughput...); r.Doubt(unit) != "" {
		text += " (in doubt, see the warnings)"
	}
	return text
}

// single says what was measured in a group without a range of loads.
func single(g *systems.Group) (says []string) {
	rows := g.Rows
	for i, label := range systems.Labels(rows) {
		if i == maxNamed {
			return append(says, fmt.Sprintf("%d further results are in the table.", len(rows)-i))
		}
		var said, shown []string // the figures and their units
		add := func(name string, units ...string) {
			if v, unit := rows[i].Spread(units...); unit != "" {
				said, shown = append(said, strings.TrimSpace(name+" "+human.Text(unit, v.Mid))), append(shown, unit)
			}
		}
		for _, c := range columns.Sentence {
			add(c.Title, c.Units...)
		}
		if len(said) == 0 { // a benchmark of the reader's own, with other units
			for _, unit := range rows[i].Units[:min(3, len(rows[i].Units))] {
				add("", unit)
			}
		}
		text := strings.Join(said, ", ")
		if label != "" {
			text = label + ": " + text
		}
		if len(shown) > 0 && rows[i].Doubt(shown...) != "" {
			text += " (in doubt, see the warnings)"
		}
		says = append(says, text+".")
	}
	return says
}
