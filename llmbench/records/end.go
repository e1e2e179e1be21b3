package records

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// An End is the last line of a file: how the benchmark ended.
type End struct {
	Outcome  string   `json:"outcome"`            // EndedOK, or EndedFailed: the figures are no result
	Why      string   `json:"why,omitempty"`      // the reason of a failure; else ""
	Withheld []string `json:"withheld,omitempty"` // units that the benchmark did not report, because the client distorted them
	Buffered []string `json:"buffered,omitempty"` // the same, because answers came in bursts: something buffered the streams
	// Notes are what the harness said about the figures. Files of older releases have none.
	Notes []Note `json:"notes,omitempty"`
	// ClockBound is how far apart instants of two shards can be at most that are the same in the
	// records. It is 0 if there is one process alone.
	ClockBound time.Duration `json:"clock_bound_ns,omitempty"`
}

// How a benchmark ends.
const (
	EndedOK     = "ok"
	EndedFailed = "failed"
)

// endLine is the last line.
type endLine struct {
	End *End `json:"end"`
}

var errAfter = errors.New("a line after the one about the end: want none")

func parseEnd(line []byte) (*End, error) {
	var l endLine
	if err := json.Unmarshal(line, &l, nanoseconds); err != nil {
		return nil, fmt.Errorf("want the line about the end: %w", err)
	}
	switch {
	case l.End == nil || l.End.Outcome != EndedOK && l.End.Outcome != EndedFailed:
		return nil, fmt.Errorf("%.100s: want the line about the end, with the outcome ok or failed", line)
	case (l.End.Outcome == EndedOK) != (l.End.Why == ""):
		return nil, fmt.Errorf("%.100s: want a reason if it failed, and else none", line)
	}
	for _, n := range l.End.Notes {
		if err := n.check(); err != nil {
			return nil, fmt.Errorf("%.100s: %w", line, err)
		}
	}
	return l.End, nil
}

// Failed returns why the figures are no result: the benchmark failed, or the run was cut because
// its process was killed. It returns "" if the benchmark ended well, and for older files, which do not say.
func (r *Run) Failed() string {
	switch {
	case r.End != nil:
		return r.End.Why
	case r.Head.Ends || r.Cut:
		return "the run was cut: its process was killed or still runs, and the records have no line about its end"
	}
	return ""
}

// Withheld returns the units that the benchmark did not report: the client distorted them, or
// they mean nothing because answers came in bursts.
func (r *Run) Withheld() []string {
	if r.End == nil {
		return nil
	}
	return slices.Concat(r.End.Withheld, r.End.Buffered)
}

// WhyWithheld returns a clause about each reason why units were withheld, which names the units.
func (r *Run) WhyWithheld() (reasons []string) {
	if r.End == nil {
		return nil
	}
	if units := r.End.Withheld; len(units) > 0 {
		reasons = append(reasons, "the client distorted "+strings.Join(units, ", "))
	}
	if units := r.End.Buffered; len(units) > 0 {
		reasons = append(reasons, "answers came in bursts because something buffered the streams, so that "+strings.Join(units, ", ")+" mean nothing")
	}
	return reasons
}
