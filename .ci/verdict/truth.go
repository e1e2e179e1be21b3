package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// A sent is a request in the client's records, with the times at which it was sent and answered. All times
// count from Epoch.
type sent struct {
	ID      string
	Epoch   int64           `json:"epoch_unix_ns"` // nanoseconds since 1970
	Wrote   time.Duration   `json:"wrote_ns"`      // when the client had written the request; 0 if unknown
	First   time.Duration   `json:"first_ns"`
	Gaps    []time.Duration `json:"gaps_ns"`
	Outcome sample.Outcome
}

// readSent returns the requests in a file of records.
func readSent(path string) (all []sent, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var l sent
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if l.ID != "" { // the file's first and last lines have no ID
			all = append(all, l)
		}
	}
	return all, nil
}

// truth returns the metrics of the requests as a client without delays would have measured them. The times in
// the log count from epoch.
func truth(requests []sent, log []mockserver.Entry, epoch int64, streams int) (map[string]float64, error) {
	entries := map[string]*mockserver.Entry{}
	for i := range log {
		entries[log[i].ID] = &log[i]
	}
	var samples []sample.Sample
	for _, r := range requests {
		e := entries[r.ID]
		if r.Outcome != sample.OK || e == nil || len(e.Tokens) == 0 {
			return nil, fmt.Errorf("request %s has the outcome %q and is in the server's log: %t: want answered requests", r.ID, r.Outcome, e != nil)
		}
		samples = append(samples, trueSample(r, e, time.Duration(r.Epoch-epoch)))
	}
	return sample.Summarize(sample.All(samples...), perfectElapsed(samples, streams), sample.SLO{}).Metrics, nil
}

// trueSample returns the true sample of a request. Its times are on the clock of the log, on which the client's
// epoch is the given epoch.
func trueSample(r sent, e *mockserver.Entry, epoch time.Duration) sample.Sample {
	reached := cmp.Or(e.Received, e.Accepted)
	if r.Wrote > 0 {
		reached = min(reached, epoch+r.Wrote)
	}
	tokens := onTheWire(r, e, epoch)
	n := len(tokens)
	s := sample.Sample{
		ID: r.ID, Due: reached, Start: reached, Streamed: true, Outcome: sample.OK,
		Deltas: n, Outputs: n, First: tokens[0], Last: tokens[n-1], End: e.End,
		PromptTokens: e.PromptTokens, OutputTokens: e.OutputTokens, TokenSource: sample.FromUsage,
	}
	for i := range n - 1 {
		s.Gaps = append(s.Gaps, tokens[i+1]-tokens[i])
	}
	return s
}

// onTheWire returns when each token of a response left the server. A token leaves between the start and the end
// of the server's write call; the two are far apart if the server was stopped meanwhile. A time of the client
// between them cannot be proved wrong, so it is taken as true. A time of the client outside is replaced by the
// nearer of the two.
func onTheWire(r sent, e *mockserver.Entry, epoch time.Duration) []time.Duration {
	tokens := slices.Clone(e.Tokens)
	if len(r.Gaps) != len(tokens)-1 {
		return tokens
	}
	seen := make([]time.Duration, 0, len(tokens)) // when the client saw each token
	at := epoch + r.First
	for _, gap := range append([]time.Duration{0}, r.Gaps...) {
		at += gap
		seen = append(seen, at)
	}
	for _, w := range e.SlowWrites {
		for i := w.Token; i >= 0 && e.Tokens[i] == e.Tokens[w.Token]; i-- { // all tokens of the same write
			tokens[i] = min(max(seen[i], e.Tokens[i]), e.Tokens[i]+w.Took)
		}
	}
	return tokens
}

// perfectElapsed returns how long workers without delays would take for the requests. The workers begin at the
// planned times of a closed loop. Each request takes its true time.
func perfectElapsed(samples []sample.Sample, workers int) (elapsed time.Duration) {
	var free []time.Duration // the time at which each worker can send its next request
	for k := range min(workers, len(samples)) {
		free = append(free, time.Duration(k)*llmbench.DefaultStagger)
	}
	inOrder := slices.SortedFunc(slices.Values(samples), func(a, b sample.Sample) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range inOrder {
		next := slices.Index(free, slices.Min(free))
		free[next] += s.End - s.Start
		elapsed = max(elapsed, free[next])
	}
	return elapsed
}
