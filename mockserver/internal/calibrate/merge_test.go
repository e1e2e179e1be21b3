package calibrate

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

const benchmarks = `backend: llamacpp
BenchmarkServe/backend=llamacpp/workload=a/concurrency=4-2 1 512.0 in-tok/req 1000 mean-tpot-ns 128.0 out-tok/req 10 req/s
BenchmarkServe/backend=llamacpp/workload=a/concurrency=4-2 1 512.0 in-tok/req 3000 mean-tpot-ns 128.0 out-tok/req 12 req/s
BenchmarkServe/backend=llamacpp/workload=a/concurrency=4-2 1 512.0 in-tok/req 9000 mean-tpot-ns 128.0 out-tok/req 13 req/s
BenchmarkServe/backend=llamacpp/workload=a/concurrency=1 1 512.0 in-tok/req 500 mean-tpot-ns 128.0 out-tok/req 4 req/s
BenchmarkServe/backend=llamacpp/workload=b/concurrency=4-2 1 64.0 in-tok/req 800 mean-tpot-ns 16.0 out-tok/req 30 req/s
BenchmarkServe/backend=mock/workload=a/concurrency=1 1 512.0 in-tok/req 7 mean-tpot-ns 128.0 out-tok/req 9 req/s
BenchmarkCountTokens-2 1 7 ns/op
`

func TestResults(t *testing.T) {
	all, err := Results(strings.NewReader(benchmarks), "r.txt", []string{"backend=llamacpp"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	workloads, points, err := Merge(all)
	if err != nil {
		t.Fatal(err)
	}
	wantLoads := []profiles.Workload{{Name: "Serve/workload=a", Client: "closed", Constant: true}, {Name: "Serve/workload=b", Client: "closed", Constant: true}}
	if !reflect.DeepEqual(workloads, wantLoads) {
		t.Errorf("workloads %+v, want %+v", workloads, wantLoads)
	}
	point := func(workload string, concurrency, requests int, in, out, tpot, rate float64) profiles.Point {
		return profiles.Point{Workload: workload, Concurrency: concurrency, Requests: requests, Prompt: in, Output: out,
			Values: map[string]float64{"in-tok/req": in, "out-tok/req": out, "mean-tpot-ns": tpot, "req/s": rate}}
	}
	want := []profiles.Point{
		point("Serve/workload=a", 1, 16, 512, 128, 500, 4),
		point("Serve/workload=a", 4, 32, 512, 128, 3000, 12), // the median of three
		point("Serve/workload=b", 4, 32, 64, 16, 800, 30),
	}
	if !reflect.DeepEqual(points, want) {
		t.Errorf("points %+v, want %+v", points, want)
	}
	all, err = Results(strings.NewReader(benchmarks), "r.txt", nil, 100)
	if err != nil || all[0].Point.Requests != 100 {
		t.Fatalf("Results with 100 requests: %+v, %v", all, err)
	}
	if _, _, err := Merge(all); err == nil || err.Error() != `samples of "backend=llamacpp" and of "backend=mock": want one server: choose with -match` {
		t.Errorf("Merge of two servers: %v, want an error that names both", err)
	}
}

const header = `{"version":2,"benchmark":"BenchmarkServe/backend=x/stream=true/concurrency=2","dialect":"openai-chat","stream":true,"concurrency":2,` +
	`"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}` + "\n"

// request is a valid record.
const request = `{"id":"a","pass":0,"due_ns":0,"start_ns":0,"first_ns":100,"last_ns":1000,"end_ns":1100,"gaps_ns":[900],"prompt_tokens":10,"output_tokens":10,"outcome":"ok"}` + "\n"

func TestRecords(t *testing.T) {
	const text = header + request +
		`{"id":"b","pass":0,"due_ns":0,"start_ns":0,"first_ns":300,"last_ns":2100,"end_ns":2200,"gaps_ns":[1800],"prompt_tokens":20,"output_tokens":19,"outcome":"ok"}` + "\n"
	s, ok, err := Records(strings.NewReader(text), "r.jsonl", []string{"stream=true"})
	if err != nil || !ok || s.Server != "backend=x" {
		t.Fatalf("Records = %+v, %v, %v", s, ok, err)
	}
	p := s.Point
	if p.Workload != "Serve/stream=true" || p.Concurrency != 2 || p.Requests != 2 || p.Prompt != 15 || p.Output != 14.5 {
		t.Errorf("the point is %+v, want 2 requests of 15 and 14.5 tokens", p)
	}
	if v := p.Values; v["mean-ttft-ns"] != 200 || v["mean-tpot-ns"] != 100 || v["p50-e2e-ns"] != 1550 {
		t.Errorf("Records: %v, want ttft 200, tpot 100, e2e 1550", v)
	}
	// While a benchmark runs, its name does not end with GOMAXPROCS.
	qwen := strings.Replace(text, "concurrency=2", "model=qwen-7", 1)
	if s, ok, err := Records(strings.NewReader(qwen), "r.jsonl", []string{"model=qwen-7"}); err != nil || !ok || s.Server != "backend=x/model=qwen-7" {
		t.Errorf("Records of qwen-7 = %+v, %v, %v, want the server backend=x/model=qwen-7", s, ok, err)
	}
	// If output lengths differ, the point has their distribution.
	workloads, points, err := Merge([]Sample{s})
	if err != nil || workloads[0].Constant || points[0].Lengths.At(0) != 10 || points[0].Lengths.At(1) != 19 || points[0].Lengths.Validate() != nil {
		t.Errorf("workloads %+v, points %+v, %v, want lengths from 10 to 19", workloads, points, err)
	}
	m := &model{p: profiles.Profile{}}
	if got := m.shape(engine.Profile{}, workloads[0], points[0]).draw(4, 20, 1); len(got) != 4 || got[0]+got[1]+got[2]+got[3] != 80 {
		t.Errorf("lengths of mean 20: %v, want a sum of 80", got)
	}
	if _, ok, err := Records(strings.NewReader(text), "r.jsonl", []string{"stream=false"}); ok || err != nil {
		t.Errorf("Records of another benchmark: %v, %v, want none", ok, err)
	}
	// The last line of a file has the outcome of the benchmark and the units that it withheld.
	ended := strings.Replace(text, `"stream"`, `"ends":true,"stream"`, 1) + `{"end":{"outcome":"ok","withheld":["mean-ttft-ns"]}}` + "\n"
	if s, ok, err := Records(strings.NewReader(ended), "r.jsonl", nil); err != nil || !ok || s.Point.Requests != 2 || s.Point.Values["p50-e2e-ns"] != 1550 {
		t.Errorf("Records with an end = %+v, %v, %v, want the same 2 requests", s, ok, err)
	} else if v, has := s.Point.Values["mean-ttft-ns"]; has {
		t.Errorf("a mean-ttft-ns of %v that was withheld", v)
	}
	// Responses that are not streamed have a latency, but neither TTFT nor TPOT.
	whole := strings.Replace(header, `"stream":true`, `"stream":false`, 1) +
		`{"id":"a","pass":0,"due_ns":50,"start_ns":50,"first_ns":null,"last_ns":null,"end_ns":1100,"prompt_tokens":10,"output_tokens":10,"outcome":"ok"}` + "\n"
	if s, _, err = Records(strings.NewReader(whole), "r.jsonl", nil); err != nil {
		t.Fatal(err)
	}
	if v := s.Point.Values; v["mean-e2e-ns"] != 1050 || v["mean-ttft-ns"] != 0 || v["mean-tpot-ns"] != 0 {
		t.Errorf("not streamed: %v, want an e2e of 1050 and no ttft", v)
	}
}

// TestBadFiles checks that an error names the file and, if it concerns a single line, the line.
func TestBadFiles(t *testing.T) {
	with := func(old, new string) string { return header + request + strings.Replace(request, old, new, 1) }
	failures := header + strings.Repeat(request, 50) + strings.Repeat(strings.Replace(request, `"ok"`, `"timeout"`, 1), 2)
	for _, tt := range []struct{ text, want string }{
		{"", "r.jsonl: empty: want the line about the benchmark"},
		{"{}\n", "r.jsonl:1: want the line about the benchmark"},
		{request, "r.jsonl:1: want the line about the benchmark"},
		{header, "r.jsonl: no request succeeded"},
		{header + request + request[:40], "r.jsonl: the benchmark failed: want one that ended ok: the run was cut"},
		{strings.Replace(header, `"concurrency":2`, `"concurrency":0`, 1) + request, `concurrency: "0": want 1 to 100000`},
		{strings.Replace(header, `"start"`, `"arrivals":"llmbench.Poisson{Rate:2}","start"`, 1) + request, "r.jsonl:1: arrivals: poisson rate=2: want a closed loop"},
		{strings.Replace(header, `"start"`, `"arrivals":{"process":"replay"},"start"`, 1) + request, "r.jsonl:1: arrivals: replay: want a closed loop"},
		{with("100,", "NaN,"), "r.jsonl:3: want a request's record: "},
		{with(`"output_tokens":10`, `"output_tokens":0`), "r.jsonl:3: output_tokens: 0: want 1 to 1073741824"},
		{with(`"prompt_tokens":10`, `"prompt_tokens":2000000000`), "r.jsonl:3: prompt_tokens: 2000000000: want 0 to 1073741824"},
		{with(`"first_ns":100,"last_ns":1000,"end_ns":1100,"gaps_ns":[900]`, `"first_ns":-200000,"last_ns":1000,"end_ns":1100,"gaps_ns":[201000]`), "r.jsonl:3: an instant of -200000 ns"},
		{with(`"first_ns":100,"last_ns":1000,"end_ns":1100,"gaps_ns":[900]`, `"first_ns":0,"last_ns":900,"end_ns":1100,"gaps_ns":[900]`), "r.jsonl:3: start_ns 0 and first_ns 0: want the first delta later"},
		{with(`"first_ns":100,"last_ns":1000,"end_ns":1100,"gaps_ns":[900]`, `"end_ns":0`), "r.jsonl:3: start_ns 0 and end_ns 0: want the end later"},
		{with(`"outcome":"ok"`, `"outcome":"fine"`), `r.jsonl:3: outcome "fine"`},
		{with(`"pass":0`, `"pass":1000000`), "r.jsonl:3: pass 1000000 after pass 0"},
		{header + request + `{"end":{"outcome":"failed","why":"pass 0: interrupted"}}` + "\n", "r.jsonl: the benchmark failed: want one that ended ok: pass 0: interrupted"},
		{header + `{"end":{"outcome":"ok"}}` + "\n" + request, "r.jsonl:3: a line after the line about the end"},
		{strings.Replace(header, `"stream"`, `"ends":true,"stream"`, 1) + request, "r.jsonl: the benchmark failed: want one that ended ok: the run was cut"},
		{failures, "r.jsonl: 2 of 52 requests failed: want 1 % at most"},
	} {
		_, _, err := Records(strings.NewReader(tt.text), "r.jsonl", nil)
		if err == nil || !strings.HasPrefix(err.Error(), "r.jsonl:") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Records(%.200q): %v, want %s", tt.text, err, tt.want)
		}
	}
	const row = "BenchmarkX/concurrency=2-2 1 9 in-tok/req 5 out-tok/req 3 req/s"
	for _, tt := range []struct{ old, new, want string }{
		{"3 req/s", "NaN req/s", "r.txt:2: req/s is NaN: want a finite number"},
		{"3 req/s", "+Inf req/s", "r.txt:2: req/s is +Inf: want a finite number"},
		{"3 req/s", "-3 req/s", "r.txt:2: -3 req/s: want 0 or more"},
		{"3 req/s", "0 req/s", "r.txt:2: 0 req/s: want above 0"},
		{"9 in-tok/req", "", "r.txt:2: no in-tok/req: want how many tokens there were"},
		{"5 out-tok/req", "0 out-tok/req", "r.txt:2: 0 out-tok/req: want 1 to 1073741824"},
		{"3 req/s", "2 fail-% 3 req/s", "r.txt:2: 2 % of the requests failed: want 1 at most"},
		{"concurrency=2-2", "concurrency=0-2", `r.txt:2: X/concurrency=0: concurrency: "0": want 1 to 100000`},
		{"concurrency=2-2", "concurrency=all-2", `r.txt:2: X/concurrency=all: concurrency: "all": want 1 to 100000`},
		{"3 req/s", "3", "r.txt:2: missing units"},
		{"3 req/s", "3 req/s " + strings.Repeat("x", 1<<20), "r.txt:1: bufio.Scanner: token too long"},
	} {
		_, err := Results(strings.NewReader(row+"\n"+strings.Replace(row, tt.old, tt.new, 1)+"\n"), "r.txt", nil, 0)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Results with %.100q for %q: %v, want %s", tt.new, tt.old, err, tt.want)
		}
	}
}
