package records

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An End is the last line of a file. It says how the benchmark ended.
type End struct {
	Outcome  string   `json:"outcome"`            // EndedOK or EndedFailed; if failed, the metrics are not valid results
	Why      string   `json:"why,omitempty"`      // the reason for a failure; else ""
	Withheld []string `json:"withheld,omitempty"` // units that were not reported: the client distorted them
	Buffered []string `json:"buffered,omitempty"` // units that were not reported: something buffered the streams, so that answers came in bursts
	Unread   []string `json:"unread,omitempty"`   // units that were not reported: answers have members that may have text, but are not read
	Idle     []string `json:"idle,omitempty"`     // units that were not reported: users had no sessions for a part of the time
	// Bounds has, by unit, the interval in which the true value of each metric lies that the client's
	// delays can change. It includes metrics that were withheld. It is nil if the client's delays are
	// unknown, and in files of older releases.
	Bounds map[string]sample.Interval `json:"bounds,omitempty"`
	// Notes has what the harness logged about the metrics. It is nil in files of older releases.
	Notes []Note `json:"notes,omitempty"`
	// Counts has what the client and the server counted, for each pass. It is nil in files of older
	// releases and of single passes.
	Counts []Counts `json:"counts,omitempty"`
	// Gateway has the counters of a gateway between the client and the server, for each pass in which they could be
	// read. It is nil if none were asked for, and in files of older releases.
	Gateway []Gateway `json:"gateway,omitempty"`
	// PrefixCache says whether the server took prompts from its prefix cache. It is nil in files of older
	// releases and of single passes, and if the benchmark failed before its end.
	PrefixCache *PrefixCache `json:"prefix_cache,omitempty"`
	// ClockBound is the error of the clocks between shards, which are the processes that measured together:
	// two instants of different shards that are equal in the records were at most this far apart. It is 0
	// if only one process measured.
	ClockBound time.Duration `json:"clock_bound_ns,omitempty"`
}

// Values of End.Outcome.
const (
	EndedOK     = "ok"
	EndedFailed = "failed"
)

// Counts has what the client and the server counted in one pass. The client counts only successful
// requests. The server's metrics count all requests that it answered in the pass, including requests of
// other clients; -1 means unknown.
type Counts struct {
	Pass           int `json:"pass"`
	Requests       int `json:"requests"`
	Deltas         int `json:"deltas"`               // deltas with generated text; 0 if answers were not streamed
	StatedRequests int `json:"stated_requests"`      // answers that report their output tokens
	StatedPrompt   int `json:"stated_prompt_tokens"` // prompt tokens that answers report
	StatedOutput   int `json:"stated_output_tokens"` // output tokens that answers report
	Tokenizer      int `json:"tokenizer,omitempty"`  // output tokens of the other answers, if a tokenizer counted them
	// A tokenizer also counts the text of the first answers of a pass that report their output tokens, for
	// a comparison. These fields have the number of these answers, the output tokens that they report, and
	// the tokens of their text.
	ComparedRequests int `json:"compared_requests,omitempty"`
	ComparedStated   int `json:"compared_stated_tokens,omitempty"`
	ComparedText     int `json:"compared_text_tokens,omitempty"`

	ServerRequests int `json:"server_requests"` // requests, prompt tokens and output tokens in the server's metrics
	ServerPrompt   int `json:"server_prompt_tokens"`
	ServerOutput   int `json:"server_output_tokens"`
}

// A Gateway has counters of a gateway before and after a pass.
type Gateway struct {
	Pass int `json:"pass"`
	// Counters has, by the name of a counter with its labels, such as retries_total{cluster="a"}, the values before and
	// after the pass.
	Counters map[string][2]float64 `json:"counters"`
}

// A PrefixCache says whether the server took prompts, or their beginnings, from a prefix cache, and how
// this was found out.
type PrefixCache struct {
	Verdict string `json:"verdict"`      // CacheWarm, CacheCold, CacheNew or CacheUnknown
	By      string `json:"by,omitempty"` // the source of the verdict; "" for CacheNew and CacheUnknown
	// Cached is the share of the prompts' tokens that the server reports as cached, from 0 to 1. It is 0 if
	// the verdict is by a control.
	Cached float64 `json:"cached,omitempty"`
	// Prompts is the number of prompts in all passes. Repeated is how many of them begin like a prompt that
	// the process had sent before.
	Prompts  int `json:"prompts"`
	Repeated int `json:"repeated,omitempty"`
	// Pairs is the number of pairs of requests in the control. One request of a pair repeats a prompt, and
	// the other has a new prompt. Ratio is the median, over the pairs, of the repeated prompt's TTFT
	// divided by the new prompt's TTFT.
	Pairs int     `json:"pairs,omitempty"`
	Ratio float64 `json:"ratio,omitempty"`
}

// The verdicts of a PrefixCache, and their sources.
const (
	CacheWarm    = "warm"    // more than a tenth of the prompt tokens came from the cache, or a control says so
	CacheCold    = "cold"    // at most a tenth came from the cache, or a control says so
	CacheNew     = "new"     // no prompt begins like an earlier prompt, so that the cache cannot contain any
	CacheUnknown = "unknown" // prompts repeat, or an earlier process may have sent them, and there is no other evidence

	CacheByAnswers  = "answers"  // the answers report cached tokens
	CacheByCounters = "counters" // counters in the server's metrics
	CacheByControl  = "control"  // requests that were sent after the passes
)

// endLine is the last line of a file.
type endLine struct {
	End *End `json:"end"`
}

var errAfter = errors.New("a line after the line about the end: want none")

func parseEnd(line []byte) (*End, error) {
	var l endLine
	if err := json.Unmarshal(line, &l, nanoseconds); err != nil {
		return nil, fmt.Errorf("want the line about the end: %w", err)
	}
	switch {
	case l.End == nil || l.End.Outcome != EndedOK && l.End.Outcome != EndedFailed:
		return nil, fmt.Errorf("%.100s: want the line about the end, with the outcome ok or failed", line)
	case (l.End.Outcome == EndedOK) != (l.End.Why == ""):
		return nil, fmt.Errorf("%.100s: want a reason if the outcome is failed, and none if it is ok", line)
	}
	if c := l.End.PrefixCache; c != nil && c.Verdict == "" {
		return nil, fmt.Errorf("%.100s: a prefix cache without a verdict: want one, such as new", line)
	}
	for _, unit := range slices.Sorted(maps.Keys(l.End.Bounds)) {
		if b := l.End.Bounds[unit]; b.Low > b.Likely || b.Likely > b.High {
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

// Failed returns the reason why the metrics are not valid results: the benchmark failed, or its process was
// killed and the run was cut. It returns "" if the benchmark succeeded. It also returns "" for older files,
// which do not have this information.
func (r *Run) Failed() string {
	switch {
	case r.End != nil:
		return r.End.Why
	case r.Head.Ends || r.Cut:
		return "the run was cut: its process was killed or still runs, and the records have no line about its end"
	}
	return ""
}

// Withheld returns the units that the benchmark did not report: the client distorted them, or they have no
// meaning because answers came in bursts or have text that was not read, or because users had no sessions.
func (r *Run) Withheld() []string {
	if r.End == nil {
		return nil
	}
	return slices.Concat(r.End.Withheld, r.End.Buffered, r.End.Unread, r.End.Idle)
}

// WhyWithheld returns a clause for each reason why units were withheld. The clause names the units.
func (r *Run) WhyWithheld() (reasons []string) {
	if r.End == nil {
		return nil
	}
	if units := r.End.Withheld; len(units) > 0 {
		reasons = append(reasons, "the client distorted "+strings.Join(units, ", "))
	}
	if units := r.End.Buffered; len(units) > 0 {
		reasons = append(reasons, "answers came in bursts because something buffered the streams, so that "+strings.Join(units, ", ")+" have no meaning")
	}
	if units := r.End.Unread; len(units) > 0 {
		reasons = append(reasons, "answers may have text that was not read, so that "+strings.Join(units, ", ")+" have no meaning")
	}
	if units := r.End.Idle; len(units) > 0 {
		reasons = append(reasons, "users had no sessions for a part of the time, so that "+strings.Join(units, ", ")+" are of another load")
	}
	return reasons
}
