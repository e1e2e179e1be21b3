package scenarios

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
)

// BenchmarkServe is made wholly of the environment: see LLMBENCH_CONCURRENCY,
// LLMBENCH_RATE, LLMBENCH_DATASET and their like in README.md.
func BenchmarkServe(b *testing.B) {
	cfg, _ := asked(b)
	if _, err := (server{cfg: cfg}).dataset(0); err != nil {
		b.Fatal(err) // before a server is started
	}
	each(b, func(b *testing.B, s server) {
		c := s.cfg.Serve
		s.target.Config = s.config()
		name := fmt.Sprintf("workload=%s/stream=%t", workload(c), c.Stream)
		b.Run(name, func(b *testing.B) {
			data, err := s.dataset(0)
			if err != nil {
				b.Fatal(err)
			}
			if trace, ok := data.(benchdata.Trace); ok && !c.LoadSet {
				b.Run(fmt.Sprintf("speed=%g", cmp.Or(trace.Speed, 1)), func(b *testing.B) { s.replay(b, trace) })
				return
			}
			if len(c.Stages) > 0 {
				s.stages(b)
				return
			}
			for _, rate := range c.Rate {
				b.Run(fmt.Sprintf("rate=%g", rate), func(b *testing.B) {
					l := s.load(b, max(16, int(8*rate)), 2)
					l.Arrivals = arrivals.Poisson{Rate: rate, Seed: c.Seed}
					if c.Burstiness != 1 {
						l.Arrivals = arrivals.Gamma{Rate: rate, Shape: c.Burstiness, Seed: c.Seed}
					}
					s.run(b, l)
				})
			}
			if len(c.Rate) > 0 {
				return
			}
			for _, concurrency := range c.Concurrency {
				b.Run(fmt.Sprintf("concurrency=%d", concurrency), func(b *testing.B) {
					l := s.load(b, max(16, 8*concurrency), 2*concurrency)
					l.Concurrency = concurrency
					s.run(b, l)
				})
			}
		})
	})
}

// stages measures the server under the stages of the environment, whose mean rate
// is the last part of the name.
func (s server) stages(b *testing.B) {
	c := s.cfg.Serve
	arrivals := arrivals.Stages{Stages: c.Stages, Shape: c.Burstiness, Seed: c.Seed}
	n, err := arrivals.Requests()
	if err != nil {
		b.Fatal(err)
	}
	var parts []string
	for _, stage := range c.Stages {
		parts = append(parts, llmbench.NameValue(stage.String()))
	}
	b.Run(fmt.Sprintf("stages=%s/rate=%.4g", strings.Join(parts, "-"), arrivals.MeanRate()), func(b *testing.B) {
		l := s.load(b, n, 2)
		l.Arrivals = arrivals
		s.run(b, l)
	})
}

// replay measures the server under a trace, its requests when they came.
func (s server) replay(b *testing.B, trace benchdata.Trace) {
	const n = 64 // requests, unless the environment says otherwise
	l := s.load(b, n, 2)
	arrivals, err := trace.Replay(cmp.Or(s.cfg.Serve.Requests, n))
	if err != nil {
		b.Fatal(fmt.Errorf("LLMBENCH_DATASET: %w", err))
	}
	l.Arrivals = arrivals
	s.run(b, l)
}

// workload names what is sent.
func workload(c serveConfig) string {
	if c.Dataset == "random" {
		return fmt.Sprintf("random-%dx%d", c.Input, c.Output)
	}
	kind, _, _ := strings.Cut(c.Dataset, ":")
	kind, _, _ = strings.Cut(kind, "?")
	return kind
}

// dataset opens what LLMBENCH_DATASET names.
func (s server) dataset(seed uint64) (benchdata.Workload, error) {
	c := s.cfg.Serve
	w, err := benchdata.Open(c.Dataset, benchdata.Options{
		Input: c.Input, Output: c.Output, FixedOutput: c.Output > 0, Seed: seed, Template: s.template, Tokenizer: s.tokens,
	})
	if err != nil {
		return nil, fmt.Errorf("LLMBENCH_DATASET: %w", err)
	}
	return w, nil
}

// load returns the load that the environment describes, but for when requests
// are sent; n and warmup are how many there are unless it says so.
func (s server) load(b *testing.B, n, warmup int) llmbench.Load {
	b.Helper()
	c := s.cfg.Serve
	if c.Requests > 0 {
		n = c.Requests
	}
	if c.Warmup >= 0 {
		warmup = c.Warmup
	}
	l := llmbench.Load{
		NoStream:    !c.Stream,
		Timeout:     c.Timeout,
		IdleTimeout: c.IdleTimeout,
		MaxFail:     c.MaxFail,
		SLO:         c.SLO,
		Cancel:      c.Cancel,
	}
	l.Cancel.Seed = c.Seed
	// Each pass draws anew, so that its requests are not all in a cache, and
	// texts that are made up are made for this benchmark alone. Of the same
	// questions two loads get the same.
	seed := c.Seed
	data, err := s.dataset(0)
	if err != nil {
		b.Fatal(err)
	}
	_, trace := data.(benchdata.Trace)
	if _, path, _ := strings.Cut(c.Dataset, ":"); trace || path == "" {
		hash := fnv.New64a()
		hash.Write([]byte(b.Name()))
		seed += hash.Sum64()
	}
	draw := func(n int, seed uint64) ([]llmbench.Request, error) {
		w, err := s.dataset(seed)
		if err != nil {
			return nil, err
		}
		requests, err := w.Requests(n)
		if err != nil {
			return nil, fmt.Errorf("LLMBENCH_DATASET: %w", err)
		}
		return requests, nil
	}
	told := false
	l.Fresh = func(pass int) ([]llmbench.Request, error) {
		requests, err := draw(n, seed+uint64(pass)+1)
		if err == nil && len(requests) < n && !told {
			told = true
			b.Logf("asked for %d requests, the data set has %d", n, len(requests))
		}
		return requests, err
	}
	if warmup > 0 {
		// Some data sets are never as few as a warm-up.
		all, err := draw(max(n, warmup), seed)
		if err != nil {
			b.Fatal(err)
		}
		l.Warmup = all[:min(warmup, len(all))]
	}
	return l
}

// config is what makes the results of BenchmarkServe comparable beside the
// benchmark's name.
func (s server) config() map[string]string {
	config := maps.Clone(s.target.Config)
	c := s.cfg.Serve
	kind, path, _ := strings.Cut(c.Dataset, ":")
	set := func(key, value string) {
		if value != "" && value != "0" {
			config[key] = value
		}
	}
	if path != "" {
		set("dataset", filepath.Base(path)) // with its parameters
	} else {
		_, params, _ := strings.Cut(kind, "?")
		set("dataset", params)
	}
	if c.Dataset != "random" { // whose name has them
		set("dataset-input", strconv.Itoa(c.Input))
		set("dataset-output", strconv.Itoa(c.Output))
	}
	set("cancel", c.Cancel.String())
	if c.Burstiness != 1 {
		config["burstiness"] = strconv.FormatFloat(c.Burstiness, 'g', -1, 64)
	}
	return config
}
