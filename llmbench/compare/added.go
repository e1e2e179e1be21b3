package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// AddedOf returns what a benchmark such as BenchmarkGatewayOverhead has measured that a system adds to latencies. The
// function values returns the values of a unit. Several runs have the median of their values and the widest of their
// intervals.
func AddedOf(values func(unit string) []float64) (all []Added) {
	for _, l := range []struct{ unit, to string }{{"added-ttft", "the first token"}, {"added-itl", "each gap between tokens"}} {
		mid, low, high := values(l.unit+"-ms"), values(l.unit+"-low-ms"), values(l.unit+"-high-ms")
		if len(mid) == 0 {
			continue
		}
		a := Added{To: l.to, Interval: Interval{Mid: robust.Median(mid), Confident: len(low) == len(mid) && len(high) == len(mid)}}
		if a.Confident {
			a.Low, a.High = min(a.Mid, slices.Min(low)), max(a.Mid, slices.Max(high))
		}
		all = append(all, a)
	}
	return all
}

// adds says what a system adds to latencies at each load. It returns "" if that was not measured.
func adds(key string, s *System) string {
	var order []string            // of Added.To
	at := map[string][]string{}   // what is added at each load
	with, without := false, false // an interval
	for _, p := range s.Points {
		for _, a := range p.Added {
			if at[a.To] == nil {
				order = append(order, a.To)
			}
			text := fmt.Sprintf("%.3g ms", a.Mid)
			if a.Confident {
				text += fmt.Sprintf(" [%.3g, %.3g]", a.Low, a.High)
			}
			with, without = with || a.Confident, without || !a.Confident
			if key != "" {
				text += " at " + Load(key, p.Load)
			}
			at[a.To] = append(at[a.To], text)
		}
	}
	if len(order) == 0 {
		return ""
	}
	var parts []string
	for _, to := range order {
		parts = append(parts, "to "+to+" "+enumerate(at[to]))
	}
	said := s.Name + " adds " + strings.Join(parts, "; and ") + "."
	if with {
		said += " Brackets hold 95 % confidence."
	}
	if without {
		said += " An interval needs six rounds, as with -benchtime=8x."
	}
	return said
}

// enumerate joins texts as a sentence does: "a, b and c".
func enumerate(all []string) string {
	n := len(all)
	if n == 1 {
		return all[0]
	}
	return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
}
