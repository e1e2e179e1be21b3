package scenarios

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A study is a scenario that repeats a published one. Its loads are data, so that tests can compare their
// names with the published results without a server.
type study struct {
	name string // name of the scenario
	// noStreamKey omits stream= from the benchmark names, because the study always streams or never does.
	noStreamKey bool
	// maxFail is the tolerated share of failed requests.
	maxFail float64
	// units are reported in addition to the core units, and fullUnits only for published loads.
	units, fullUnits []string
	reduced          []cell // the reduced form, which ends in seconds on the simulated server and needs no file
	published        []cell // the published loads of all experiments
	// figures, if not nil, computes additional metrics of the samples.
	figures func(samples iter.Seq[*sample.Sample]) map[string]float64
	// cold makes it an error if prompts come from the server's cache, because the study measures how the
	// server processes prompts. Other studies only log it.
	cold bool
}

// failuresCount is the maxFail of studies that publish the number of failed requests. It is higher than
// every published share.
const failuresCount = 0.9

// A cell is one load of a study.
type cell struct {
	experiment       string // name in benchdata/published; "" in the reduced form
	data             data
	noStream         bool
	concurrency      int
	rate             float64 // requests per second of a Poisson process; used instead of concurrency if not 0
	requests, warmup int
	timeout          time.Duration // 0 means the default
}

// cellName returns the part of the benchmark's name that describes the load.
func (st *study) cellName(c cell) string {
	name := "workload=" + c.data.name
	if !st.noStreamKey {
		name += fmt.Sprintf("/stream=%t", !c.noStream)
	}
	if c.rate > 0 {
		return name + fmt.Sprintf("/rate=%g", c.rate)
	}
	return name + fmt.Sprintf("/concurrency=%d", c.concurrency)
}

// sweepCells returns a copy of c for each concurrency.
func sweepCells(c cell, concurrencies ...int) []cell {
	var all []cell
	for _, n := range concurrencies {
		c.concurrency = n
		all = append(all, c)
	}
	return all
}

// cells returns the loads that o selects. Some published loads have the same name but different timeouts or
// numbers of requests; the full form, "1", contains only the first of them.
func (st *study) cells(o Options) ([]cell, error) {
	if o.Full == "" {
		return st.reducedCells(o), nil
	}
	if len(o.Concurrencies) > 0 || o.Requests > 0 || o.Duration > 0 {
		return nil, fmt.Errorf("LLMBENCH_FULL=%s: a published load is sent as it is: want no Concurrencies, no Requests and no Duration (LLMBENCH_CONCURRENCY, LLMBENCH_REQUESTS, LLMBENCH_DURATION)", o.Full)
	}
	all := st.distinct(slices.DeleteFunc(slices.Clone(st.published), func(c cell) bool { return o.Full != "1" && o.Full != c.experiment }))
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: %s has no part in LLMBENCH_FULL=%s", ErrNothing, st.name, o.Full)
	}
	if !o.Simulated {
		_, err := all[0].data.path(o.Data)
		if !slices.ContainsFunc(all, func(c cell) bool { return c.data.hasFile(o.Data) }) {
			return nil, fmt.Errorf("%w: %w", ErrNothing, err)
		}
	}
	return all, nil
}

// reducedCells returns the reduced form, changed according to o. If o sets concurrencies, each closed loop
// is measured at each of them, with the same number of requests per user as before.
func (st *study) reducedCells(o Options) []cell {
	var all []cell
	for _, c := range st.reduced {
		concurrencies := []int{c.concurrency}
		if len(o.Concurrencies) > 0 && c.rate == 0 {
			concurrencies = o.Concurrencies
		}
		for _, n := range concurrencies {
			d := c
			if n != c.concurrency {
				perUser := func(requests int) int { return (requests*n + c.concurrency - 1) / c.concurrency }
				d.concurrency, d.requests, d.warmup = n, perUser(c.requests), perUser(c.warmup)
			}
			d.requests = cmp.Or(o.Requests, d.requests)
			all = append(all, d)
		}
	}
	return st.distinct(all)
}

// distinct removes cells that have the same name as an earlier cell.
func (st *study) distinct(cells []cell) []cell {
	seen := map[string]bool{}
	return slices.DeleteFunc(cells, func(c cell) bool {
		name := st.cellName(c)
		defer func() { seen[name] = true }()
		return seen[name]
	})
}

// measure measures s under cells.
func (st *study) measure(b *testing.B, s server, cells []cell) {
	for _, c := range cells {
		if s.options.Simulated {
			c.data = c.data.simulated()
		}
		b.Run(st.cellName(c), func(b *testing.B) { st.measureCell(b, s, c) })
	}
}

// measureCell measures s under c.
func (st *study) measureCell(b *testing.B, s server, c cell) {
	path, err := c.data.path(s.options.Data)
	if err != nil {
		harness.Skip(b, err.Error())
	}
	s, ok := s.forEndpoint(c.data.endpoint)
	if !ok {
		harness.Skip(b, "the load needs the other kind of endpoint than "+s.target.Dialect.Name())
	}
	l := llmbench.Load{Concurrency: c.concurrency, NoStream: c.noStream, Timeout: c.timeout, MaxFail: st.maxFail, Units: sample.Named(st.units...), Figures: st.figures}
	if c.rate > 0 {
		l.Arrivals = arrivals.Poisson{Rate: c.rate, Seed: s.options.Seed}
	}
	if c.experiment != "" {
		l.Units = sample.Named(slices.Concat(st.units, st.fullUnits)...)
		config := map[string]string{"experiment": c.experiment}
		if c.timeout > 0 {
			config["client-timeout"] = fmt.Sprintf("%gs", c.timeout.Seconds())
		}
		s = s.withConfig(config)
	}
	rounds := 2
	if c.noStream {
		rounds = 1 // there is only one latency, and no first token that waits for other requests
	}
	n := s.fewest(c.requests, c.concurrency, rounds)
	switch {
	case c.rate > 0 && s.options.Duration > 0:
		n = s.due(c.rate)
	case s.quick() && c.rate > 0 && s.options.Requests == 0:
		n = min(n, int(c.rate/2)) // half a second
	}
	l = s.fresh(b, l, n, c.warmup, func(n int, seed uint64) ([]llmbench.Request, error) {
		return c.data.draw(s, path, n, seed)
	})
	if c.data.grows {
		if in := l.Warmup[0].PromptTokens; in > c.data.in {
			harness.Note(b, fmt.Sprintf("prompts have %d tokens instead of %d, because the server's template alone has %d", in, c.data.in, s.template))
		}
	}
	samples := s.run(b, l).All()
	if err := checkCached(samples, s.template); err != nil {
		if st.cold {
			b.Fatal(err)
		}
		b.Log(err)
	}
}
