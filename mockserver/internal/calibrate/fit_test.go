package calibrate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/profiles"
)

// truth is a server whose speed is known.
var truth = engine.Profile{Step: 22_000, StepPerSeq: 310, Prefill: 9_000, PrefillPerToken: 140, PrefillSeqs: 16, MaxBatch: 32}

// observed is a profile of the truth, measured at some concurrencies with two
// lengths of prompts.
func observed(t *testing.T, concurrencies ...int) profiles.Profile {
	t.Helper()
	p := profiles.Profile{
		Name:   "truth",
		Engine: engine.Profile{PrefillSeqs: 16, MaxBatch: 32},
		Fit: profiles.Fit{
			Vary:      []string{"step_us", "step_per_seq_us", "prefill_us", "prefill_per_token_us"},
			Workloads: []profiles.Workload{{Name: "short", Client: "closed", Constant: true}, {Name: "long", Client: "closed", Constant: true}},
		},
	}
	for _, w := range []struct {
		name   string
		prompt int
	}{{"short", 50}, {"long", 900}} {
		for _, c := range concurrencies {
			var jobs []engine.Job
			for range 8 * c {
				jobs = append(jobs, engine.Job{Prompt: w.prompt, Output: 60})
			}
			r, err := client{concurrency: c}.send(truth, jobs, nil)
			if err != nil {
				t.Fatal(err)
			}
			p.Points = append(p.Points, profiles.Point{
				Workload: w.name, Concurrency: c, Requests: len(jobs), Prompt: float64(w.prompt), Output: 60, Values: r.closed(0),
			})
		}
	}
	return p
}

// What was measured of a known server gives that server back, and predicts what
// has not been measured.
func TestFitFindsTheTruth(t *testing.T) {
	p, err := Fit(observed(t, 1, 3, 8, 20), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		name      string
		got, want float64
	}{
		{"step_us", p.Engine.Step, truth.Step}, {"step_per_seq_us", p.Engine.StepPerSeq, truth.StepPerSeq},
		{"prefill_us", p.Engine.Prefill, truth.Prefill}, {"prefill_per_token_us", p.Engine.PrefillPerToken, truth.PrefillPerToken},
	} {
		if off := math.Abs(f.got/f.want - 1); off > .03 {
			t.Errorf("%s = %v, want %v", f.name, f.got, f.want)
		}
	}
	if len(p.Fit.Unidentified) > 0 {
		t.Errorf("unidentified: %v, want nothing", p.Fit.Unidentified)
	}
	for _, e := range p.HeldOut {
		if e.Most > 3 {
			t.Errorf("held-out errors %+v, want at most 3 %%", e)
		}
	}
}

// A fold that a profile holds is what the calibrator finds: on another machine the
// last digits may differ, and with them where a simplex ends.
func TestRefit(t *testing.T) {
	p, err := profiles.Load("mindie-qwen1.5-7b-910b4-long")
	if err != nil {
		t.Fatal(err)
	}
	m, err := newModel(p)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.fit(without(len(p.Points), p.Folds[0].HeldOut))
	if err != nil {
		t.Fatal(err)
	}
	p.Folds[0].Engine = m.values(e)
	all, err := Predict(p)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range Errors(all) {
		if want := p.HeldOut[i]; math.Abs(e.Median-want.Median) > 1 || math.Abs(e.Most-want.Most) > 1.5 {
			t.Errorf("fitted again, the held-out error is %+v, the profile has %+v", e, want)
		}
	}
}

// One client at a time says nothing of what a second would cost.
func TestUnidentified(t *testing.T) {
	p, err := Fit(observed(t, 1), 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"step_per_seq_us"}; !slices.Equal(p.Fit.Unidentified, want) {
		t.Errorf("unidentified: %v, want %v", p.Fit.Unidentified, want)
	}
}

// EvalScope's worker dies if its first request times out, and only then.
func TestMortalClient(t *testing.T) {
	e := engine.Profile{Step: 100_000, MaxBatch: 2}
	var jobs []engine.Job
	for _, output := range []int{10, 10, 100, 10, 10, 10, 100, 10} {
		jobs = append(jobs, engine.Job{Output: output})
	}
	for _, tt := range []struct {
		mortal                  bool
		succeeded, failed, lost float64
	}{{true, 6, 1, 1}, {false, 6, 2, 0}} {
		r, err := client{concurrency: 3, timeout: 5e9, mortal: tt.mortal}.send(e, jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := r.evalscope()
		n := 0.0
		for _, q := range r.requests {
			if q.state == succeeded {
				n++
			}
		}
		if n != tt.succeeded || v["failed-req"] != tt.failed || v["lost-req"] != tt.lost {
			t.Errorf("mortal %v: %v succeeded, %v failed, %v lost, want %+v", tt.mortal, n, v["failed-req"], v["lost-req"], tt)
		}
	}
}

func TestBadProfiles(t *testing.T) {
	good := observed(t, 1)
	for _, tt := range []struct {
		change func(*profiles.Profile)
		want   string
	}{
		{func(p *profiles.Profile) { p.Fit.Vary = []string{"step_ms"} }, `profile truth: fit.vary: "step_ms", want one of step_us, `},
		{func(p *profiles.Profile) { p.Fit.Workloads[0].Client = "wrk" }, `profile truth: workload short: client: "wrk", want evalscope or closed`},
		{func(p *profiles.Profile) { p.Points[0].Workload = "medium" }, `profile truth: points[0].workload: "medium", want one of fit.workloads`},
	} {
		data, err := json.Marshal(good)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profiles.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		tt.change(&p)
		if _, err := Fit(p, 2); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("Fit: %v, want %q", err, tt.want)
		}
	}
}

// The curve goes through the percentiles, and its mean is the measured one.
func TestShape(t *testing.T) {
	p := profiles.Point{Values: map[string]float64{"mean-e2e-ns": 100, "p50-e2e-ns": 90, "p90-e2e-ns": 180, "p99-e2e-ns": 300}}
	s := shapeOf(p, 0)
	for _, q := range []struct{ share, want float64 }{{.5, .9}, {.9, 1.8}, {.99, 3}} {
		if got := s(q.share); math.Abs(got-q.want) > 1e-9 {
			t.Errorf("shape(%v) = %v, want %v", q.share, got, q.want)
		}
	}
	sum := 0
	for _, l := range s.draw(1000, 240, 1) {
		sum += l
	}
	if got := float64(sum) / 1000; math.Abs(got-240) > 1 {
		t.Errorf("the mean of 1000 lengths is %v, want 240", got)
	}
	if fmt.Sprint(s.draw(9, 20, 1)) == fmt.Sprint(s.draw(9, 20, 2)) {
		t.Error("two seeds give one order")
	}
}

func TestResultsAndRecords(t *testing.T) {
	const text = `backend: llamacpp
BenchmarkServe/backend=llamacpp/stream=true/concurrency=4-2 1 512.0 in-tok/req 1000 mean-tpot-ns 128.0 out-tok/req 10 req/s
BenchmarkServe/backend=llamacpp/stream=true/concurrency=4-2 1 512.0 in-tok/req 3000 mean-tpot-ns 128.0 out-tok/req 12 req/s
BenchmarkServe/backend=llamacpp/stream=true/concurrency=1 1 512.0 in-tok/req 500 mean-tpot-ns 128.0 out-tok/req 4 req/s
BenchmarkServe/backend=mock/stream=true/concurrency=1 1 512.0 in-tok/req 7 mean-tpot-ns 128.0 out-tok/req 9 req/s
`
	points, err := Results(strings.NewReader(text), "r.txt", []string{"backend=llamacpp"}, 0)
	if err != nil || len(points) != 2 || points[0].Concurrency != 1 || points[1].Concurrency != 4 {
		t.Fatalf("Results = %+v, %v, want points at 1 and 4", points, err)
	}
	if p := points[1]; p.Requests != 32 || p.Output != 128 || p.Values["req/s"] != 11 || p.Values["mean-tpot-ns"] != 2000 {
		t.Errorf("the point at 4 is %+v, want the mean of two", p)
	}
	if _, err := Results(strings.NewReader("BenchmarkX/concurrency=1 1 5 req/s\n"), "r.txt", nil, 0); err == nil || !strings.Contains(err.Error(), "no out-tok/req") {
		t.Errorf("Results without lengths: %v, want an error", err)
	}
	const records = `{"benchmark":"BenchmarkServe","concurrency":2}
{"id":"a","start_ns":0,"first_ns":100,"last_ns":1000,"end_ns":1100,"prompt_tokens":10,"output_tokens":10,"outcome":"ok"}
{"id":"b","start_ns":0,"first_ns":300,"last_ns":2100,"end_ns":2200,"prompt_tokens":20,"output_tokens":19,"outcome":"ok"}
{"id":"c","start_ns":0,"end_ns":9000,"prompt_tokens":20,"output_tokens":3,"outcome":"timeout"}
`
	p, err := Records(strings.NewReader(records), "r.jsonl")
	if err != nil || p.Concurrency != 2 || p.Requests != 3 || p.Prompt != 15 || p.Output != 14.5 {
		t.Fatalf("Records = %+v, %v, want 3 requests of 15 and 14.5 tokens", p, err)
	}
	if v := p.Values; v["mean-ttft-ns"] != 200 || v["mean-tpot-ns"] != 100 || v["p50-e2e-ns"] != 1550 {
		t.Errorf("Records: %v, want ttft 200, tpot 100, e2e 1550", v)
	}
	for _, bad := range []string{"", "{}\n", records + "{\n"} {
		if _, err := Records(strings.NewReader(bad), "r.jsonl"); err == nil || !strings.Contains(err.Error(), "r.jsonl") {
			t.Errorf("Records(%q): %v, want an error that names the file", bad, err)
		}
	}
}
