package answer

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// grows is the gain in throughput from which more users do not only wait.
const grows = 1.05

// carries says in a few words which load a system carries, and returns the row of this load: the highest one within the
// SLO, or else the knee, or else the one with the greatest throughput. The row is nil if no load has a throughput.
func carries(s *systems.System, slo systems.SLO) (said string, r *results.Row) {
	r = s.Peak()
	if r == nil {
		return "", nil
	}
	last := s.Rows[len(s.Rows)-1]
	knee, err := s.Knee()
	c := s.Carries(slo)
	switch {
	case c != nil && c.Met == nil:
		r = c.Missed
		said = "Misses the SLO even at " + at(r) + each(r, ": ")
	case c != nil && c.Missed == nil:
		r = c.Met
		said = "Keeps the SLO up to " + at(r) + each(r, ", at ") + map[bool]string{true: "; more was not measured", false: "; the rest is not known"}[r == last]
	case c != nil:
		r = c.Met
		said = "Keeps the SLO up to " + at(r) + each(r, ", at ") + "; misses it at " + at(c.Missed)
	case compare.Open(s.Load):
		said = "Answers take " + figure(s.Rows[0], columns.Latency...) + " at " + at(s.Rows[0]) + ", and " + figure(last, columns.Latency...) + " at " + at(last)
		r = last
	case err == nil:
		peak := r
		r = knee
		said = "Up to " + at(r) + each(r, " at ")
		if speed, of := gets(r); at(r) == "1 user" && of != "" {
			said = at(r) + " gets " + speed
		}
		said += moreGet(peak, knee)
	case hasRoom(s, r) && each(r, "") != "":
		said = at(r) + each(r, " get ") + "; the server may carry more"
	default:
		said = "The throughput is greatest at " + at(r) + each(r, ": ")
	}
	return doubted(s, r, said), r
}

// moreGet says what users get at the greatest throughput, if these are more than at the knee.
func moreGet(peak, knee *results.Row) string {
	most, unit := peak.Spread(columns.Throughput...)
	mid, _ := knee.Spread(columns.Throughput...)
	switch {
	case most.Mid <= grows*mid.Mid:
		return "; more users only wait"
	case peak.Doubt(unit) != "":
		return "; more users mostly wait"
	}
	return "; " + at(peak) + " get " + human.Text(unit, most.Mid) + " in all, but wait longer"
}

// hasRoom reports whether a server may carry more than the load of r: more was not measured, the requests got answers, and
// the server stated no limit that the loads reached.
func hasRoom(s *systems.System, r *results.Row) bool {
	return r == s.Rows[len(s.Rows)-1] && !shed(r) && len(statedBy(s.Rows)) == 0
}

// shed reports whether more than a percent of the requests at a load got no answer.
func shed(r *results.Row) bool { return systems.Lost(r) >= 0.01 }

// doubted returns a sentence about a row with what speaks against the row.
func doubted(s *systems.System, r *results.Row, said string) string {
	if shed(r) {
		said += fmt.Sprintf("; %.0f %% got no answer", 100*systems.Lost(r))
	}
	if s.Name != "" {
		said = s.Name + ": " + said
	}
	if _, unit := r.Spread(columns.Throughput...); r.Doubt(unit) != "" {
		said = "In doubt: " + said
	}
	return said
}

// waits is how many times as much users would receive together, if each received tokens all the time, from which on a
// sentence must not say that each receives so much: they wait most of the time.
const waits = 1.5

// gets returns what a user at a load receives, with of "each", or all users together, with of "in all", if that is not known or
// in doubt, or if users wait most of the time. Both are "" if neither is known.
func gets(r *results.Row) (speed, of string) {
	v, unit, known := sound(r, columns.Throughput...)
	own, doubt, also := systems.UserSpeed(r)
	if also && !doubt && !compare.Open(loadKey(r)) && !(known && own*value(r) > waits*v) {
		return human.Text(sample.UserRate, own), "each"
	}
	if known {
		return human.Text(unit, v), "in all"
	}
	return "", ""
}

// each says what gets returns, after some words, or "".
func each(r *results.Row, before string) string {
	speed, of := gets(r)
	if of == "" {
		return ""
	}
	return before + speed + " " + of
}

func loadKey(r *results.Row) string {
	key, _ := r.Load()
	return key
}

// one says in a few words what was measured at a single load. It returns "" if that has no throughput.
func one(s *systems.System, r *results.Row) string {
	v, unit, known := sound(r, columns.Throughput...)
	if !known {
		return ""
	}
	text := human.Text(unit, v) + " in all"
	if speed, of := gets(r); of == "each" {
		text = speed + " each, " + text
	}
	if ttft, unit, known := sound(r, columns.FirstToken...); known {
		text += ", the first token after " + human.Text(unit, ttft)
	}
	if loadKey(r) != "" {
		text = human.Capital(at(r)) + ": " + text
	}
	return doubted(s, r, text)
}
