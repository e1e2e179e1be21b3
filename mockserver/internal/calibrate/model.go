package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

// seeds is the number of random orders of the output lengths over which a prediction is averaged.
const seeds = 5

// endless is the output length, in tokens, of a request that does not end before its timeout.
const endless = 16384

// A model predicts the load points of a profile.
type model struct {
	p         profiles.Profile
	workloads map[string]profiles.Workload
	vary      []field
	same      []pair
	choose    *field // nil if the profile has no Fit.Choose
}

// A pair says that field always has the same value as other.
type pair struct{ field, other field }

// newModel returns a model of p after checking the parts of p that a fit and a prediction use. The error names
// the field, its value and what is allowed.
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
			return nil, fmt.Errorf("profile %s: points[%d].workload: %q: want one of fit.workloads", p.Name, i, pt.Workload)
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
	if err := m.takeFields(); err != nil {
		return nil, fmt.Errorf("profile %s: fit.%w", p.Name, err)
	}
	return m, nil
}

// takeFields reads which fields of the engine the fit varies, keeps equal or chooses.
func (m *model) takeFields() error {
	for _, name := range m.p.Fit.Vary {
		f, err := fieldNamed(name)
		if err != nil {
			return fmt.Errorf("vary: %w", err)
		}
		m.vary = append(m.vary, f)
	}
	for _, name := range slices.Sorted(maps.Keys(m.p.Fit.Start)) {
		if v := m.p.Fit.Start[name]; !(v > 0 && v <= 1e9) {
			return fmt.Errorf("start.%s: %v: want above 0, to 1e9", name, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.p.Fit.Same)) {
		f, err := fieldNamed(name)
		if err != nil {
			return fmt.Errorf("same: %w", err)
		}
		other, err := fieldNamed(m.p.Fit.Same[name])
		if err != nil {
			return fmt.Errorf("same.%s: %w", name, err)
		}
		m.same = append(m.same, pair{f, other})
	}
	if c := m.p.Fit.Choose; c != nil {
		f, err := fieldNamed(c.Field)
		if err != nil {
			return fmt.Errorf("choose.field: %w", err)
		}
		m.choose = &f
		if len(c.Values) == 0 {
			return errors.New("choose.values: none: want one or more")
		}
		for i, v := range c.Values {
			if !(v > 0 && v <= 1e9) {
				return fmt.Errorf("choose.values[%d]: %v: want above 0, to 1e9", i, v)
			}
		}
	}
	return nil
}

// checkWorkload returns an error if a workload has invalid values.
func checkWorkload(w profiles.Workload) error {
	switch {
	case w.Client != "evalscope" && w.Client != "closed":
		return fmt.Errorf("client: %q: want evalscope or closed", w.Client)
	case !(w.TimeoutSeconds >= 0 && w.TimeoutSeconds <= 1e6):
		return fmt.Errorf("timeout_s: %v: want 0 to 1e6", w.TimeoutSeconds)
	case !(w.WindowSeconds >= 0 && w.WindowSeconds <= 1e6):
		return fmt.Errorf("window_s: %v: want 0 to 1e6", w.WindowSeconds)
	case !(w.Spread >= 0 && w.Spread <= 1):
		return fmt.Errorf("spread: %v: want 0 to 1", w.Spread)
	}
	if err := w.Lengths.Validate(); err != nil {
		return fmt.Errorf("lengths%w", err)
	}
	return nil
}

// checkPoint returns an error if a point of workload w has invalid values.
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
			return fmt.Errorf("%s: %v: want %v to %v", f.name, f.value, f.least, f.most)
		}
	}
	for _, j := range p.Runaway {
		if j < 0 || j >= p.Requests {
			return fmt.Errorf("runaway: %d: want the index of one of the %d requests, 0 to %d", j, p.Requests, p.Requests-1)
		}
	}
	if n := len(p.Asked); n != 0 && n != 2 {
		return fmt.Errorf("asked: %d numbers: want the lengths of prompts and outputs", n)
	}
	if err := p.Lengths.Validate(); err != nil {
		return fmt.Errorf("lengths%w", err)
	}
	for _, u := range units(w) {
		if v, ok := p.Values[u]; ok && !(v > 0) {
			return fmt.Errorf("values: %v %s: want above 0", v, u)
		}
	}
	return nil
}

// checkHeld returns an error if an index of a held-out point is out of range.
func (m *model) checkHeld(held []int) error {
	for k, i := range held {
		if i < 0 || i >= len(m.p.Points) {
			return fmt.Errorf("[%d]: %d: want 0 to %d, of %d points", k, i, len(m.p.Points)-1, len(m.p.Points))
		}
	}
	return nil
}

// lightest returns the training point that determines the shape of the workload's output lengths: of the points
// that allow it, the one with the lowest concurrency. If the workload itself defines the shape, every point
// allows it. The result is nil if there is no such point.
func (m *model) lightest(train []int, workload string) *profiles.Point {
	w := m.workloads[workload]
	defined := w.Constant || len(w.Lengths) > 0 || w.Exponential || w.Spread > 0
	var best *profiles.Point
	for _, i := range train {
		p := &m.p.Points[i]
		if p.Workload != workload || best != nil && p.Concurrency >= best.Concurrency {
			continue
		}
		if p.Values[sample.P50E2E] > 0 || len(p.Lengths) > 0 || defined {
			best = p
		}
	}
	return best
}

// load returns the load of point i: the measured load if i is a training point, otherwise the load that is
// expected from the training points.
func (m *model) load(i int, train []int) load {
	pt := m.p.Points[i]
	var measured []profiles.Point
	for _, k := range train {
		if q := m.p.Points[k]; q.Workload == pt.Workload {
			measured = append(measured, q)
		}
	}
	if !slices.Contains(train, i) {
		return expected(pt, measured)
	}
	l := load{pt.Output, pt.Runaway, pt.RunawayTokens}
	if pt.Censored {
		l.output = meanOutput(measured)
	}
	return l
}

// predict returns the metrics that the client would report at point i if the server had engine e. If i is not a
// training point, predict knows only what the client set: the workload, the number of requests, the
// concurrency, the mean prompt length, and the lengths for which the client asked.
func (m *model) predict(e engine.Profile, i int, train []int, seed uint64) (map[string]float64, error) {
	pt := m.p.Points[i]
	w := m.workloads[pt.Workload]
	prompt := int(math.Round(pt.Prompt))
	lengthsOf := shape(constant)
	if light := m.lightest(train, pt.Workload); light != nil {
		lengthsOf = m.shape(e, w, *light)
	}
	ld := m.load(i, train)
	if ld.output == 0 {
		return nil, fmt.Errorf("profile %s: %s at %d: all points of the workload are held out: want one that is not, because the output lengths come from it", m.p.Name, pt.Workload, pt.Concurrency)
	}
	lengths := lengthsOf.draw(pt.Requests, ld.output, seed)
	jobs := make([]engine.Job, pt.Requests)
	for j := range jobs {
		jobs[j] = engine.Job{Prompt: prompt, Output: lengths[j]}
	}
	patient := map[int]bool{}
	for _, j := range ld.runaway {
		jobs[j].Output = cmp.Or(ld.runawayTokens, endless)
		patient[j] = ld.runawayTokens > 0
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

// shape returns the shape of a workload's output lengths. If the workload does not define the shape, it is
// derived from the point light.
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
	if len(light.Lengths) > 0 {
		return known(light.Lengths)
	}
	return shapeOf(light, 1000*(e.Prefill+e.PrefillPerToken*light.Prompt))
}

// units returns the units that a fit uses if a point has them.
func units(w profiles.Workload) []string {
	if w.Client == "evalscope" {
		return []string{sample.RequestRate, sample.TokenRate, sample.MeanE2E, sample.P50E2E, sample.P90E2E}
	}
	return []string{
		sample.RequestRate, sample.TokenRate, sample.OutputRate, sample.UserRate, sample.MeanE2E, sample.P50E2E, sample.MeanTTFT, sample.P50TTFT, sample.MeanTPOT,
	}
}

// tokenTime returns the approximate time per token, in microseconds, at the training point with the lowest
// concurrency from which it can be computed. If there is no such point, it returns 10 ms.
func (m *model) tokenTime(train []int) float64 {
	lowest, t := mostConcurrency+1, 10_000.
	for _, i := range train {
		p := m.p.Points[i]
		micros := p.Values[sample.MeanTPOT] / 1000
		if micros == 0 && p.Output > 0 {
			micros = cmp.Or(p.Values[sample.MeanE2E], p.Values[sample.P50E2E]) / 1000 / p.Output
		}
		if v := p.Values[sample.UserRate]; micros == 0 && v > 0 {
			micros = 1e6 / v
		}
		if micros > 0 && p.Concurrency < lowest {
			lowest, t = p.Concurrency, micros
		}
	}
	return t
}
