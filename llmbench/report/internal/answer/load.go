package answer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// overLoad says at which load one system saturates, and up to which load it meets the SLO.
func overLoad(s *systems.System, slo systems.SLO) (says []string) {
	name := ""
	if s.Name != "" {
		name = s.Name + ": "
	}
	if c := s.Carries(slo); c != nil {
		said := name + carries(c, slo)
		says = append(says, capital(said))
		name = ""
	}
	peak := s.Peak()
	if peak == nil {
		return says
	}
	said := fmt.Sprintf("the throughput is greatest at %s, %s%s", at(peak), figure(peak, systems.Throughput...), mistrust(peak))
	if name == "" {
		said = "T" + said[1:]
	}
	knee, err := s.Knee()
	last := s.Rows[len(s.Rows)-1]
	switch {
	case err == nil && knee != peak:
		said += fmt.Sprintf(". The knee, the greatest throughput / latency, is at %s: %s%s%s. More load than that adds more waiting than throughput",
			at(knee), figure(knee, systems.Throughput...), with(knee), mistrust(knee))
	case err == nil:
		said += fmt.Sprintf(", which is the knee, the greatest throughput / latency%s", with(knee))
	case peak == last:
		said += ". That is the highest load: the server may carry more"
	}
	return append(says, name+said+".")
}

// with returns what users see at the load of a row: their token rate and their latencies.
func with(r *results.Row) (text string) {
	for _, f := range []struct{ name, text string }{
		{"for each user", figure(r, "user-tok/s")},
		{"TTFT", figure(r, "p50-ttft-ns", "mean-ttft-ns")},
		{"time per token", figure(r, "mean-tpot-ns")},
		{"latency", figure(r, "p50-e2e-ns", "mean-e2e-ns")},
	} {
		if f.text != "" {
			text += ", " + f.name + " " + f.text
		}
	}
	return text
}

// mistrust returns a remark on the throughput of a row if requests failed or the throughput is in
// doubt. Otherwise it returns "".
func mistrust(r *results.Row) (text string) {
	if v, has := r.Spread("fail-%"); has != "" && v.Mid > 0 {
		text = fmt.Sprintf(" (%s of the requests failed)", figure(r, "fail-%"))
	}
	if _, unit := r.Spread(systems.Throughput...); r.Doubt(unit) != "" {
		text += " (in doubt, see the warnings)"
	}
	return text
}

// carries says up to which load a system meets the SLO.
func carries(c *systems.Carried, slo systems.SLO) string {
	kept, missed := "", ""
	if c.Met != nil {
		kept = fmt.Sprintf("%s (%s%s)", at(c.Met), percent(c.Shares[c.Met]), goodput(c.Met))
	}
	if c.Missed != nil {
		missed = fmt.Sprintf("%s (%s)", at(c.Missed), percent(c.Shares[c.Missed]))
	}
	switch {
	case kept == "":
		return fmt.Sprintf("no load keeps %s: the lowest is %s.", slo, missed)
	case missed == "":
		return fmt.Sprintf("%s is kept by every load up to the highest, %s.", slo, kept)
	}
	return fmt.Sprintf("%s is kept up to %s, and missed at %s.", slo, kept, missed)
}

func goodput(r *results.Row) string {
	if f := figure(r, "req/s"); f != "" {
		return " of " + f
	}
	return ""
}

// ranked returns the highest load at which each system meets the SLO, the best system first. It
// also reports whether any load missed the SLO. If none did, the systems cannot be ranked.
func ranked(all []*systems.System, slo systems.SLO) (says []string, missed bool) {
	type entry struct {
		name string
		load float64
		text string
	}
	var entries []entry
	for _, s := range all {
		c := s.Carries(slo)
		missed = missed || c != nil && c.Missed != nil
		switch {
		case c == nil:
		case c.Met == nil:
			entries = append(entries, entry{s.Name, 0, "none that was measured"})
		default:
			_, load := c.Met.Load()
			text := at(c.Met)
			if c.Missed == nil {
				text += " or more"
			}
			entries = append(entries, entry{s.Name, load, text})
		}
	}
	if len(entries) == 0 {
		return nil, false
	}
	if !missed {
		return []string{fmt.Sprintf("Every load keeps %s: higher loads would tell which system carries more.", slo)}, false
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(b.load, a.load) })
	said := fmt.Sprintf("Within %s, %s carries the most load: %s", slo, entries[0].name, entries[0].text)
	switch {
	case entries[0].load == 0:
		said = fmt.Sprintf("No load that was measured keeps %s", slo)
	case len(entries) > 1 && entries[1].load == entries[0].load:
		said = fmt.Sprintf("Within %s, several systems carry the most load: %s %s", slo, entries[0].name, entries[0].text)
	}
	for _, e := range entries[1:] {
		if entries[0].load > 0 {
			said += "; " + e.name + " " + e.text
		}
	}
	return []string{said + "."}, true
}

// single says what was measured in a group without a range of loads.
func single(g *systems.Group) (says []string) {
	rows := g.Rows
	for i, label := range systems.Labels(rows) {
		if i == maxNamed {
			return append(says, fmt.Sprintf("%d further results are in the table.", len(rows)-i))
		}
		text := ""
		var shown []string
		for _, f := range []struct {
			name  string
			units []string
		}{
			{"", []string{"output-tok/s", "tok/s"}}, {"", []string{"req/s"}}, {"TTFT", []string{"p50-ttft-ns", "mean-ttft-ns"}}, {"TTFT p99", []string{"p99-ttft-ns"}},
			{"time per token", []string{"mean-tpot-ns"}}, {"latency", []string{"p50-e2e-ns", "mean-e2e-ns"}}, {"failed", []string{"fail-%"}},
			{"SLO kept up to", []string{"slo-req/s"}}, {"SLO kept up to a concurrency of", []string{"slo-concurrency"}}, {"knee at a concurrency of", []string{"knee-concurrency"}},
		} {
			v := figure(rows[i], f.units...)
			if v == "" {
				continue
			}
			_, unit := rows[i].Spread(f.units...)
			shown = append(shown, unit)
			if text != "" {
				text += ", "
			}
			if f.name != "" {
				text += f.name + " "
			}
			text += v
		}
		if text == "" { // a benchmark of the reader's own, with other units
			for _, unit := range rows[i].Units[:min(3, len(rows[i].Units))] {
				if text != "" {
					text += ", "
				}
				text += figure(rows[i], unit)
				shown = append(shown, unit)
			}
		}
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
