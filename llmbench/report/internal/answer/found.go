package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// A search is what a search for the highest load within an SLO reports, as the scenario SLO does: the unit of the highest load
// that kept it, the unit of the lowest load that missed it, the key of the load, and the word behind its number.
type search struct{ unit, missed, load, noun string }

// searches are the kinds of searches, the most important first. The unit of a limit that was not certified has another name.
var searches = []search{
	{"slo-req/s", "slo-missed-req/s", "rate", "req/s"},
	{"slo-uncertified-req/s", "slo-missed-req/s", "rate", "req/s"},
	{"slo-concurrency", "slo-missed-concurrency", "concurrency", "users"},
	{"slo-uncertified-concurrency", "slo-missed-concurrency", "concurrency", "users"},
}

// sameSystem reports whether all rows are of one scenario, backend and model.
func sameSystem(rows []*results.Row) bool {
	of := func(r *results.Row) [3]string {
		scenario, _, _ := strings.Cut(r.Base, "/") // parts of a name without a value follow, as in SLO/asked-once
		return [3]string{scenario, r.Key("backend"), r.Key("model")}
	}
	return !slices.ContainsFunc(rows, func(r *results.Row) bool { return of(r) != of(rows[0]) })
}

// found puts the limits that searches found before all else: the loads of their steps are no answer. Results of several
// searches of a kind have no common sentence.
func (a *Answer) found(rows []*results.Row) {
	var tiles []Tile
	var parts []string
	several, limits, sure := false, "", true
	for _, r := range rows { // records of a search have none, and its steps have
		limits = cmp.Or(limits, r.Setting("slo"))
	}
	for _, search := range searches {
		of := slices.DeleteFunc(slices.Clone(rows), func(r *results.Row) bool { _, unit, known := sound(r, search.unit); return unit == "" || !known })
		several = several || len(of) > 1
		for _, r := range of {
			met, _, _ := sound(r, search.unit)
			text, detail := human.Scale{Factor: 1}.Number(met), "not measured beyond"
			if missed, _, known := sound(r, search.missed); known {
				detail = "missed at " + human.Scale{Factor: 1}.Number(missed)
			}
			if strings.Contains(search.unit, "uncertified") {
				detail, sure = detail+", not certified", false
			}
			if limits != "" {
				detail = limits + "; " + detail
			}
			parts = append(parts, text+" "+search.noun)
			tiles = append(tiles, tile(loadNoun(search.load)+" within the SLO", text, detail))
		}
	}
	if len(parts) == 0 || several {
		return
	}
	a.Short = fmt.Sprintf("Up to %s keep the SLO", strings.Join(parts, " and up to "))
	if limits != "" {
		a.Short += " " + limits
	}
	if !sure {
		a.Short += "; the limit is not certified"
	}
	a.Tiles = append(tiles, a.Tiles...)
	a.Next = nil // the search measured what a sweep would have to
}
