package calibrate

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

// truth is a server whose speed is known.
var truth = engine.Profile{Step: 22_000, StepPerSeq: 310, Prefill: 9_000, PrefillPerToken: 140, PrefillSeqs: 16, MaxBatch: 32}

// observed returns a profile with measurements of the server truth at the given concurrencies, with prompts of
// two lengths.
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

// TestFitFindsTheTruth checks that a fit to measurements of a known server finds the server's times, and that
// it predicts load points that it has not seen.
func TestFitFindsTheTruth(t *testing.T) {
	t.Parallel()
	p, err := Fit(observed(t, 1, 3, 8, 20))
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
		t.Errorf("unidentified: %v, want none", p.Fit.Unidentified)
	}
	for _, e := range p.HeldOut {
		if e.Most > 3 {
			t.Errorf("held-out errors %+v, want at most 3 %%", e)
		}
	}
}

var refitAll = flag.Bool("refit", false, "fit every fold of every profile again, not only one of each")

// TestRefit checks that a new fit agrees with the folds in the profiles. On another machine, the last digits of
// the errors may differ, so a fit may end at a slightly different point.
func TestRefit(t *testing.T) {
	t.Parallel()
	for _, name := range profiles.Names() {
		p, err := profiles.Load(name)
		assert.NilError(t, err)
		m, err := newModel(p)
		assert.NilError(t, err)
		p.Engine = noFit(m, p.Engine)
		if m, err = newModel(p); err != nil {
			t.Fatal(err)
		}
		for k, f := range p.Folds {
			if k > 0 && !*refitAll {
				break
			}
			train := without(len(p.Points), f.HeldOut)
			e, err := m.fit(train)
			assert.NilError(t, err)
			q := p
			q.Folds = []profiles.Fold{f}
			want, err := Predict(q)
			assert.NilError(t, err)
			q.Folds = []profiles.Fold{{HeldOut: f.HeldOut, Engine: m.values(e)}}
			got, err := Predict(q)
			assert.NilError(t, err)
			for i := range want {
				for _, u := range want[i].Units {
					if off := math.Abs(got[i].Off(u) - want[i].Off(u)); off > .1*max(1, want[i].Gain) {
						t.Errorf("%s, fold %d fitted again, %v: %s at %d is off by %+.2f %%, by %+.2f %% with the fold in the profile, %v",
							name, k, m.values(e), u, want[i].Point.Concurrency, got[i].Off(u), want[i].Off(u), f.Engine)
					}
				}
			}
		}
	}
}

// noFit returns the engine without the fields that a fit finds.
func noFit(m *model, e engine.Profile) engine.Profile {
	for name := range m.values(e) {
		f, _ := fieldNamed(name)
		f.set(&e, 1)
	}
	e.Output = nil
	return e
}

// TestHeldOutPointsLendNothing checks that no measurement of a held-out point influences the point's prediction
// or the fit.
func TestHeldOutPointsLendNothing(t *testing.T) {
	t.Parallel()
	for _, name := range profiles.Names() {
		p, err := profiles.Load(name)
		assert.NilError(t, err)
		if len(p.Folds) == 0 {
			continue
		}
		for _, k := range []int{0, len(p.Folds) - 1} {
			p.Folds = p.Folds[k : k+1]
			held := p.Folds[0].HeldOut
			changed := p
			changed.Points = slices.Clone(p.Points)
			for _, i := range held {
				q := p.Points[i]
				changed.Points[i] = profiles.Point{
					Workload: q.Workload, Concurrency: q.Concurrency, Requests: q.Requests, Prompt: q.Prompt, Asked: q.Asked,
					Output: 3 * q.Output, Censored: !q.Censored, Runaway: []int{0}, RunawayTokens: 5, Lengths: engine.Lengths{{0, 1}, {1, 9}},
					Values: map[string]float64{"req/s": 7, "mean-tpot-ns": 1, "mean-e2e-ns": 1, "p50-e2e-ns": 1, "p90-e2e-ns": 1},
				}
			}
			want, err := Predict(p)
			assert.NilError(t, err)
			got, err := Predict(changed)
			assert.NilError(t, err)
			for i := range want {
				assert.DeepEqual(t, got[i].Predicted, want[i].Predicted)
			}
			if name == "vllm-qwen2.5-72b" || name == "vllm-llama2-7b-strix-halo" || name == "tgi-yi-6b" { // the other profiles take longer to fit
				assert.DeepEqual(t, fitted(t, changed, held), fitted(t, p, held))
			}
			if p, err = profiles.Load(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// fitted returns the field values that a fit without the held-out points finds.
func fitted(t *testing.T, p profiles.Profile, held []int) map[string]float64 {
	t.Helper()
	m, err := newModel(p)
	assert.NilError(t, err)
	e, err := m.fit(without(len(p.Points), held))
	assert.NilError(t, err)
	return m.values(e)
}

// TestUnidentified checks the fields that a fit reports as not determined. With one request at a time, the cost
// of a step cannot be told from the cost of a sequence in the batch.
func TestUnidentified(t *testing.T) {
	p, err := Fit(observed(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"step_us", "step_per_seq_us"}; !slices.Equal(p.Fit.Unidentified, want) {
		t.Errorf("unidentified: %v, want %v", p.Fit.Unidentified, want)
	}
}

// TestMortalClient checks that a worker of EvalScope dies if its first request times out, and only then.
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
		{func(p *profiles.Profile) { p.Fit.Vary = []string{"step_ms"} }, `profile truth: fit.vary: "step_ms": want one of step_us, `},
		{func(p *profiles.Profile) { p.Fit.Workloads[0].Client = "wrk" }, `profile truth: fit.workloads[0].client: "wrk": want evalscope or closed`},
		{func(p *profiles.Profile) { p.Points[0].Workload = "medium" }, `profile truth: points[0].workload: "medium": want one of fit.workloads`},
		{func(p *profiles.Profile) { p.Fit.Workloads[1].Spread = 2 }, `profile truth: fit.workloads[1].spread: 2: want 0 to 1`},
		{func(p *profiles.Profile) { p.Fit.Workloads[0].TimeoutSeconds = -1 }, `profile truth: fit.workloads[0].timeout_s: -1: want 0 to`},
		{func(p *profiles.Profile) { p.Fit.Workloads[0].Lengths = engine.Lengths{{0, 5}, {1, 4}} }, `profile truth: fit.workloads[0].lengths[1][1]: 4: want at least 5`},
		{func(p *profiles.Profile) { p.Points[1].Concurrency = 0 }, `profile truth: points[1].concurrency: 0: want 1 to`},
		{func(p *profiles.Profile) { p.Points[1].Requests = -8 }, `profile truth: points[1].requests: -8: want 1 to`},
		{func(p *profiles.Profile) { p.Points[0].Output = 0 }, `profile truth: points[0].output: 0: want 1 to`},
		{func(p *profiles.Profile) { p.Points[0].Runaway = []int{8} }, `profile truth: points[0].runaway: 8: want the index of one of the 8 requests, 0 to 7`},
		{func(p *profiles.Profile) { p.Points[0].Values["req/s"] = -1 }, `profile truth: points[0].values: -1 req/s: want above 0`},
		{func(p *profiles.Profile) { p.Fit.HoldOut = [][]int{{0}, {2}} }, `profile truth: fit.hold_out[1][0]: 2: want 0 to 1, of 2 points`},
		{func(p *profiles.Profile) { p.Folds = []profiles.Fold{{HeldOut: []int{-1}}} }, `profile truth: folds[0].held_out[0]: -1: want 0 to 1`},
		{func(p *profiles.Profile) { p.Fit.HoldOut = [][]int{{0}} }, `profile truth: short at 1: all points of the workload are held out: want one`},
		{func(p *profiles.Profile) { p.Fit.Same = map[string]string{"step_ms": "step_us"} }, `profile truth: fit.same: "step_ms": want one of step_us, `},
		{func(p *profiles.Profile) { p.Fit.Same = map[string]string{"step_us": "x"} }, `profile truth: fit.same.step_us: "x": want one of step_us, `},
		{func(p *profiles.Profile) { p.Fit.Choose = &profiles.Choice{Field: "x"} }, `profile truth: fit.choose.field: "x": want one of step_us, `},
		{func(p *profiles.Profile) { p.Fit.Choose = &profiles.Choice{Field: "max_batch"} }, `profile truth: fit.choose.values: none: want one or more`},
		{func(p *profiles.Profile) {
			p.Fit.Choose = &profiles.Choice{Field: "max_batch", Values: []float64{8, 0}}
		}, `profile truth: fit.choose.values[1]: 0: want above 0`},
		{func(p *profiles.Profile) { p.Points[0].Asked = []float64{8} }, `profile truth: points[0].asked: 1 numbers: want the lengths of prompts and outputs`},
		{func(p *profiles.Profile) { p.Points[0].Lengths = engine.Lengths{{0, 0}} }, `profile truth: points[0].lengths[0][1]: 0: want 1 to`},
		{func(p *profiles.Profile) { p.Fit.Start = map[string]float64{"step_us": 0} }, `profile truth: fit.start.step_us: 0: want above 0`},
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
		if _, err := Fit(p); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("Fit: %v, want %q", err, tt.want)
		}
	}
}

// TestShape checks that the curve passes through the percentiles and has the measured mean.
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
		t.Error("seeds 1 and 2 give the same order")
	}
}
