package scenarios

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A study is a scenario that was published: its loads as data, so that their
// names can be held against the published rows without a server.
type study struct {
	name string // of the benchmark, without Benchmark
	// oneWay leaves streaming out of the names: there is no choice.
	oneWay bool
	// maxFail is the share of failed requests that is counted and not fatal.
	maxFail float64
	// units are reported beside the core ones, fullUnits in the full form only.
	units, fullUnits []string
	reduced          []cell // ends in seconds on the mock, and needs no file
	published        []cell // each experiment to the letter
	// after, if not nil, reports what else the samples tell.
	after func(b *testing.B, samples []sample.Sample)
	// cold fails when the server took prompts from its cache: what is measured is
	// how it processes them. Elsewhere that is said.
	cold bool
}

// counted is the maxFail of studies in which failures are figures: all that was
// published is below it, and nothing but failures is no measurement.
const counted = 0.9

// A cell is one load of a study.
type cell struct {
	experiment       string // in benchdata/published
	data             data
	noStream         bool
	concurrency      int
	rate             float64 // Poisson, instead of concurrency
	requests, warmup int
	timeout          time.Duration // 0: the default
}

// name is the part of the benchmark's name below the model.
func (st *study) cellName(c cell) string {
	name := "workload=" + c.data.name
	if !st.oneWay {
		name += fmt.Sprintf("/stream=%t", !c.noStream)
	}
	if c.rate > 0 {
		return name + fmt.Sprintf("/rate=%g", c.rate)
	}
	return name + fmt.Sprintf("/concurrency=%d", c.concurrency)
}

// sweep is a cell at each concurrency.
func sweep(c cell, concurrency ...int) []cell {
	var all []cell
	for _, n := range concurrency {
		c.concurrency = n
		all = append(all, c)
	}
	return all
}

// studies are all of them.
var studies = []*study{&chat, &lengthGrid, &shareGPT, &prefill, &decode, &openQA, &codeQA, &longContext}

// unrepeatable are the published experiments without a cell, and why.
var unrepeatable = map[string]string{
	"B1": "neither its load nor the lengths asked for were published",
	"D9": "its servers gave no answer, and no load was published",
}

// experiments are the names of all that was published, sorted.
func experiments() []string {
	var names []string
	for _, st := range studies {
		for _, c := range st.published {
			names = append(names, c.experiment)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(a[0], b[0]), len(a)-len(b), cmp.Compare(a, b)) })
	return slices.Compact(names)
}

// cells returns the loads that LLMBENCH_FULL asks for. Of published loads with the
// same name, which differ in their timeouts or their number of requests, "1" takes
// the first.
func (st *study) cells(full string) ([]cell, error) {
	if full == "" {
		return st.reduced, nil
	}
	if why, is := unrepeatable[full]; is {
		return nil, fmt.Errorf("LLMBENCH_FULL=%s: cannot be repeated: %s", full, why)
	}
	if names := experiments(); full != "1" && !slices.Contains(names, full) {
		return nil, fmt.Errorf("LLMBENCH_FULL=%s: want 1 or one of %s", full, strings.Join(names, ", "))
	}
	var all []cell
	seen := map[string]bool{}
	for _, c := range st.published {
		if name := st.cellName(c); (full == "1" || full == c.experiment) && !seen[name] {
			seen[name] = true
			all = append(all, c)
		}
	}
	return all, nil
}

// bench is the study's benchmark.
func (st *study) bench(b *testing.B) {
	cfg, all := asked(b)
	cells, err := st.cells(cfg.Full)
	if err != nil {
		llmbench.Watch(b)
		b.Fatal(err)
	}
	if len(cells) == 0 {
		llmbench.Skip(b, "it has no part in LLMBENCH_FULL="+cfg.Full)
	}
	// No server is started for loads that lack their files.
	if missing := missing(cells, cfg.Data); len(missing) == len(cells) && !slices.ContainsFunc(all, isMock) {
		llmbench.Skip(b, missing[0])
	}
	each(b, func(b *testing.B, s server) {
		for _, c := range cells {
			if s.mock {
				c.data = c.data.onMock()
			}
			b.Run(st.cellName(c), func(b *testing.B) { st.run(b, s, c) })
		}
	})
}

// missing says of each cell that lacks its file how to get it.
func missing(cells []cell, folder string) []string {
	var all []string
	for _, c := range cells {
		if _, err := c.data.path(folder); err != nil {
			all = append(all, err.Error())
		}
	}
	return all
}

// run measures s under c.
func (st *study) run(b *testing.B, s server, c cell) {
	path, err := c.data.path(s.cfg.Data)
	if err != nil {
		llmbench.Skip(b, err.Error())
	}
	s, ok := s.at(c.data.endpoint)
	if !ok {
		llmbench.Skip(b, "it is for the other kind of endpoint than "+s.target.Dialect.Name()+" is")
	}
	l := llmbench.Load{Concurrency: c.concurrency, NoStream: c.noStream, Timeout: c.timeout, MaxFail: st.maxFail, Units: st.units}
	if c.rate > 0 {
		l.Arrivals = arrivals.Poisson{Rate: c.rate, Seed: s.cfg.Serve.Seed}
	}
	if c.experiment != "" {
		l.Units = slices.Concat(st.units, st.fullUnits)
		s.target.Config = maps.Clone(s.target.Config)
		s.target.Config["experiment"] = c.experiment
		if c.timeout > 0 {
			s.target.Config["client-timeout"] = fmt.Sprintf("%gs", c.timeout.Seconds())
		}
	}
	l = s.fresh(b, l, c.requests, c.warmup, func(n int, seed uint64) ([]llmbench.Request, error) {
		return c.data.draw(s, path, n, seed)
	})
	samples := s.run(b, l)
	if share := cachedShare(samples, s.template); share > toleratedCached {
		if st.cold {
			b.Fatal(wasCached(share))
		}
		b.Log(wasCached(share))
	}
	if st.after != nil {
		st.after(b, samples)
	}
}

// cachedShare is the share of the prompts' tokens that the server says it took from
// a cache, beside the template, which all of them have.
func cachedShare(samples []sample.Sample, template int) float64 {
	cached, all := 0, 0
	for i := range samples {
		if s := &samples[i]; s.Outcome == sample.OK {
			cached += max(0, s.CachedTokens-template)
			all += s.PromptTokens
		}
	}
	return float64(cached) / float64(max(all, 1))
}

// toleratedCached is the share of the prompts' tokens that may come from a cache.
const toleratedCached = 0.1

// wasCached says that more did.
func wasCached(share float64) error {
	return fmt.Errorf("%.0f%% of the prompts' tokens were in the server's cache; want prompts that it has not seen: another LLMBENCH_SEED", 100*share)
}
