package records_test

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// TestRoundTrip writes records as benchmarks do, reads them, and compares each field with the samples from
// which they were written.
func TestRoundTrip(t *testing.T) {
	mock, err := mockserver.New(mockserver.Config{
		PerToken: time.Millisecond, Shape: shape.Shape{Reasoning: "reasoning", ReasoningTokens: 3},
	})
	assert.NilError(t, err)
	server := httptest.NewServer(mock)
	defer server.Close()
	dir := t.TempDir()
	t.Setenv("LLMBENCH_OUT", dir)
	t.Setenv("LLMBENCH_UNITS", "all")
	benchtime := flag.Lookup("test.benchtime").Value
	defer func(before string) { assert.NilError(t, benchtime.Set(before)) }(benchtime.String())
	assert.NilError(t, benchtime.Set("3x"))
	for _, l := range []llmbench.Load{
		{Concurrency: 3},
		{Concurrency: 3, NoStream: true},
		{Concurrency: 3, Cancel: llmbench.Cancel{Share: 0.5, Deltas: 3}},
		{Arrivals: arrivals.Poisson{Rate: 200, Seed: 1}},
		{Duration: 50 * time.Millisecond, Classes: []llmbench.Class{{Name: "chat", Concurrency: 3}, {Name: "rag", Arrivals: arrivals.Poisson{Rate: 200, Seed: 1}, SLO: sample.SLO{E2E: time.Second}}}},
		{Duration: 200 * time.Millisecond, WarmupFor: 10 * time.Millisecond, Classes: []llmbench.Class{{Name: "alone", Arrivals: arrivals.Poisson{Rate: 200, Seed: 1}}}},
	} {
		var requests []llmbench.Request
		for i := range 12 {
			requests = append(requests, llmbench.Request{Prompt: "a b c", MaxTokens: 1 + 3*i, FixedOutput: true, PromptTokens: 7})
		}
		requests[3].Then = []llmbench.Turn{{Prompt: "d", MaxTokens: 5}}
		requests[5].Then, requests[5].Reply, requests[5].Skip = []llmbench.Turn{{Prompt: "d", MaxTokens: 5}}, "e", 1
		if len(l.Classes) == 0 {
			l.Requests = requests
		}
		for i := range l.Classes {
			l.Classes[i].Requests = requests
		}
		l.SLO = sample.SLO{E2E: time.Second}
		var samples []sample.Sample
		var passes int
		result := testing.Benchmark(func(b *testing.B) {
			samples = samples[:0]
			for s := range llmbench.Run(b, llmbench.Target{URL: server.URL, Model: "m", Simulated: true}, l).All() {
				samples = append(samples, *s)
			}
			passes = samples[len(samples)-1].Pass + 1
		})
		files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		run, err := records.Open(filepath.Join(dir, fmt.Sprintf(".%d.jsonl", len(files)))) // the benchmark has no name
		assert.NilError(t, err)
		assert.Equal(t, run.Passes(), passes)
		assert.DeepEqual(t, run.End, &records.End{Outcome: records.EndedOK}, cmpopts.IgnoreFields(records.End{}, "Notes", "Counts", "PrefixCache", "Bounds")) // they depend on times and on other tests
		assert.Assert(t, run.Head.Ends)
		assert.Equal(t, run.Head.Stream, !l.NoStream)
		assert.Equal(t, run.Head.Version, records.Version)
		if l.Arrivals != nil {
			assert.DeepEqual(t, run.Head.Arrivals, &records.Arrivals{Process: "poisson", Parameters: map[string]string{"rate": "200", "seed": "1"}})
		}
		for i, c := range run.Head.Classes {
			assert.Equal(t, c.String(), map[string]string{"chat": "chat: 3 users", "rag": "rag: poisson rate=200 seed=1, SLO e2e=1s", "alone": "alone: poisson rate=200 seed=1"}[l.Classes[i].Name])
		}
		assert.Equal(t, len(run.Head.Classes), len(l.Classes))
		i := 0
		for q := range run.All() {
			s := samples[i]
			want := records.Request{
				Pass: int32(s.Pass), Line: int32(i + 2), Outcome: s.Outcome, TokenSource: s.TokenSource, Finish: s.Finish,
				Due: s.Due, Start: s.Start, Wrote: s.Wrote, FirstByte: s.FirstByte, First: s.First, Last: s.Last, End: s.End,
				Turn: int32(s.Turn), Events: int32(s.Events), FirstOutput: s.FirstOutput, Outputs: int32(s.Outputs),
				LastEvent: s.LastEvent, Done: s.Done, Connect: s.Connect, Choices: s.Choices,
				Deltas: int32(s.Deltas), Blank: int32(s.Blank), Cut: int32(s.Cut),
				PromptTokens: int32(s.PromptTokens), OutputTokens: int32(s.OutputTokens), CachedTokens: int32(s.CachedTokens), MaxTokens: int32(s.MaxTokens), FixedOutput: s.FixedOutput, AskedTokens: int32(s.AskedTokens), Status: int32(s.Status),
				PromptChars: int32(s.PromptChars), OutputChars: int32(s.OutputChars), Resent: int32(s.Resent), UsageAlone: s.UsageAlone, Streamed: s.Streamed, Scheduled: s.Scheduled,
				Epoch: s.Epoch.UnixNano(), InFlight: int32(s.InFlight), Granted: s.Granted, SentBy: s.SentBy, Merged: s.Merged, Admitted: s.Admitted, Clock: s.Clock, Server: q.Server,
			}
			if s.Err != nil {
				want.Error = s.Err.Error()
			}
			assert.DeepEqual(t, *q, want, cmpopts.IgnoreUnexported(records.Request{}), cmpopts.EquateEmpty())
			assert.DeepEqual(t, slices.Collect(q.Gaps()), s.Gaps, cmpopts.EquateEmpty())
			assert.Assert(t, s.InFlight >= 1 && (l.Concurrency == 0 || s.InFlight <= l.Concurrency), "%+v", s)
			if s.Streamed && s.Outcome == sample.OK {
				assert.Assert(t, s.Choices.First > 0 && s.Choices.Last >= s.Last && s.LastEvent >= s.Choices.Last && s.UsageAlone, "%+v", s)
			}
			i++
		}
		assert.Equal(t, i, len(samples))
		// The records give the same values that the benchmark reported.
		figures := run.Figures()
		for unit, v := range result.Extra {
			if u, _ := sample.Find(sample.Units, unit); u.Withheld != "" || strings.HasPrefix(unit, "chat-") || strings.HasPrefix(unit, "rag-") || strings.HasPrefix(unit, "alone-") || unit == "ns/op" || unit == "client-err-%" {
				continue // the records do not say that figures were withheld, as on a busy machine
			}
			if got, ok := figures.Metrics[unit]; !ok || got != v {
				t.Errorf("%s is %v in the records, %v in the result", unit, got, v)
			}
		}
		assert.Assert(t, len(result.Extra) > 8)
	}
}
