package calibrate

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Records reads a file of records, which llmbench writes to LLMBENCH_OUT. It returns false if the benchmark's
// name does not have all key=value pairs of match. Only successful requests count, and at most 1 % of the
// requests may have failed. Metrics that the benchmark withheld are omitted.
//
// It is an error if the benchmark failed. It is also an error if the records are incomplete because the process
// was killed: the requests in flight at that time are missing, and the load was lower at the end. The error
// names the file and, if possible, the line.
func Records(r io.Reader, file string, match []string) (Sample, bool, error) {
	head, whole, err := records.ReadHead(r, file)
	if err != nil {
		return Sample{}, false, err
	}
	n := newName(benchfile.ParseRunning(head.Benchmark))
	if !n.has(match) {
		return Sample{}, false, nil
	}
	if head.Arrivals != nil {
		return Sample{}, false, fmt.Errorf("%s:1: arrivals: %v: want a closed loop", file, head.Arrivals)
	}
	if head.Users != "" {
		return Sample{}, false, fmt.Errorf("%s:1: users: %v: want a number of users that does not change", file, head.Users)
	}
	n.concurrency = strconv.Itoa(head.Concurrency)
	s, err := n.sample()
	if err != nil {
		return Sample{}, false, fmt.Errorf("%s:1: %w", file, err)
	}
	run, err := records.Read(whole, file)
	if err != nil {
		return Sample{}, false, err
	}
	if why := run.Failed(); why != "" {
		return Sample{}, false, fmt.Errorf("%s: the benchmark failed: want one that ended ok: %s", file, why)
	}
	if err := s.takeRun(run, file); err != nil {
		return Sample{}, false, err
	}
	for _, unit := range run.Withheld() {
		delete(s.Point.Values, unit)
	}
	return s, true, nil
}

// takeRun sets the sample's metrics to the metrics of the requests in a file. The error begins with the name of
// the file.
func (s *Sample) takeRun(requests *records.Run, file string) error {
	if requests.Len() > mostRequests {
		return fmt.Errorf("%s: %d requests: want %d at most", file, requests.Len(), mostRequests)
	}
	passes := make([]run, requests.Passes())
	failures := 0
	for q := range requests.All() {
		if err := check(q); err != nil {
			return fmt.Errorf("%s:%d: %w", file, q.Line, err)
		}
		if !q.OK() {
			failures++
		} else {
			s.Point.Prompt += float64(q.PromptTokens)
			s.Outputs = append(s.Outputs, float64(q.OutputTokens))
		}
		passes[q.Pass].requests = append(passes[q.Pass].requests, asSent(q))
	}
	if 100*failures > tolerated*requests.Len() {
		return fmt.Errorf("%s: %d of %d requests failed: want %d %% at most", file, failures, requests.Len(), tolerated)
	}
	if err := s.average(passes); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// check returns an error if a successful request has values that a fit cannot use, such as no output tokens or
// an end that is not after the start.
func check(q *records.Request) error {
	switch {
	case !q.OK():
		return nil
	case q.End <= q.Start:
		return fmt.Errorf("start_ns %d and end_ns %d: want the end later", q.Start, q.End)
	case q.PromptTokens > mostTokens:
		return fmt.Errorf("prompt_tokens: %d: want 0 to %d", q.PromptTokens, mostTokens)
	case q.OutputTokens < 1 || q.OutputTokens > mostTokens:
		return fmt.Errorf("output_tokens: %d: want 1 to %d", q.OutputTokens, mostTokens)
	case q.Deltas > 0 && q.First <= q.Start:
		return fmt.Errorf("start_ns %d and first_ns %d: want the first delta later", q.Start, q.First)
	}
	return nil
}

// asSent returns the request as the client saw it.
func asSent(q *records.Request) sentRequest {
	s := sentRequest{at: q.Start, end: q.End, tokens: int(q.OutputTokens), state: failed}
	if !q.OK() {
		return s
	}
	s.state = succeeded
	if q.Streamed && q.Deltas > 0 {
		s.streamed, s.first, s.end = true, q.First, q.Last
	}
	return s
}

// average sets the sample's metrics to their means over the passes.
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
		return errors.New("no request succeeded")
	}
	for u := range s.Point.Values {
		s.Point.Values[u] /= full
	}
	for _, unit := range []string{"requests", sample.RunTime, sample.TokenRate} { // llmbench does not report these
		delete(s.Point.Values, unit)
	}
	s.Point.Prompt /= float64(len(s.Outputs))
	s.Point.Output = mean(s.Outputs)
	return nil
}
