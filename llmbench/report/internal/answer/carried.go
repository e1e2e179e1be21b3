package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// usualTail is the bound of what a gateway adds, in milliseconds, that the sentence says.
const usualTail = 5

// carried puts what a gateway carries before all else, as the scenario Gateway reports it: the rate within each bound of what
// the gateway adds, the most streams, and the memory of a stream. Results of several gateways have no common sentence.
func (a *Answer) carried(rows []*results.Row) {
	number := human.Scale{Factor: 1}.Number
	rates := Tile{Label: "Requests a second, by the time added (p99)", Detail: "to the first token, at random arrivals"}
	var tiles []Tile
	var parts []string
	seen := map[string]int{} // rows with a figure, and of a bound
	near := -1.0             // distance of the bound of the sentence from the usual one
	for _, r := range rows {
		if rate, unit, known := sound(r, "tail-req/s"); unit != "" && known {
			bound := r.Key("tail-ms")
			seen[unit+bound]++
			rates.Values = append(rates.Values, Value{Text: number(rate), Name: bound + " ms", System: -1})
			at, err := strconv.ParseFloat(bound, 64)
			if far := max(at, usualTail) / max(1e-9, min(at, usualTail)); err == nil && (near < 0 || far < near) {
				near, parts = far, []string{fmt.Sprintf("%s req/s at %s ms added", number(rate), bound)}
			}
		}
	}
	for _, r := range rows {
		if most, unit, known := sound(r, "max-streams"); unit != "" && known {
			seen[unit]++
			parts = append(parts, number(most)+" streams")
			tiles = append(tiles, tile("Streams at once", number(most), "99 of 100 get each token at most 100 ms late"))
		}
	}
	short := "The gateway carries " + strings.Join(parts, ", and ")
	for _, r := range rows {
		kB, unit, known := sound(r, "gw-kB/stream")
		if unit == "" || !known {
			continue
		}
		if seen[unit]++; seen[unit] > 1 { // further numbers of streams
			continue
		}
		short += "; " + number(kB) + " kB a stream"
		idle, _, _ := sound(r, "gw-idle-MB")
		open, _, _ := sound(r, "gw-open-MB")
		after, _, _ := sound(r, "gw-after-MB")
		tiles = append(tiles, tile("Memory of a stream", number(kB)+" kB", fmt.Sprintf("%s MB idle, %s MB with %s, %s MB after", number(idle), number(open), at(r), number(after))))
	}
	for _, r := range rows {
		if by, unit, known := sound(r, "gw-growth-MB/Mreq"); unit != "" && known {
			low, _, _ := sound(r, "gw-growth-low-MB/Mreq")
			high, _, _ := sound(r, "gw-growth-high-MB/Mreq")
			tiles = append(tiles, tile("Memory after a million requests", fmt.Sprintf("%+.3g MB", by), fmt.Sprintf("%+.3g to %+.3g MB with 99 %% confidence", low, high)))
		}
	}
	if len(parts) == 0 {
		return
	}
	delete(seen, "gw-kB/stream")
	for _, n := range seen {
		if n > 1 {
			return
		}
	}
	if len(rates.Values) > 0 {
		tiles = slices.Insert(tiles, 0, rates)
	}
	a.Short, a.Tiles, a.Next = short, tiles, nil
}
