package answer

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// maxAgainst is the largest number of systems in a tile.
const maxAgainst = 3

// loadNoun returns what the loads of a system are counted in, for a label.
func loadNoun(key string) string {
	switch {
	case compare.Open(key):
		return "Requests a second"
	case key == "streams":
		return "Streams"
	}
	return "Users"
}

// against returns the tiles of a comparison of systems.
func against(g *systems.Group, all []*systems.System, by []string, short compare.Short, slo systems.SLO) (tiles []Tile) {
	all = all[:min(len(all), maxAgainst)]
	best := all[0]
	level, _, _ := systems.Leading(best, all[1], by, nil)
	label := map[compare.Sure]string{compare.Preliminary: "Ahead so far", compare.Chance: "Ahead, perhaps by chance"}[short.Sure]
	if label == "" {
		label = map[bool]string{true: "Fastest", false: "Faster"}[len(g.Systems) > 2]
	}
	switch {
	case short.Sure == compare.Doubtful:
		tiles = append(tiles, tile(label, "Cannot tell", "the figures are in doubt"))
	case short.Winner == "":
		tiles = append(tiles, tile(label, map[bool]string{true: "Neither", false: "It depends"}[short.Where == aboutEqual], short.Where))
	default:
		winner, other := best, all[1]
		if short.Winner != best.Name {
			winner, other = other, winner
		}
		// The ratio is that of a load at which the winner is ahead.
		x, y, unit := systems.Leading(winner, other, by, func(a, b float64) bool {
			if compare.Open(winner.Load) {
				a, b = b, a
			}
			return b > 0 && a > compare.Equal*b
		})
		if x == nil {
			break
		}
		of := compare.RatioOf(x.Values[unit], y.Values[unit])
		if compare.Open(winner.Load) {
			of = compare.RatioOf(y.Values[unit], x.Values[unit])
		}
		text := fmt.Sprintf("%.2f times", of.Mid)
		detail := ""
		if len(x.Values[unit])+len(y.Values[unit]) > 2 && !math.IsInf(of.High, 1) {
			detail = fmt.Sprintf("%.2f to %.2f ", of.Low, of.High)
			if of.Confident {
				detail += "with 95 % confidence, "
			} else {
				detail += "in all pairs of runs, "
			}
		}
		detail += "against " + other.Name
		if load, _ := x.Load(); load != "" {
			detail += ", at " + at(x)
		}
		tiles = append(tiles, Tile{label, []Value{{text, winner.Name, g.Place(winner), true}}, detail})
	}
	if t := unanswered(g, all); t != nil {
		tiles = append(tiles, *t)
	}
	carried, within := users(g, all, slo)
	if carried != nil {
		tiles = append(tiles, *carried)
	}
	// The first token is compared at a load that all keep, or else at the load of the ratio.
	if carried != nil {
		first := true
		for _, s := range all {
			if r := within[s]; r != nil && (first || value(r) < value(level)) {
				level, first = r, false
			}
		}
	}
	if t := valuesAt(g, all, "First token", "not measured", columns.FirstToken, func(s *systems.System) *results.Row { return same(s, level) }); t != nil {
		t.Detail = join("median", level)
		tiles = append(tiles, *t)
	}
	priced := func(s *systems.System) *results.Row {
		if carried != nil {
			return within[s]
		}
		return same(s, level)
	}
	if t := valuesAt(g, all, million, "no price", []string{sample.TokenPrice}, priced); t != nil {
		if t.Detail = join("", level); carried != nil {
			t.Detail = "each at the most that it carries within the SLO"
			for i, s := range all {
				if c := s.Carries(slo); c != nil && c.Met == nil {
					t.Values[i].Text = "no such load"
				} else if c == nil {
					t.Values[i].Text = "unknown"
				}
			}
		}
		tiles = append(tiles, *t)
	}
	return append(tiles, tile("How sure", human.Capital(string(short.Sure)), short.Why))
}

// aboutEqual is the text of compare.Short for systems that are equal.
const aboutEqual = "about equal"

// million is the label of prices.
const million = "A million output tokens"

// join adds the load of a row to a text.
func join(text string, r *results.Row) string {
	if load, _ := r.Load(); load != "" {
		text = strings.TrimPrefix(text+", at "+at(r), ", ")
	}
	return text
}

// same returns the row of a system at the load of another row, or nil.
func same(s *systems.System, at *results.Row) *results.Row {
	key, x := at.Load()
	for _, r := range s.Rows {
		if load, v := r.Load(); load == key && v == x {
			return r
		}
	}
	return nil
}

// unanswered returns the tile of the systems that did not answer more than a percent of the requests at a load, or nil.
func unanswered(g *systems.Group, all []*systems.System) *Tile {
	t := &Tile{Label: "Unanswered", Detail: "of the requests at one load"}
	for _, s := range all {
		most := 0.0
		for _, r := range s.Rows {
			most = max(most, systems.Lost(r))
		}
		if most >= 0.01 {
			t.Values = append(t.Values, Value{Text: fmt.Sprintf("%.0f %%", 100*most), Name: s.Name, System: g.Place(s)})
		}
	}
	if len(t.Values) == 0 {
		return nil
	}
	return t
}

// users returns the tile of the loads that systems carry within the SLO, and the rows of these loads. It is nil if that is
// known of no system.
func users(g *systems.Group, all []*systems.System, slo systems.SLO) (*Tile, map[*systems.System]*results.Row) {
	t := &Tile{Label: loadNoun(all[0].Load) + " within the SLO", Detail: slo.Limits.String()}
	within := map[*systems.System]*results.Row{}
	known, most := false, 0.0
	for _, s := range all {
		v := Value{System: g.Place(s), Text: "unknown"}
		if len(all) > 1 {
			v.Name = s.Name
		}
		if c := s.Carries(slo); c != nil {
			known = true
			switch within[s] = c.Met; {
			case c.Met == nil:
				v.Text = "none"
			case c.Missed == nil:
				v.Text = "≥ " + human.Scale{Factor: 1}.Number(value(c.Met))
			default:
				v.Text = human.Scale{Factor: 1}.Number(value(c.Met))
			}
			if c.Met != nil {
				most = max(most, value(c.Met))
			}
		}
		t.Values = append(t.Values, v)
	}
	if !known || all[0].Load == "" {
		return nil, nil
	}
	if t.Detail == "" {
		t.Detail = "the limits of good-req/s"
	}
	for i, s := range all {
		t.Values[i].Best = len(all) > 1 && within[s] != nil && value(within[s]) == most && !equalText(t.Values)
	}
	return t, within
}

// equalText reports whether all values have the same text.
func equalText(all []Value) bool {
	for _, v := range all {
		if v.Text != all[0].Text {
			return false
		}
	}
	return true
}

// valuesAt returns a tile of a figure of each system, of which less is better. A system without the figure has the text
// missing. The tile is nil if no system has the figure.
func valuesAt(g *systems.Group, all []*systems.System, label, missing string, units []string, of func(*systems.System) *results.Row) *Tile {
	t := &Tile{Label: label}
	least, next, best, shown := math.Inf(1), math.Inf(1), -1, false
	for i, s := range all {
		v := Value{System: g.Place(s), Text: missing}
		if len(all) > 1 {
			v.Name = s.Name
		}
		if r := of(s); r != nil {
			if text := said(r, units...); text != "" {
				v.Text, shown = text, true
			}
			if mid, _, known := sound(r, units...); known && mid < least {
				least, next, best = mid, least, i
			} else if known {
				next = min(next, mid)
			}
		}
		t.Values = append(t.Values, v)
	}
	if !shown {
		return nil
	}
	if !math.IsInf(next, 1) && least*compare.Equal < next {
		t.Values[best].Best = true
	}
	return t
}

// ofOne returns the tiles of one system at the load of a row: the most that it should carry.
func ofOne(s *systems.System, r *results.Row, slo systems.SLO) (tiles []Tile) {
	peak := s.Peak()
	if peak != nil && len(s.Rows) > 1 {
		if text := said(peak, columns.Throughput...); text != "" {
			detail := join("", peak)
			if peak == s.Rows[len(s.Rows)-1] {
				detail += ", the most that was measured"
			}
			tiles = append(tiles, tile("Greatest throughput", text, detail))
		}
	} else if text := said(r, columns.Throughput...); text != "" {
		tiles = append(tiles, tile("Throughput", text, join("", r)))
	}
	g := &systems.Group{Systems: []*systems.System{s}}
	if t, _ := users(g, g.Systems, slo); t != nil {
		t.Values[0].System = -1
		tiles = append(tiles, *t)
	}
	if speed, doubt, known := systems.UserSpeed(r); known && !doubt {
		tiles = append(tiles, tile("Speed for one user", human.Text(sample.UserRate, speed), join("after the first token", r)))
	} else if doubt {
		tiles = append(tiles, tile("Speed for one user", withheld, "see the warnings"))
	}
	if text := said(r, columns.FirstToken...); text != "" {
		detail := join("median", r)
		if p99 := said(r, sample.P99TTFT); p99 != "" && p99 != withheld {
			detail += ", p99 " + p99
		}
		tiles = append(tiles, tile("First token", text, detail))
	}
	if text := said(r, sample.TokenPrice); text != "" {
		detail := join("", r)
		price, _, known := sound(r, sample.TokenPrice)
		if rate, _, also := sound(r, sample.OutputRate); known && also && value(r) > 0 && !compare.Open(s.Load) {
			detail += fmt.Sprintf(": %.3g an hour for each", price*rate*3600/1e6/value(r))
		}
		tiles = append(tiles, tile(million, text, detail))
	}
	return append(tiles, spread(s))
}

// spread returns the tile that says how much the runs of a system differ.
func spread(s *systems.System) Tile {
	least, most, worst := 0, 0, 0.0
	for i, r := range s.Rows {
		v, unit := r.Spread(columns.Throughput...)
		if n := r.Samples(); i == 0 || n < least {
			least = n
		}
		most = max(most, r.Samples())
		if unit != "" && v.Mid > 0 && r.Doubt(unit) == "" {
			worst = max(worst, v.High/v.Mid-1, 1-v.Low/v.Mid)
		}
	}
	runs := numbers.Count(least, "run")
	if most > least {
		runs = fmt.Sprintf("%d to %s", least, numbers.Count(most, "run"))
	}
	if most < 2 {
		return tile("How sure", "One run", "a second start of the server tells how much runs differ")
	}
	return tile("How sure", fmt.Sprintf("± %.2g %%", 100*worst), "the throughput of "+runs+" at each load")
}

// addedTiles returns the tiles of what a gateway adds to the latencies of the server behind it, at the lowest load.
func addedTiles(all []*systems.System, short compare.Short) (tiles []Tile) {
	for _, s := range all[:min(2, len(all))] {
		for _, r := range s.Rows {
			of := added(r)
			for _, a := range of {
				detail := ""
				if a.Confident {
					detail = fmt.Sprintf("%s to %s with 95 %% confidence", compare.Milliseconds(a.Low), compare.Milliseconds(a.High))
				}
				tiles = append(tiles, tile("Added to "+a.To, compare.Milliseconds(a.Mid)+" ms", strings.TrimPrefix(join(detail, r), ", ")))
			}
			if len(of) > 0 {
				return append(tiles, tile("How sure", human.Capital(short.Why), ""))
			}
		}
	}
	return nil
}

// prices returns a tile with the price of a million output tokens in each file, at the load at which both have it and
// the throughput of the first file is the greatest. Without prices there is none.
func prices(rows []*results.Row) []Tile {
	var best, other *results.Row
	for _, r := range rows {
		price, _, known := sound(r, sample.TokenPrice)
		if !known || r.File != rows[0].File {
			continue
		}
		at := slices.IndexFunc(rows, func(o *results.Row) bool {
			_, _, known := sound(o, sample.TokenPrice)
			return known && o.File != r.File && o.Name == r.Name
		})
		if at < 0 {
			continue
		}
		if best != nil {
			if least, _, _ := sound(best, sample.TokenPrice); price >= least {
				continue
			}
		}
		best, other = r, rows[at]
	}
	if best == nil {
		return nil
	}
	t := Tile{Label: million, Detail: join("", best)}
	for _, r := range []*results.Row{best, other} {
		t.Values = append(t.Values, Value{Text: said(r, sample.TokenPrice), Name: filepath.Base(r.File), System: -1})
	}
	return []Tile{t}
}
