package browser

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report"
)

// A simulated is a system whose records the test writes.
type simulated struct {
	backend string
	tpot    int64 // the time per token of one user
	slots   int   // the number of users that are served at the same time without a loss
	fails   int   // one of this many requests fails; 0 means that none fails
	bound   bool  // whether the client distorted the p99 of the ITL
}

// write writes the records of one sample to a folder. The load is a closed loop.
func (s simulated) write(t *testing.T, dir string, concurrency, sample int) {
	t.Helper()
	const tokens = 32
	rng := rand.New(rand.NewPCG(uint64(concurrency), uint64(sample)))
	var b strings.Builder
	fmt.Fprintf(&b, `{"version":1,"benchmark":"BenchmarkServe/backend=%s/model=demo-7b/workload=random-512x32/stream=true/concurrency=%d","config":{"backend":"%[1]s","hardware":"simulated","commit":"4b5ea06"},"dialect":"openai-chat","model":"demo-7b","stream":true,"concurrency":%[2]d,"slo":"ttft=500ms,tpot=40ms","start":"2026-01-02T03:04:05Z","ends":true,"host":{"go":"go1.26","os":"linux","arch":"amd64","cpus":8,"gomaxprocs":8}}`+"\n", s.backend, concurrency)
	free := make([]int64, concurrency)
	slow := max(1, float64(concurrency)/float64(s.slots))
	for i := range max(48, 6*concurrency) {
		start := free[i%concurrency]
		first := start + int64(slow*float64(40e6+rng.Int64N(30e6)))
		last, gaps := first, []string(nil)
		for range tokens - 1 {
			gap := int64(slow * float64(s.tpot+rng.Int64N(s.tpot/4)))
			last += gap
			gaps = append(gaps, fmt.Sprint(gap))
		}
		outcome := "ok"
		if s.fails > 0 && i%s.fails == s.fails-1 {
			outcome = `truncated","error":"the stream ended before [DONE]`
		}
		fmt.Fprintf(&b, `{"id":"a-%d","pass":0,"due_ns":%d,"start_ns":%[2]d,"connect_ns":0,"wrote_ns":%d,"first_byte_ns":%d,"first_ns":%d,"last_ns":%d,"end_ns":%d,"gaps_ns":[%s],"prompt_tokens":512,"output_tokens":%d,"token_source":"usage","outcome":"%s","status":200}`+"\n",
			i, start, start+9000, first-90000, first, last, last+100000, strings.Join(gaps, ","), tokens, outcome)
		free[i%concurrency] = last + 100000
	}
	b.WriteString(`{"end":{"outcome":"ok"`)
	if s.bound && concurrency == 32 {
		b.WriteString(`,"withheld":["p99-itl-ns"],"notes":[{"kind":"client","doubt":true,"units":["p99-itl-ns"],"text":"the client may distort these figures by more than 5%: p99-itl-ns 37% (at most 91%)"}]`)
	} else if concurrency > 8 {
		fmt.Fprintf(&b, `,"notes":[{"kind":"connections","text":"%d of %d requests had to open a connection; the time it took is in their latency, and in the records"}]`, concurrency-8, max(48, 6*concurrency))
	}
	b.WriteString("}}\n")
	name := fmt.Sprintf("serve-%s-%d.%d.jsonl", s.backend, concurrency, sample)
	assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600))
}

// sweep writes results of six loads to dir, with records.
func (s simulated) sweep(t *testing.T, dir string, samples int) {
	t.Helper()
	for concurrency := 1; concurrency <= 32; concurrency *= 2 {
		for sample := range samples {
			s.write(t, dir, concurrency, sample+1)
		}
	}
}

// systems returns a report about three systems. Each has six loads, with three samples and with
// records.
func systems(t *testing.T) *report.Report {
	t.Helper()
	dir := t.TempDir()
	for _, s := range []simulated{{backend: "server-a", tpot: 9e6, slots: 16}, {backend: "server-b", tpot: 8e6, slots: 8, bound: true}, {backend: "server-c", tpot: 12e6, slots: 4, fails: 17}} {
		s.sweep(t, dir, 3)
	}
	return reportOf(t, report.Options{Title: "Three simulated servers", Command: "benchreport out"}, dir)
}

// sixteen returns a report about sixteen systems. Each has six loads, with five samples and with records.
func sixteen(t *testing.T) *report.Report {
	t.Helper()
	dir := t.TempDir()
	for i := range 16 {
		s := simulated{backend: fmt.Sprintf("server-%02d", i+1), tpot: 6e6 + 5e5*int64(i), slots: 4 + i}
		s.sweep(t, dir, 5)
	}
	return reportOf(t, report.Options{Title: "Sixteen servers", Command: "benchreport out"}, dir)
}

// pair returns a report about two systems, of which one is faster for few users and the other for many.
func pair(t *testing.T) *report.Report {
	t.Helper()
	dir := t.TempDir()
	for _, s := range []simulated{{backend: "fp16", tpot: 9e6, slots: 24}, {backend: "awq", tpot: 6e6, slots: 9}} {
		s.sweep(t, dir, 3)
	}
	return reportOf(t, report.Options{Title: "Two quantizations", Command: "benchreport -price 2.49/h out", Prices: map[string]float64{"": 2.49}}, dir)
}

// verdict returns a report that compares two versions of a server, both directly and through a
// gateway.
func verdict(t *testing.T) *report.Report {
	t.Helper()
	dir := t.TempDir()
	var files [2]string
	for i := range files {
		var b strings.Builder
		b.WriteString("Unit output-tok/s better=higher gate=2%\nUnit p50-ttft-ns better=lower gate=5%\nUnit mean-tpot-ns better=lower gate=2%\n")
		for sample := range 10 {
			for _, path := range []string{"direct", "gateway"} {
				for _, c := range []int{1, 8, 32} {
					slower := 1.0
					if i == 1 && path == "gateway" && c == 32 {
						slower = 1.08
					}
					noise := 1 + float64((sample*7+c)%10)/1000
					fmt.Fprintf(&b, "BenchmarkServe/backend=vllm/path=%s/model=qwen2-7b/concurrency=%d 1 %v output-tok/s %v p50-ttft-ns %v mean-tpot-ns\n",
						path, c, 110*float64(c)/slower*noise, 40e6*slower*noise, 9.1e6*slower*noise)
				}
			}
			b.WriteString("PASS\n") // each sample comes from a separate process
		}
		files[i] = filepath.Join(dir, []string{"old.txt", "new.txt"}[i])
		assert.NilError(t, os.WriteFile(files[i], []byte(b.String()), 0o600))
	}
	var sides [2]gate.File
	for i, name := range files {
		text, err := os.ReadFile(name)
		assert.NilError(t, err)
		sides[i] = gate.File{Name: filepath.Base(name), Data: strings.NewReader(string(text))}
	}
	judged, err := gate.Compare(gate.File{}, sides[0], sides[1], gate.Options{})
	assert.NilError(t, err)
	return reportOf(t, report.Options{Title: "A pull request", Verdict: judged}, files[:]...)
}

// catalogue returns a report about many benchmarks of one simulated server, and about the harness.
func catalogue(t *testing.T) *report.Report {
	t.Helper()
	var b strings.Builder
	b.WriteString("# the server is simulated: TTFT 20ms, TPOT 1.5ms, 32 requests at once\nbackend: mock\n")
	for i, base := range []string{"Chat", "Serve", "Concurrency", "OpenQA", "Decode"} {
		for c := 1; c <= 8; c *= 2 << (i % 3) {
			fmt.Fprintf(&b, "Benchmark%s/backend=mock/model=mock/workload=random-512x200/stream=true/concurrency=%d-2 1 %d output-tok/s 20500000 p50-ttft-ns 1510000 mean-tpot-ns %d p50-e2e-ns\n", base, c, 600*c, 320000000+c*1000000)
		}
	}
	b.WriteString("BenchmarkSLO/backend=mock/model=mock/workload=random-64x8/stream=true/of=concurrency-2 1 23 slo-concurrency 25 slo-missed-concurrency\n" +
		"BenchmarkSweep/backend=mock/model=mock/workload=random-64x16/stream=true/upto=512/knee=power-2 1 8 knee-concurrency 2870 knee-output-tok/s\n" +
		"BenchmarkPrefixCache/backend=mock/model=mock/workload=prefixes-4x8/stream=true/concurrency=1-2 1 410 output-tok/s 77.8 srv-prefix-hit-% 77.8 implied-hit-%\n" +
		"BenchmarkAccuracy/backend=mock/model=mock/workload=arithmetic/stream=true/concurrency=1-2 1 334 output-tok/s 100 accuracy-% 24 checked-req\n" +
		"--- BENCH: BenchmarkAccuracy/backend=mock/model=mock/workload=arithmetic/stream=true/concurrency=1-2\n    a.go:1: llmbench warns (rate): pass 0: 45 requests per second were asked for, and 44.36 sent\n" +
		"BenchmarkError/tokens=spread/concurrency=64-2 1 5690 p50-ttft-err-ns 24600 p99-ttft-err-ns\n")
	path := filepath.Join(t.TempDir(), "main.txt")
	assert.NilError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return reportOf(t, report.Options{Title: "The main job", Command: "benchreport main.txt"}, path)
}

// published returns a report about published results, and about records with hostile texts.
func published(t *testing.T) *report.Report {
	t.Helper()
	var records strings.Builder
	records.WriteString(`{"version":1,"benchmark":"BenchmarkServe/backend=mock/model=<script>alert(1)</script>/concurrency=8","dialect":"openai-chat","model":"m","stream":true,"concurrency":8,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}` + "\n")
	for i := range 160 {
		outcome := "ok"
		if i%9 == 8 {
			outcome = `truncated","error":"cut <img src=x onerror=alert(1)>`
		}
		at := i/8*250_000_000 + i%8*1_000_000
		first := at + 20_000_000 + i%7*9_000_000
		fmt.Fprintf(&records, `{"id":"a-%d","pass":0,"due_ns":%d,"start_ns":%d,"connect_ns":0,"first_ns":%d,"last_ns":%d,"end_ns":%d,"gaps_ns":[50000000,%d],"prompt_tokens":5,"output_tokens":3,"token_source":"usage","outcome":"%s","status":200}`+"\n",
			i, at, at, first, first+80_000_000+i*100_000, first+90_000_000+i*100_000, 30_000_000+i*100_000, outcome)
	}
	path := filepath.Join(t.TempDir(), "records.jsonl")
	assert.NilError(t, os.WriteFile(path, []byte(records.String()), 0o600))
	return reportOf(t, report.Options{Title: "Published results", Command: "benchreport benchdata/published"}, "../../../benchdata/published", path)
}

func reportOf(t *testing.T, o report.Options, paths ...string) *report.Report {
	t.Helper()
	d, err := report.Read(paths...)
	assert.NilError(t, err)
	r, err := report.New(d, o)
	assert.NilError(t, err)
	return r
}
