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

// A sent is what the client's records say about when a request was sent. Instants count
// from Epoch.
type sent struct {
	ID      string
	Epoch   int64           `json:"epoch_unix_ns"` // since 1970
	Wrote   time.Duration   `json:"wrote_ns"`      // 0: unknown
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
		if l.ID != "" { // neither the head nor the end
			all = append(all, l)
		}
	}
	return all, nil
}

// truth returns the figures of the requests as a client without delays would have measured
// them. The instants of the log count from epoch.
func truth(requests []sent, log []mockserver.Entry, epoch int64, streams int) (map[string]float64, error) {
	entries := map[string]*mockserver.Entry{}
	for i := range log {
		entries[log[i].ID] = &log[i]
	}
	var samples []sample.Sample
	for _, r := range requests {
		e := entries[r.ID]
		if r.Outcome != sample.OK || e == nil || len(e.Tokens) == 0 {
			return nil, fmt.Errorf("request %s has the outcome %q and is in the server's log: %t; want answered requests", r.ID, r.Outcome, e != nil)
		}
		samples = append(samples, trueSample(r, e, time.Duration(r.Epoch-epoch)))
	}
	return sample.Summarize(sample.All(samples...), perfectElapsed(samples, streams), sample.SLO{}).Metrics, nil
}

// trueSample returns the sample of a request on the clock of the log. The client's instants
// count from epoch of that clock.
func trueSample(r sent, e *mockserver.Entry, epoch time.Duration) sample.Sample {
	reached := e.Accepted
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

// onTheWire returns when each token of an answer left the server. That is between the instant before
// the server's write and the end of the write, which differ where the server was stopped. An instant
// of the client between the two cannot be shown to be wrong, and is taken for true; any other is
// taken for the nearest of the two.
func onTheWire(r sent, e *mockserver.Entry, epoch time.Duration) []time.Duration {
	tokens := slices.Clone(e.Tokens)
	if len(r.Gaps) != len(tokens)-1 {
		return tokens
	}
	seen := make([]time.Duration, 0, len(tokens)) // by the client
	at := epoch + r.First
	for _, gap := range append([]time.Duration{0}, r.Gaps...) {
		at += gap
		seen = append(seen, at)
	}
	for _, w := range e.SlowWrites {
		for i := w.Token; i >= 0 && e.Tokens[i] == e.Tokens[w.Token]; i-- { // tokens of one write
			tokens[i] = min(max(seen[i], e.Tokens[i]), e.Tokens[i]+w.Took)
		}
	}
	return tokens
}

// perfectElapsed returns the time that workers without delays take for the requests. The
// workers begin as a closed loop plans it. Each request takes as long as it took in truth.
func perfectElapsed(samples []sample.Sample, workers int) (elapsed time.Duration) {
	var free []time.Duration // when each worker can send its next request
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
