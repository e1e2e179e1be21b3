package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// A figure is the value of one metric in a run. The metrics are the core units of llmbench or, for k6, the
// units that k6 prints.
type figure struct {
	Unit     string  `json:"unit"`
	Measured float64 `json:"measured"` // the value that the benchmark shows, or would show if it did not withhold it
	True     float64 `json:"true"`
	Error    float64 `json:"err_pct"` // |Measured-True| in percent of True
	Shown    bool    `json:"shown"`
}

// A result describes the outcome of a run.
type result struct {
	load
	Check       check    `json:"check"`
	Run         int      `json:"run"`
	Figures     []figure `json:"figures"`        // sorted by error, the largest first
	TrueTPOT    float64  `json:"true_tpot_ns"`   // mean, from the server's log
	TrueTTFT    float64  `json:"true_ttft_ns"`   // median, from the server's log
	ClientError *float64 `json:"client_err_pct"` // client-err-%; nil if the output lacks it
	Withheld    []string `json:"withheld"`
	Output      string   `json:"output"` // output of the benchmark without its Unit lines

	Obtained string  `json:"obtained"`       // the place in the queue for a CPU that the client says it had
	ReadLag  float64 `json:"read_lag_ns"`    // p99-read-lag-ns
	Rate     float64 `json:"output_tok_s"`   // also if the client withheld it
	Left     float64 `json:"left,omitempty"` // CPU time of the loops per time, in CPUs
}

// newResult compares the output and the records of a client with the truth, unless the server has no log.
func (c check) newResult(number int, l load, output, record string, log []mockserver.Entry, epoch int64) (result, error) {
	r := result{load: l, Check: c, Run: number, Output: withoutUnits(output), Obtained: obtained(output)}
	shown, err := figures(output)
	if err != nil {
		return r, err
	}
	if v, known := shown[sample.ClientError]; known {
		r.ClientError = &v
	}
	recorded, err := records.Open(record)
	if err != nil {
		return r, err
	}
	if recorded.End != nil {
		r.Withheld = recorded.End.Withheld
	}
	measured := maps.Clone(recorded.Figures().Metrics)
	r.ReadLag, r.Rate = measured[sample.P99ReadLag], measured[sample.OutputRate]
	if log == nil {
		return r, nil
	}
	maps.Copy(measured, shown)
	requests, err := readSent(record)
	if err != nil {
		return r, err
	}
	right, err := truth(requests, log, epoch, l.Streams)
	if err != nil {
		return r, err
	}
	r.TrueTPOT, r.TrueTTFT = right[sample.MeanTPOT], right[sample.P50TTFT]
	for _, u := range sample.Units {
		value, isMeasured := measured[u.Name]
		want := right[u.Name]
		_, isShown := shown[u.Name]
		wanted := u.Core
		if c == k6 { // k6's records have more metrics than k6 prints, and define them differently
			wanted = isShown
		}
		if !wanted || !isMeasured || want == 0 { // want is 0 for the share of failed requests
			continue
		}
		r.Figures = append(r.Figures, figure{u.Name, value, want, 100 * math.Abs(value/want-1), isShown})
	}
	slices.SortStableFunc(r.Figures, func(a, b figure) int { return cmp.Compare(b.Error, a.Error) })
	return r, nil
}

// withoutUnits returns the output of a benchmark without its Unit lines.
func withoutUnits(output string) string {
	var rest strings.Builder
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, "Unit ") {
			rest.WriteString(line)
		}
	}
	return rest.String()
}

// healthy reports whether nothing ran beside the client and the server was about as fast as it was configured
// to be. If it is false, the load needs more than the two cores, and whatever delays the client also delays the
// server.
func (r *result) healthy() bool {
	off := func(is float64, want time.Duration) float64 { return math.Abs(is - float64(want)) }
	return r.idle() && off(r.TrueTPOT, r.PerToken) <= maxTPOTOff*float64(r.PerToken) && off(r.TrueTTFT, r.TTFT) <= maxTTFTOff*float64(r.TTFT)+float64(ownTime)
}

// worst returns the largest error of any metric in percent, shown or not. It returns 0 if the truth is unknown.
func (r *result) worst() float64 {
	if len(r.Figures) == 0 {
		return 0
	}
	return r.Figures[0].Error
}

// worstShown returns the largest error of a shown metric in percent. It returns false if none is shown.
func (r *result) worstShown() (percent float64, any bool) {
	for _, f := range r.Figures { // sorted
		if f.Shown {
			return f.Error, true
		}
	}
	return 0, false
}

// wrong returns the shown metrics with an error above maxShown.
func (r *result) wrong() []figure {
	return slices.DeleteFunc(slices.Clone(r.Figures), func(f figure) bool { return !f.Shown || f.Error <= maxShown })
}

// accused reports whether client-err-% says that the client distorts its metrics.
func (r result) accused() bool { return r.ClientError != nil && *r.ClientError > maxShown }

// told reports whether client-err-% is close enough to the largest true error of a shown metric. If none is shown, there
// need not be a client-err-%.
func (r *result) told() bool {
	worst, any := r.worstShown()
	if r.ClientError == nil {
		return !any
	}
	if !any {
		worst = r.worst()
	}
	said := *r.ClientError
	return said <= nearZero && worst <= nearZero || said <= 2*worst && worst <= 2*said
}

// said returns what the client says about its error.
func (r *result) said() string {
	if r.ClientError == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.2g", *r.ClientError)
}

// String returns a line that is printed when the run ends.
func (r result) String() string {
	text := fmt.Sprintf("%3d  %v: ", r.Run, r.load)
	if r.Check == k6 {
		for _, f := range r.Figures {
			text += fmt.Sprintf("%s %v, true %v; ", f.Unit, time.Duration(f.Measured).Round(time.Microsecond), time.Duration(f.True).Round(time.Microsecond))
		}
		return strings.TrimSuffix(text, "; ")
	}
	if r.Check == byPriority {
		return text + r.cost()
	}
	text += fmt.Sprintf("client-err-%% %s, true %.2g (%s)", r.said(), r.worst(), r.Figures[0].Unit)
	if r.Check == starved { // starved clients show all metrics
		return text
	}
	if !r.told() {
		text += "; NOT WITHIN A FACTOR OF 2"
	}
	for _, f := range r.Figures {
		if !f.Shown {
			text += fmt.Sprintf("; withheld %s, %.2g %% off", f.Unit, f.Error)
		}
	}
	for _, f := range r.wrong() {
		text += fmt.Sprintf("; SHOWN %s IS %.2g %% WRONG", f.Unit, f.Error)
	}
	return text
}
