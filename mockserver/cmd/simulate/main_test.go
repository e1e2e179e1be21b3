package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"golang.org/x/perf/benchfmt"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestSimulate(t *testing.T) {
	for _, tt := range []struct{ name, args string }{
		{"closed", "-concurrency 1,4,16 -requests 40"},
		{"lengths", "-concurrency 4 -requests 40 -input 500 -output 20"},
		{"open", "-rate 0.5,4 -requests 60 -replicas 1,2 -router least-outstanding"},
		{"azure", "-trace azure:testdata/azure.csv -repeat 3"},
		{"mooncake", "-trace mooncake:testdata/mooncake.jsonl -replicas 2"},
		{"mooncake-prefix", "-trace mooncake:testdata/mooncake.jsonl -replicas 2 -router prefix"},
		{"full", `-rate 50 -requests 60 -engine {"max_queue":4,"max_context":200}`},
		{"too-long", `-concurrency 2 -requests 5 -engine {"max_context":100}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := append([]string{"-profile", "testdata/server.json"}, strings.Fields(tt.args)...)
			if status := run(args, &stdout, &stderr); status != 0 || stderr.Len() > 0 {
				t.Fatalf("simulate %s: status %d, %s", tt.args, status, stderr.String())
			}
			file := filepath.Join("testdata", tt.name+".txt")
			if *update {
				if err := os.WriteFile(file, stdout.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if stdout.String() != string(want) {
				t.Errorf("simulate %s is not %s (-update writes it):\n%s", tt.args, file, stdout.String())
			}
			results := benchfmt.NewReader(&stdout, tt.name)
			for results.Scan() {
				if e, ok := results.Result().(*benchfmt.SyntaxError); ok {
					t.Error(e)
				}
			}
		})
	}
}

func TestBadUsage(t *testing.T) {
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"-profile", "default"}, 1, "profile default: has a fixed rate"},
		{[]string{"-profile", "h100"}, 1, `profile "h100": not known`},
		{[]string{"-engine", `{"max_batch":0}`}, 1, "max_batch: 0, want 1 to"},
		{[]string{"-engine", `{"slots":0}`}, 1, `unknown field "slots"`},
		{[]string{"-concurrency", "0"}, 1, `concurrency: "0", want numbers above 0`},
		{[]string{"-concurrency", "1.5"}, 1, `concurrency: "1.5", want numbers above 0`},
		{[]string{"-rate", "x"}, 1, `rate: "x", want numbers above 0`},
		{[]string{"-router", "random"}, 1, `router: "random", want round-robin, least-outstanding or prefix`},
		{[]string{"-trace", "sharegpt:x"}, 1, `trace: "sharegpt:x", want azure:PATH or mooncake:PATH`},
		{[]string{"-trace", "azure:testdata/none.csv"}, 1, "none.csv: no such file"},
		{[]string{"-trace", "azure:testdata/mooncake.jsonl"}, 1, "trace testdata/mooncake.jsonl: parse error on line 1"},
		{[]string{"-trace", "mooncake:testdata/azure.csv"}, 1, "trace testdata/azure.csv: line 1: invalid character"},
		{[]string{"-profile", "testdata/server.json", "-engine", `{"output":null}`}, 1, "output: 0, and the profile has no curve"},
		{[]string{"now"}, 2, `argument "now": want flags only`},
		{[]string{"-speed", "2"}, 2, "flag provided but not defined: -speed"},
		{[]string{"-help"}, 0, "-router"},
	} {
		var stdout, stderr bytes.Buffer
		if status := run(tt.args, &stdout, &stderr); status != tt.status || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("simulate %v: status %d, %q, want %d and %q", tt.args, status, stderr.String(), tt.status, tt.want)
		}
	}
}

// Two replicas behind any router do no worse than one, and each request is
// served once.
func TestReplicas(t *testing.T) {
	p := engine.Profile{Step: 20_000, StepPerSeq: 500, PrefillPerToken: 100, MaxBatch: 8}
	l := lengths{p, 100, 50}
	for _, router := range []string{"round-robin", "least-outstanding", "prefix"} {
		var before time.Duration
		for _, n := range []int{1, 2, 4} {
			f, err := newFleet(p, n, router)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.closedLoop(l, 32, 200); err != nil {
				t.Fatal(err)
			}
			if f.figures.requests() != 200 || f.figures.output != 200*50 {
				t.Errorf("%s, %d replicas: %d requests and %d tokens, want 200 and 10000", router, n, f.figures.requests(), f.figures.output)
			}
			if before > 0 && f.figures.last > before {
				t.Errorf("%s: %d replicas took %v, half of them %v", router, n, f.figures.last, before)
			}
			before = f.figures.last
		}
	}
}

// BenchmarkTrace is a trace's hour, of requests as Azure's are.
func BenchmarkTrace(b *testing.B) {
	p := engine.Profile{Step: 20_000, StepPerSeq: 300, PrefillPerToken: 40, MaxBatch: 128, KVBlocks: 20_000}
	l := lengths{p, 1155, 211}
	b.ReportAllocs()
	for b.Loop() {
		f, err := newFleet(p, 1, "round-robin")
		if err != nil {
			b.Fatal(err)
		}
		if err := f.openLoop(poisson(l, 5.5, 20_000, 1)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/request")
}
