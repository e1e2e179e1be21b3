package calibrate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// longest is how many bytes a line of records may have.
const longest = 64 << 20

// A head is what is read of the first line of a file of records.
type head struct {
	Benchmark   string          `json:"benchmark"`
	Concurrency int             `json:"concurrency"`
	Arrivals    json.RawMessage `json:"arrivals"` // an object or, of version 1, a string
	Stream      bool            `json:"stream"`
	Ends        bool            `json:"ends"` // there is a line about its end
}

// An end is what the last line says of a benchmark: of a request's line it is nil.
type end struct {
	Outcome  string   `json:"outcome"`
	Why      string   `json:"why"`
	Withheld []string `json:"withheld"` // units that its client distorted
}

// A record is what is read of a request's line: instants are from the start of
// its pass, null where they never came.
type record struct {
	Pass         *int           `json:"pass"`
	Start        *time.Duration `json:"start_ns"`
	First        *time.Duration `json:"first_ns"`
	Last         *time.Duration `json:"last_ns"`
	End          *time.Duration `json:"end_ns"`
	PromptTokens int            `json:"prompt_tokens"`
	OutputTokens int            `json:"output_tokens"`
	Outcome      string         `json:"outcome"`
	Ended        *end           `json:"end"`
}

// Records returns the sample in a file of requests as llmbench writes it to
// LLMBENCH_OUT, a line about the benchmark, one a request and then one about its
// end, or false if the benchmark's name does not have all the key=value pairs of
// match. Only requests that ended well count, and hardly any may not have. A
// benchmark that failed or was killed is refused, and of one that ended well the
// figures that it withheld are left out; older files do not tell. The error names
// the file and the line.
func Records(r io.Reader, file string, match []string) (Sample, bool, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	line := 0
	fail := func(err error) (Sample, bool, error) {
		return Sample{}, false, fmt.Errorf("%s:%d: %w", file, line, err)
	}
	var s Sample
	var h head
	var passes []run
	failed, all := 0, 0
	var ended *end
	for lines.Scan() {
		if line++; line == 1 {
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
				return fail(fmt.Errorf("want the line about the benchmark: %w", err))
			}
			var err error
			var matches bool
			if s, matches, err = h.sample(match); err != nil {
				return fail(err)
			}
			if !matches {
				return Sample{}, false, nil
			}
			continue
		}
		if ended != nil {
			return fail(errors.New("a line after the one about the end, want none"))
		}
		var q record
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return fail(fmt.Errorf("want a request's record: %w", err))
		}
		if ended = q.Ended; ended != nil {
			if ended.Outcome != "ok" {
				return fail(fmt.Errorf("the benchmark ended %q, want ok: %s", ended.Outcome, ended.Why))
			}
			continue
		}
		if err := q.check(line); err != nil {
			return fail(err)
		}
		for len(passes) <= *q.Pass {
			passes = append(passes, run{})
		}
		if all++; all > mostRequests {
			return fail(fmt.Errorf("request %d, want at most %d", all, mostRequests))
		}
		if q.Outcome != "ok" {
			failed++
		}
		passes[*q.Pass].requests = append(passes[*q.Pass].requests, q.sent(h.Stream))
		s.add(&q)
	}
	line++
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fail(fmt.Errorf("a line of more than %d bytes", longest))
	} else if err != nil {
		return fail(err)
	}
	line--
	if line == 0 {
		return Sample{}, false, fmt.Errorf("%s: empty, want the line about the benchmark", file)
	}
	if h.Ends && ended == nil {
		return fail(errors.New("no line about the end: the benchmark was killed, want one that ended ok"))
	}
	if 100*failed > tolerated*all {
		return fail(fmt.Errorf("%d of %d requests failed, want %d %% at most", failed, all, tolerated))
	}
	if err := s.average(passes); err != nil {
		return fail(err)
	}
	if ended != nil {
		for _, unit := range ended.Withheld {
			delete(s.Point.Values, unit)
		}
	}
	return s, true, nil
}

// sample begins a file's sample, unless the benchmark does not match.
func (h head) sample(match []string) (Sample, bool, error) {
	if h.Benchmark == "" {
		return Sample{}, false, errors.New(`want the line about the benchmark, with its name in "benchmark"`)
	}
	n := newName(h.Benchmark)
	if !n.has(match) {
		return Sample{}, false, nil
	}
	if h.Arrivals != nil {
		return Sample{}, false, fmt.Errorf("arrivals: %s, want a closed loop", h.Arrivals)
	}
	n.concurrency = strconv.Itoa(h.Concurrency)
	s, err := n.sample()
	return s, true, err
}

// check returns what is wrong with a record on that line.
func (q *record) check(line int) error {
	ok := q.Outcome == "ok"
	switch {
	case q.Outcome == "":
		return errors.New("no outcome, want ok or how the request failed")
	case q.Pass == nil || q.Start == nil || q.End == nil:
		return errors.New("want pass, start_ns and end_ns")
	case *q.Pass < 0 || *q.Pass > line:
		return fmt.Errorf("pass: %d, want 0 to %d on this line", *q.Pass, line)
	case *q.Start < 0 || *q.End <= *q.Start && ok || *q.End < 0:
		return fmt.Errorf("start_ns %d and end_ns %d, want 0 or more and the end later", *q.Start, *q.End)
	case ok && (q.PromptTokens < 0 || q.PromptTokens > mostTokens):
		return fmt.Errorf("prompt_tokens: %d, want 0 to %d", q.PromptTokens, mostTokens)
	case ok && (q.OutputTokens < 1 || q.OutputTokens > mostTokens):
		return fmt.Errorf("output_tokens: %d, want 1 to %d", q.OutputTokens, mostTokens)
	case ok && (q.First == nil) != (q.Last == nil):
		return errors.New("one of first_ns and last_ns, want both or none")
	case ok && q.First != nil && (*q.First <= *q.Start || *q.Last < *q.First || *q.End < *q.Last):
		return fmt.Errorf("start_ns %d, first_ns %d, last_ns %d and end_ns %d, want them in that order", *q.Start, *q.First, *q.Last, *q.End)
	}
	return nil
}

// sent is the request as its client saw it.
func (q *record) sent(stream bool) sent {
	s := sent{at: *q.Start, end: *q.End, tokens: q.OutputTokens, state: failed}
	if q.Outcome != "ok" {
		return s
	}
	s.state = succeeded
	if stream && q.First != nil {
		s.streamed, s.first, s.end = true, *q.First, *q.Last
	}
	return s
}

// add counts the tokens of a record.
func (s *Sample) add(q *record) {
	if q.Outcome == "ok" {
		s.Point.Prompt += float64(q.PromptTokens)
		s.Outputs = append(s.Outputs, float64(q.OutputTokens))
	}
}

// average makes the sample's figures the mean of those of its passes.
func (s *Sample) average(passes []run) error {
	full := 0.0
	for _, r := range passes {
		v := r.closed(0)
		if v["requests"] == 0 {
			continue
		}
		s.Point.Requests = max(s.Point.Requests, len(r.requests))
		full++
		for u, x := range v {
			s.Point.Values[u] += x
		}
	}
	if full == 0 {
		return errors.New("no request ended well")
	}
	for u := range s.Point.Values {
		s.Point.Values[u] /= full
	}
	for _, double := range []string{"requests", "run-ns", "tok/s"} {
		delete(s.Point.Values, double)
	}
	s.Point.Prompt /= float64(len(s.Outputs))
	s.Point.Output = mean(s.Outputs)
	return nil
}
