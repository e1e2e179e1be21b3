package records

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An End is the last line of a file: how the benchmark ended.
type End struct {
	Outcome  string   `json:"outcome"`            // EndedOK, or EndedFailed: the figures are no result
	Why      string   `json:"why,omitempty"`      // the reason of a failure; else ""
	Withheld []string `json:"withheld,omitempty"` // units that the benchmark did not report, because the client distorted them
	Buffered []string `json:"buffered,omitempty"` // the same, because answers came in bursts: something buffered the streams
	// Bounds are, by unit, the intervals of the true values of the figures that a client's delays can change,
	// also of figures that are withheld. They are nil if the client's delays are unknown, and in files of older
	// releases.
	Bounds map[string]sample.Interval `json:"bounds,omitempty"`
	// Notes are what the harness said about the figures. Files of older releases have none.
	Notes []Note `json:"notes,omitempty"`
	// Counts are what the client and the server counted, by pass. Files of older releases, and of single
	// passes, have none.
	Counts []Counts `json:"counts,omitempty"`
	// PrefixCache says whether the server took prompts from its prefix cache. It is nil in files of older
	// releases, of single passes and of benchmarks that failed before the end.
	PrefixCache *PrefixCache `json:"prefix_cache,omitempty"`
	// ClockBound is how far apart instants of two shards can be at most that are the same in the
	// records. It is 0 if there is one process alone.
	ClockBound time.Duration `json:"clock_bound_ns,omitempty"`
}

// How a benchmark ends.
const (
	EndedOK     = "ok"
	EndedFailed = "failed"
)

// Counts are what the client and the server counted in a pass. The numbers of the client are those of
// successful requests. Those of the server's metrics are of all that it answered in the pass, to other clients too;
// -1 means unknown.
type Counts struct {
	Pass           int `json:"pass"`
	Requests       int `json:"requests"`
	Deltas         int `json:"deltas"`               // with generated text; 0 if answers were not streamed
	StatedRequests int `json:"stated_requests"`      // answers that state their output tokens
	StatedPrompt   int `json:"stated_prompt_tokens"` // prompt tokens that answers state
	StatedOutput   int `json:"stated_output_tokens"` // output tokens that answers state
	Tokenizer      int `json:"tokenizer,omitempty"`  // output tokens of the other answers, if a tokenizer counted them
	// Of the first answers of a pass whose text a tokenizer counted although they state their output
	// tokens: their number, the output tokens that they state, and those of the text.
	ComparedRequests int `json:"compared_requests,omitempty"`
	ComparedStated   int `json:"compared_stated_tokens,omitempty"`
	ComparedText     int `json:"compared_text_tokens,omitempty"`

	ServerRequests int `json:"server_requests"` // requests, prompt tokens and output tokens in the server's metrics
	ServerPrompt   int `json:"server_prompt_tokens"`
	ServerOutput   int `json:"server_output_tokens"`
}

// A PrefixCache says whether the server took prompts, or their beginnings, from a prefix cache, and how
// that is known.
type PrefixCache struct {
	Verdict string `json:"verdict"`      // one of the constants
	By      string `json:"by,omitempty"` // CacheByAnswers, CacheByCounters, CacheByControl, or "" for CacheNew and CacheUnknown
	// Cached is the share of the prompts' tokens that the server states, from 0 to 1. It is 0 if a
	// control decided.
	Cached float64 `json:"cached,omitempty"`
	// Prompts is the number of prompts of the passes, and Repeated that of prompts which begin like one that
	// the process had sent before.
	Prompts  int `json:"prompts"`
	Repeated int `json:"repeated,omitempty"`
	// Pairs is the number of pairs of the control, and Ratio the median of the TTFT of a repeated prompt
	// divided by that of a new one.
	Pairs int     `json:"pairs,omitempty"`
	Ratio float64 `json:"ratio,omitempty"`
}

// Verdicts of a PrefixCache, and what they are by.
const (
	CacheWarm    = "warm"    // more than a tenth of the prompts' tokens came from the cache, or a control tells so
	CacheCold    = "cold"    // fewer, or a control tells so
	CacheNew     = "new"     // no prompt repeats the beginning of an earlier one, so that nothing can be in the cache
	CacheUnknown = "unknown" // prompts repeat, or may have been sent by an earlier process, and nothing tells

	CacheByAnswers  = "answers"  // the answers state cached tokens
	CacheByCounters = "counters" // the server's metrics
	CacheByControl  = "control"  // requests after the passes
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
	if c := l.End.PrefixCache; c != nil && c.Verdict == "" {
		return nil, fmt.Errorf("%.100s: a prefix cache without a verdict: want one, such as new", line)
	}
	for unit, b := range l.End.Bounds {
		if b.Low > b.Likely || b.Likely > b.High {
			return nil, fmt.Errorf("%.100s: bounds of %s from %v to %v, most likely %v: want them in this order", line, unit, b.Low, b.High, b.Likely)
		}
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
