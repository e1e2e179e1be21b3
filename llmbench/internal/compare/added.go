package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// addedUnits holds what a gateway may add something to, and the part of the names of units that says so.
var addedUnits = []struct{ unit, to string }{
	{"ttft", "the first token"}, {"itl", "each gap between tokens"}, {"e2e", "the whole stream"}, {"whole", "an answer that is not streamed"},
}

// AddedOf returns what a benchmark such as BenchmarkGatewayOverhead has measured that a system adds to latencies. The
// function values returns the values of a unit. Several runs have the median of their values and the widest of their
// intervals.
func AddedOf(values func(unit string) []float64) (all []Added) {
	for _, l := range addedUnits {
		mid, low, high := values("added-"+l.unit+"-ms"), values("added-"+l.unit+"-low-ms"), values("added-"+l.unit+"-high-ms")
		if len(mid) == 0 {
			continue
		}
		a := Added{To: l.to, Interval: Interval{Mid: robust.Median(mid), Confident: len(low) == len(mid) && len(high) == len(mid)}}
		if a.Confident {
			a.Low, a.High = min(a.Mid, slices.Min(low)), max(a.Mid, slices.Max(high))
		}
		if p99 := values("added-p99-" + l.unit + "-ms"); len(p99) > 0 {
			a.P99, a.HasP99 = robust.Median(p99), true
		}
		all = append(all, a)
	}
	return all
}

// adds says what a system adds to latencies at each load, and how many requests a core serves. It returns "" if the
// former was not measured.
func adds(key string, s *System) string {
	var order []string            // of Added.To
	at := map[string][]string{}   // what is added at each load
	var cores []string            // requests a second at each load
	with, without := false, false // an interval
	for _, p := range s.Points {
		load := ""
		if key != "" {
			load = " at " + Load(key, p.Load)
		}
		for _, a := range p.Added {
			if at[a.To] == nil {
				order = append(order, a.To)
			}
			text := Milliseconds(a.Mid) + " ms"
			if a.Confident {
				text += fmt.Sprintf(" [%s, %s]", Milliseconds(a.Low), Milliseconds(a.High))
			}
			with, without = with || a.Confident, without || !a.Confident
			if len(at[a.To]) == 0 {
				text += " to " + a.To
			}
			if text += load; a.HasP99 {
				text += " (p99 " + Milliseconds(a.P99) + " ms)"
			}
			at[a.To] = append(at[a.To], text)
		}
		if len(p.PerCore) > 0 {
			text := fmt.Sprintf("%.0f", robust.Median(p.PerCore))
			if len(cores) == 0 {
				text += " requests a second"
			}
			cores = append(cores, text+load)
		}
	}
	if len(order) == 0 {
		return ""
	}
	var parts []string
	for _, to := range order {
		parts = append(parts, enumerate(at[to]))
	}
	said := gateway(s) + " adds " + strings.Join(parts, "; ") + "."
	if len(cores) > 0 {
		said += " One core of it serves " + enumerate(cores) + "."
	}
	if with {
		said += " Brackets hold 95 % confidence."
	}
	if without {
		said += " An interval needs six rounds, as with -benchtime=8x."
	}
	return said
}

// gateway returns the name of a gateway for a sentence that says what is streamed.
func gateway(s *System) string {
	name := strings.TrimPrefix(strings.TrimPrefix(s.Name, "not "), "streamed ")
	if strings.HasSuffix(name, "gateway") {
		name = "the gateway"
	}
	return name
}

// Milliseconds formats a time with three digits, but no finer than a microsecond, and from a second on to the millisecond.
func Milliseconds(v float64) string {
	if math.Abs(v) < 0.0095 {
		return strconv.FormatFloat(math.Round(1000*v)/1000+0, 'f', -1, 64) // + 0, because -0 + 0 is 0
	}
	if math.Abs(v) >= 999.5 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// enumerate joins texts as a sentence does: "a, b and c".
func enumerate(all []string) string {
	n := len(all)
	if n == 1 {
		return all[0]
	}
	return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
}
