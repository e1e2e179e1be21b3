package pictures

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
)

// A part of a pass is its warm-up or a stage of its load.
type part struct {
	name     string
	from, to time.Duration
	stage    arrivals.Stage
}

// partsOf returns the warm-up and the stages of a pass. There are none if the load does not change.
func partsOf(h *records.Head) (all []part) {
	stages := h.Stages()
	if h.WarmupFor > 0 {
		warmup := part{name: "warm-up", to: h.WarmupFor}
		if len(stages) > 0 {
			warmup.stage = arrivals.Stage{Rate: stages[0].Rate}
		}
		all = append(all, warmup)
	}
	begin := h.WarmupFor
	for i, g := range stages {
		all = append(all, part{fmt.Sprintf("stage %d", i+1), begin, begin + g.For, g})
		begin += g.For
	}
	return all
}

// nameOf returns the name of the part to which an instant belongs, or "".
func nameOf(parts []part, at time.Duration) string {
	for _, p := range parts {
		if at >= p.from && at < p.to {
			return p.name
		}
	}
	return ""
}

// describe returns a sentence with the parts.
func describe(parts []part) string {
	var texts []string
	for _, p := range parts {
		text := fmt.Sprintf("%s to %v", p.name, p.to)
		if p.stage.For > 0 {
			text += fmt.Sprintf(" (%v)", p.stage)
		}
		texts = append(texts, text)
	}
	return "The load: " + strings.Join(texts, ", ") + "."
}

// usersOf draws the number of users of a closed loop.
func usersOf(parts []part) *chart.Series {
	s := &chart.Series{Name: "users", Kind: chart.Lines, Look: chart.LookOf(3), Bare: true}
	for _, p := range parts {
		last := p.stage.Rate
		if p.stage.Ramp != arrivals.Flat {
			last = p.stage.To
		}
		s.Points = append(s.Points, chart.At(float64(p.from), p.stage.Rate), chart.At(float64(p.to), last))
	}
	return s
}
