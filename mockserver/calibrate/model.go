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

// seeds is how many orders of lengths a prediction averages over, and fitSeeds
// how many a fit does.
const seeds, fitSeeds = 5, 2

// endless is the output of a request that does not end before its timeout.
const endless = 16384

// A model predicts load points of a profile.
type model struct {
	p         profiles.Profile
	workloads map[string]profiles.Workload
	vary      []field
}

// newModel checks what a fit and a prediction need of a profile. The error names
// the field and the value that cannot be used.
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

// checkHeld checks the indices of held-out points.
func (m *model) checkHeld(held []int) error {
	for k, i := range held {
		if i < 0 || i >= len(m.p.Points) {
			return fmt.Errorf("[%d]: %d, want 0 to %d, of %d points", k, i, len(m.p.Points)-1, len(m.p.Points))
		}
	}
	return nil
}

// lightest returns the training point of a workload with the least load.
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

// predict returns what the client would report at point i, of a server with that
// engine. What it needs to know of the workload beyond the point's own, it takes
// from the training points.
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

// shape returns how a workload's output lengths are spread, by its point with the
// least load.
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

// units are those that a fit looks at, where a point has them.
func units(w profiles.Workload) []string {
	if w.Client == "evalscope" {
		return []string{"req/s", "tok/s", "mean-e2e-ns", "p50-e2e-ns", "p90-e2e-ns"}
	}
	return []string{
		"req/s", "tok/s", "output-tok/s", "user-tok/s", "mean-e2e-ns", "p50-e2e-ns", "mean-ttft-ns", "p50-ttft-ns", "mean-tpot-ns",
	}
}

// scale is where an error begins to count less than its square.
const scale = .05

// loss is that of a prediction against the values measured: a robust mean of
// squared relative errors (Cauchy's).
func loss(units []string, got, want map[string]float64) (sum float64, n int) {
	for _, u := range units {
		measured, ok := want[u]
		if !ok {
			continue
		}
		n++
		e := math.Log(got[u] / measured)
		if math.IsInf(e, 0) || math.IsNaN(e) {
			e = 3 // nothing came out
		}
		sum += math.Log1p(e * e / (scale * scale))
	}
	return sum, n
}
