package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/testkit/flagdoc"
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
			synctest.Test(t, func(t *testing.T) { // on the fake clock, no load takes long enough for a progress report
				if status := run(args, &stdout, &stderr); status != 0 || stderr.Len() > 0 {
					t.Fatalf("simulate %s: status %d, %s, want 0 and nothing on standard error", tt.args, status, stderr.String())
				}
			})
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
		{[]string{"-engine", `{"max_batch":0}`}, 1, "max_batch: 0: want 1 to"},
		{[]string{"-engine", `{"slots":0}`}, 1, `unknown field "slots"`},
		{[]string{"-concurrency", "0"}, 2, `-concurrency "0": "0": want whole numbers above 0`},
		{[]string{"-concurrency", "8,1.5"}, 2, `-concurrency "8,1.5": "1.5": want whole numbers above 0`},
		{[]string{"-concurrency", "5,8,64", "-requests", "5"}, 2, "-concurrency 8: want at most -requests, 5"},
		{[]string{"-concurrency", "1000000", "-requests", "999999"}, 2, "-concurrency 1000000: want at most -requests, 999999"},
		{[]string{"-requests", "7"}, 2, "-concurrency 8: want at most -requests, 7"},
		{[]string{"-rate", "x"}, 2, `-rate "x": "x": want numbers above 0`},
		{[]string{"-rate", "NaN"}, 2, `"NaN": want numbers above 0`},
		{[]string{"-replicas", "100000"}, 2, `"100000": want whole numbers above 0, to 10000`},
		{[]string{"-requests", "0"}, 2, "-requests 0: want 1 to"},
		{[]string{"-repeat", "0", "-trace", "azure:x"}, 2, "-repeat 0: want 1 to"},
		{[]string{"-repeat", "2"}, 2, "-repeat without -trace"},
		{[]string{"-input", "-1"}, 2, "-input -1: want 0 to"},
		{[]string{"-output", "-1"}, 2, "-output -1: want 0 to"},
		{[]string{"-rate", "1", "-concurrency", "2"}, 2, "-rate and -concurrency are both set: want only one"},
		{[]string{"-trace", "azure:x", "-requests", "2"}, 2, "-trace and -requests are both set: want only one"},
		{[]string{"-router", "random"}, 2, `-router: "random": want round-robin, least-outstanding, prefix or prefix-hash`},
		{[]string{"-trace", "sharegpt:x"}, 2, `-trace "sharegpt:x": want azure:PATH or mooncake:PATH`},
		{[]string{"-trace", "azure"}, 2, `-trace "azure": want azure:PATH or mooncake:PATH`},
		{[]string{"-trace", "mooncake:/dev/null"}, 1, "trace /dev/null: no requests"},
		{[]string{"-trace", "azure:testdata/none.csv"}, 1, "none.csv: no such file"},
		{[]string{"-trace", "azure:testdata/mooncake.jsonl"}, 1, "trace testdata/mooncake.jsonl: parse error on line 1"},
		{[]string{"-trace", "mooncake:testdata/azure.csv"}, 1, "trace testdata/azure.csv: line 1: invalid character"},
		{[]string{"-profile", "testdata/server.json", "-engine", `{"output":null}`}, 1, "output: 0 and the profile has no distribution"},
		{[]string{"now"}, 2, `argument "now": want flags only`},
		{[]string{"-speed", "2"}, 2, "flag provided but not defined: -speed"},
		{[]string{"-help"}, 0, "usage: simulate [flags]\n\n  -concurrency"},
	} {
		var stdout, stderr bytes.Buffer
		if status := run(tt.args, &stdout, &stderr); status != tt.status || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("simulate %v: status %d, %q, want %d and %q", tt.args, status, stderr.String(), tt.status, tt.want)
		}
	}
}

func quiet(string) {}

// TestReplicas checks that twice as many replicas are not slower with any router, and that each request is
// served exactly once.
func TestReplicas(t *testing.T) {
	p := engine.Profile{Step: 20_000, StepPerSeq: 500, PrefillPerToken: 100, MaxBatch: 8}
	l := lengths{p, 100, 50}
	for _, router := range []string{"round-robin", "least-outstanding", "prefix", "prefix-hash"} {
		var before time.Duration
		for _, n := range []int{1, 2, 4} {
			f, err := newFleet(p, n, router)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.closedLoop(l, 32, 200, quiet); err != nil {
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

// BenchmarkTrace serves a trace of one hour in Azure's format.
func BenchmarkTrace(b *testing.B) {
	p := engine.Profile{Step: 20_000, StepPerSeq: 300, PrefillPerToken: 40, MaxBatch: 128, KVBlocks: 20_000}
	l := lengths{p, 1155, 211}
	b.ReportAllocs()
	for b.Loop() {
		f, err := newFleet(p, 1, "round-robin")
		if err != nil {
			b.Fatal(err)
		}
		if err := f.openLoop(poisson(l, 5.5, 20_000, 1), quiet); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/request")
}

// TestBadTraces checks that the error for an invalid line has the line number.
func TestBadTraces(t *testing.T) {
	const head, line = "TIMESTAMP,ContextTokens,GeneratedTokens\n", "2023-11-16 18:15:46.6805900,374,44\n"
	const ask = `{"timestamp":5,"input_length":9,"output_length":5,"hash_ids":[0]}` + "\n"
	for _, tt := range []struct{ kind, text, want string }{
		{"azure", head + line + "2023-11-16 18:15:46.6,-1,4\n", "line 3: -1 prompt and 4 output tokens: want 0 or more"},
		{"azure", head + line + "2023-11-16 18:15:40,374,44\n", "request 2 arrives at -6.68059s: want 0s (the arrival before)"},
		{"azure", head + line + "2023-11-16 18:15:50,374\n", "record on line 3: wrong number of fields"},
		{"azure", head + line + "now,374,44\n", `line 3: parsing time "now"`},
		{"azure", head, "no requests"},
		{"mooncake", ask + "{\n", "line 2: unexpected end of JSON input"},
		{"mooncake", ask + strings.Replace(ask, "5", "4", 1), "request 2 arrives at 4ms: want 5ms (the arrival before)"},
		{"mooncake", ask + strings.Replace(ask, "9", "-9", 1), "line 2: input_length -9 and output_length 5: want 0 or more"},
		{"mooncake", ask + strings.Replace(ask, "5", "1e300", 1), "line 2: timestamp: 1e+300: want 0 to 3.6e+10 milliseconds"},
		{"mooncake", ask + strings.Repeat(" ", 17<<20), "line 2: bufio.Scanner: token too long"},
	} {
		file := filepath.Join(t.TempDir(), "trace")
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		status := run([]string{"-profile", "testdata/server.json", "-trace", tt.kind + ":" + file}, &stdout, &stderr)
		if status != 1 || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%s %.200q: status %d, %q, want 1 and %s", tt.kind, tt.text, status, stderr.String(), tt.want)
		}
	}
}

// FuzzTrace checks that any trace is either served or leads to an error with the file's name.
func FuzzTrace(f *testing.F) {
	for _, kind := range traces {
		for _, file := range []string{"testdata/azure.csv", "testdata/mooncake.jsonl"} {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(kind, text)
		}
	}
	p := engine.Profile{Step: 1000, MaxBatch: 4, KVBlocks: 1000, PrefixCache: true, MaxQueue: 100}
	f.Fuzz(func(t *testing.T, kind string, text []byte) {
		if !slices.Contains(traces, kind) {
			return
		}
		file := filepath.Join(t.TempDir(), "trace")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		load := trace(kind+":"+file, 2, p.Block())
		fl, err := newFleet(p, 2, "prefix")
		if err != nil {
			t.Fatal(err)
		}
		if err := fl.openLoop(load, quiet); err != nil {
			if !strings.Contains(err.Error(), file) && !strings.Contains(err.Error(), "request ") {
				t.Fatalf("%v, want an error that names the file or the request", err)
			}
			return
		}
		if fl.figures.requests() != fl.figures.sent {
			t.Fatalf("%d requests ended, %d were sent", fl.figures.requests(), fl.figures.sent)
		}
	})
}

// TestMooncakeBlocks checks, for several block sizes, that a block of two prompts has the same name if and only
// if the prompts agree up to the end of the block.
func TestMooncakeBlocks(t *testing.T) {
	const text = `{"timestamp":0,"input_length":1300,"output_length":5,"hash_ids":[0,1,2]}
{"timestamp":1,"input_length":1300,"output_length":5,"hash_ids":[0,1,3]}
{"timestamp":2,"input_length":600,"output_length":5,"hash_ids":[0,4]}
`
	for _, block := range []int{1, 16, 100, 500, 512, 700, 1024, 4000} {
		var all [][]uint64
		mooncake(strings.NewReader(text), block, func(r request, err error) bool {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r.job.Prefix)
			return true
		})
		agree := func(a, b []uint64) int {
			n := 0
			for n < min(len(a), len(b)) && a[n] == b[n] {
				n++
			}
			return n
		}
		if len(all[0]) != 1300/block || agree(all[0], all[1]) != 1024/block || agree(all[0], all[2]) != 512/block {
			t.Errorf("blocks of %d: %d names, %d and %d of them alike, want %d, %d and %d", block,
				len(all[0]), agree(all[0], all[1]), agree(all[0], all[2]), 1300/block, 1024/block, 512/block)
		}
		seen := map[uint64]bool{}
		for _, name := range all[0] {
			if seen[name] {
				t.Errorf("blocks of %d: two of one prompt have the name %d", block, name)
			}
			seen[name] = true
		}
	}
}

// TestSeed checks that the load, including the lengths, depends only on the seed.
func TestSeed(t *testing.T) {
	out := func(seed string) string {
		var stdout, stderr bytes.Buffer
		if status := run([]string{"-profile", "testdata/server.json", "-concurrency", "4", "-requests", "40", "-seed", seed}, &stdout, &stderr); status != 0 {
			t.Fatal(stderr.String())
		}
		return stdout.String()
	}
	if one, same, other := out("1"), out("1"), out("2"); one != same || one == other {
		t.Errorf("seed 1: %s and %s, seed 2: %s", one, same, other)
	}
}

// The command's documentation has the same flags as -help.
func TestDocumentedFlags(t *testing.T) { flagdoc.Test(t, run) }
