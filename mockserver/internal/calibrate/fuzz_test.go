package calibrate

import (
	"math"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

// FuzzRecords reads arbitrary files of records. The result must be an error that names the file, or a point
// that can be fitted.
func FuzzRecords(f *testing.F) {
	f.Add(header + request)
	f.Add(header + request + request[:60])
	f.Add(header + strings.Replace(request, `"pass":0`, `"pass":2`, 1))
	f.Add(strings.Replace(header, "true", "false", 2) + `{"id":"a","pass":0,"due_ns":0,"start_ns":0,"first_ns":null,"last_ns":null,"end_ns":9,"gaps_ns":[],"prompt_tokens":1,"output_tokens":1,"outcome":"ok"}` + "\n")
	f.Add(header + request + `{"end":{"outcome":"ok","withheld":["req/s","mean-e2e-ns"]}}` + "\n")
	f.Add(header + strings.Repeat(strings.Replace(request, "ok", "timeout", 1), 3))
	f.Fuzz(func(t *testing.T, text string) {
		s, ok, err := Records(strings.NewReader(text), "r.jsonl", nil)
		if err == nil && !ok {
			t.Fatal("no sample and no error, without a match")
		}
		readBack(t, "r.jsonl", []Sample{s}[:one(err == nil)], err)
	})
}

// FuzzResults reads arbitrary files in Go benchmark format. The result must be an error that names the file, or
// points that can be fitted.
func FuzzResults(f *testing.F) {
	f.Add(benchmarks)
	f.Add("BenchmarkX/concurrency=2-2 1 9 in-tok/req 5 out-tok/req NaN req/s\n")
	f.Add("BenchmarkX/concurrency=2-2 1 9 in-tok/req 5 out-tok/req 1e400 req/s\n")
	f.Add("Unit req/s better=higher\nBenchmarkX/a=b/concurrency=100000 1 0 in-tok/req 1 out-tok/req 3 p50-e2e-ns\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Results(strings.NewReader(text), "r.txt", nil, 0)
		readBack(t, "r.txt", all, err)
	})
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// readBack checks that err names the file or, if err is nil, that the samples make a profile that can be
// fitted.
func readBack(t *testing.T, file string, all []Sample, err error) {
	t.Helper()
	if err != nil {
		if !strings.HasPrefix(err.Error(), file+":") {
			t.Fatalf("%v, want an error that names the file", err)
		}
		return
	}
	for _, s := range all {
		for u, v := range s.Point.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				t.Fatalf("%v %s", v, u)
			}
		}
	}
	workloads, points, err := Merge(all)
	if err != nil {
		return // the samples are of two servers
	}
	p := profiles.Profile{Fit: profiles.Fit{Workloads: workloads}, Points: points}
	if _, err := newModel(p); err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
}
