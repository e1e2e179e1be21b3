package calibrate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/profiles"
)

// A prediction is the mean over seeds random orders of the output lengths, a fit uses
// fitSeeds orders.
const seeds, fitSeeds = 5, 2

// endless is the output length of a request that does not end before its timeout.
const endless = 16384

// A model predicts load points of a profile.
type model struct {
	p         profiles.Profile
	workloads map[string]profiles.Workload
	vary      []field
}

// newModel checks the parts of a profile that a fit and a prediction need. The error
// names the field, its value and what is allowed.
func newModel(p profiles.Profile) (*model, error) {
	m := &model{p: p, workloads: map[string]profiles.Workload{}}
	for i, w := range p.Fit.Workloads {
		if err := checkWorkload(w); err != nil {
			return nil, fmt.Errorf("profile %s: fit.workloads[%d].%w", p.Name, i, err)
		}
		m.workloads[w.Name] = w
	}
	for i, pt := range p.Points {
		if _, ok := m.workloads[pt.Workload]; !ok {
			return nil, fmt.Errorf("profile %s: points[%d].workload: %q, want one of fit.workloads", p.Name, i, pt.Workload)
		}
		if err := checkPoint(pt, m.workloads[pt.Workload]); err != nil {
			return nil, fmt.Errorf("profile %s: points[%d].%w", p.Name, i, err)
		}
	}
	for i, held := range p.Fit.HoldOut {
		if err := m.checkHeld(held); err != nil {
			return nil, fmt.Errorf("profile %s: fit.hold_out[%d]%w", p.Name, i, err)
		}
	}
	for i, f := range p.Folds {
		if err := m.checkHeld(f.HeldOut); err != nil {
			return nil, fmt.Errorf("profile %s: folds[%d].held_out%w", p.Name, i, err)
		}
	}
	for _, name := range p.Fit.Vary {
		f, err := fieldNamed(name)
		if err != nil {
			return nil, fmt.Errorf("profile %s: fit.%w", p.Name, err)
		}
		m.vary = append(m.vary, f)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Fit.Start)) {
		if v := p.Fit.Start[name]; !(v > 0 && v <= 1e9) {
			return nil, fmt.Errorf("profile %s: fit.start.%s: %v, want above 0, to 1e9", p.Name, name, v)
		}
	}
	return m, nil
}

// checkWorkload returns an error if a workload cannot be used.
func checkWorkload(w profiles.Workload) error {
	switch {
	case w.Client != "evalscope" && w.Client != "closed":
		return fmt.Errorf("client: %q, want evalscope or closed", w.Client)
	case !(w.TimeoutSeconds >= 0 && w.TimeoutSeconds <= 1e6):
		return fmt.Errorf("timeout_s: %v, want 0 to 1e6", w.TimeoutSeconds)
	case !(w.WindowSeconds >= 0 && w.WindowSeconds <= 1e6):
		return fmt.Errorf("window_s: %v, want 0 to 1e6", w.WindowSeconds)
	case !(w.Spread >= 0 && w.Spread <= 1):
		return fmt.Errorf("spread: %v, want 0 to 1", w.Spread)
	}
	if err := w.Lengths.Validate(); err != nil {
		return fmt.Errorf("lengths%w", err)
	}
	return nil
}

// checkPoint returns an error if a point of that workload cannot be used.
func checkPoint(p profiles.Point, w profiles.Workload) error {
	for _, f := range []struct {
		name        string
		value       float64
		least, most float64
	}{
		{"concurrency", float64(p.Concurrency), 1, mostConcurrency}, {"requests", float64(p.Requests), 1, mostRequests},
		{"prompt", p.Prompt, 0, mostTokens}, {"output", p.Output, 1, mostTokens},
		{"runaway_tokens", float64(p.RunawayTokens), 0, mostTokens},
	} {
		if !(f.value >= f.least && f.value <= f.most) {
			return fmt.Errorf("%s: %v, want %v to %v", f.name, f.value, f.least, f.most)
		}
	}
	for _, j := range p.Runaway {
		if j < 0 || j >= p.Requests {
			return fmt.Errorf("runaway: %d, want 0 to %d, of %d requests", j, p.Requests-1, p.Requests)
		}
	}
	for _, u := range units(w) {
		if v, ok := p.Values[u]; ok && !(v > 0) {
			return fmt.Errorf("values: %v %s, want above 0", v, u)
		}
	}
	return nil
}

// checkHeld returns an error if an index of a held-out point is out of range.
func (m *model) checkHeld(held []int) error {
	for k, i := range held {
		if i < 0 || i >= len(m.p.Points) {
			return fmt.Errorf("[%d]: %d, want 0 to %d, of %d points", k, i, len(m.p.Points)-1, len(m.p.Points))
		}
	}
	return nil
}

// lightest returns the point of a workload from which the distribution of output
// lengths is taken: with the concurrency ShapeFrom or, without it, the training point
// with the lowest concurrency. It returns nil if there is none.
func (m *model) lightest(train []int, workload string) *profiles.Point {
	w := m.workloads[workload]
	var best *profiles.Point
	for i := range m.p.Points {
		if p := &m.p.Points[i]; w.ShapeFrom > 0 && p.Workload == workload && p.Concurrency == w.ShapeFrom {
			return p
		}
	}
	for _, i := range train {
		p := &m.p.Points[i]
		if _, ok := p.Values["p50-e2e-ns"]; (ok || w.Constant || len(w.Lengths) > 0 || w.Exponential || w.Spread > 0) && p.Workload == workload && (best == nil || p.Concurrency < best.Concurrency) {
			best = p
		}
	}
	return best
}

// predict returns the figures that the client would report at point i for a server
// with that engine. It uses only the training points to find how output lengths are
// distributed.
func (m *model) predict(e engine.Profile, i int, train []int, seed uint64) (map[string]float64, error) {
	pt := m.p.Points[i]
	w := m.workloads[pt.Workload]
	prompt := int(math.Round(pt.Prompt))
	out := pt.Output
	light := m.lightest(train, pt.Workload)
	if light == nil {
		light = &pt
	}
	if pt.Censored {
		out = light.Output
	}
	lengths := m.shape(e, w, *light).draw(pt.Requests, out, seed)
	jobs := make([]engine.Job, pt.Requests)
	for j := range jobs {
		jobs[j] = engine.Job{Prompt: prompt, Output: lengths[j]}
	}
	patient := map[int]bool{}
	for _, j := range pt.Runaway {
		jobs[j].Output = cmp.Or(pt.RunawayTokens, endless)
		patient[j] = pt.RunawayTokens > 0
	}
	c := client{
		concurrency: pt.Concurrency,
		timeout:     time.Duration(w.TimeoutSeconds * float64(time.Second)),
		window:      time.Duration(w.WindowSeconds * float64(time.Second)),
		mortal:      w.Client == "evalscope",
	}
	r, err := c.send(e, jobs, patient)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %s at %d: %w", m.p.Name, pt.Workload, pt.Concurrency, err)
	}
	if w.Client == "evalscope" {
		return r.evalscope(), nil
	}
	return r.closed(c.window), nil
}

// shape returns the shape of a workload's output lengths. light is the point from
// which it is taken if the workload does not define it.
func (m *model) shape(e engine.Profile, w profiles.Workload, light profiles.Point) shape {
	switch {
	case len(w.Lengths) > 0:
		return known(w.Lengths)
	case w.Spread > 0:
		return uniform(w.Spread)
	case w.Exponential:
		return exponential
	case w.Constant:
		return constant
	}
	return shapeOf(light, 1000*(e.Prefill+e.PrefillPerToken*light.Prompt))
}

// units returns the units that a fit uses, if a point has them.
func units(w profiles.Workload) []string {
	if w.Client == "evalscope" {
		return []string{"req/s", "tok/s", "mean-e2e-ns", "p50-e2e-ns", "p90-e2e-ns"}
	}
	return []string{
		"req/s", "tok/s", "output-tok/s", "user-tok/s", "mean-e2e-ns", "p50-e2e-ns", "mean-ttft-ns", "p50-ttft-ns", "mean-tpot-ns",
	}
}

// scale is the relative error above which errors count less than their squares.
const scale = .05

// loss returns the sum of the losses of a prediction over n units, with Cauchy's loss
// function of the relative error, which limits the weight of outliers.
// https://en.wikipedia.org/wiki/Robust_regression
func loss(units []string, got, want map[string]float64) (sum float64, n int) {
	for _, u := range units {
		measured, ok := want[u]
		if !ok {
			continue
		}
		n++
		e := math.Log(got[u] / measured)
		if math.IsInf(e, 0) || math.IsNaN(e) {
			e = 3 // there is no prediction, or it is 0
		}
		sum += math.Log1p(e * e / (scale * scale))
	}
	return sum, n
}
