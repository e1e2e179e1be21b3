package scenarios

import (
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// BenchmarkServe is made wholly of the environment: see LLMBENCH_CONCURRENCY,
// LLMBENCH_RATE, LLMBENCH_DATASET and their like in README.md.
func BenchmarkServe(b *testing.B) {
	each(b, func(b *testing.B, s server) {
		c := s.cfg.Serve
		s.target.Config = s.config()
		name := fmt.Sprintf("workload=%s/stream=%t", workload(c), c.Stream)
		b.Run(name, func(b *testing.B) {
			for _, rate := range c.Rate {
				b.Run(fmt.Sprintf("rate=%g", rate), func(b *testing.B) {
					l := s.load(b, max(16, int(8*rate)), 2)
					l.Arrivals = llmbench.Poisson{Rate: rate, Seed: c.Seed}
					if c.Burstiness != 1 {
						l.Arrivals = llmbench.Gamma{Rate: rate, Shape: c.Burstiness, Seed: c.Seed}
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

// workload names what is sent.
func workload(c llmbench.ServeConfig) string {
	if c.Dataset == "random" {
		return fmt.Sprintf("random-%dx%d", c.Input, c.Output)
	}
	kind, _, _ := strings.Cut(c.Dataset, ":")
	return kind
}

// load returns the load that the environment describes, but for when requests
// are sent; n and warmup are how many there are unless it says so.
func (s server) load(b *testing.B, n, warmup int) llmbench.Load {
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
	}
	_, path, file := strings.Cut(c.Dataset, ":")
	if !file {
		return s.random(b, l, n, warmup, c.Input, c.Output)
	}
	// Each pass draws anew, so that its requests are not all in a cache.
	draw := func(n int, seed uint64) ([]llmbench.Request, error) {
		d := benchdata.ShareGPT{Path: path, Output: c.Output, FixedOutput: c.Output > 0, Seed: seed, Tokenizer: s.tokens}
		requests, err := d.Requests(n)
		if err != nil {
			return nil, fmt.Errorf("LLMBENCH_DATASET: %w", err)
		}
		return requests, nil
	}
	l.Fresh = func(pass int) ([]llmbench.Request, error) { return draw(n, c.Seed+uint64(pass)+1) }
	if warmup > 0 {
		var err error
		if l.Warmup, err = draw(warmup, c.Seed); err != nil {
			b.Fatal(err)
		}
	}
	return l
}

// config is what makes the results of BenchmarkServe comparable beside the
// benchmark's name.
func (s server) config() map[string]string {
	config := maps.Clone(s.target.Config)
	c := s.cfg.Serve
	if _, path, file := strings.Cut(c.Dataset, ":"); file {
		config["dataset"] = filepath.Base(path)
		if c.Output > 0 {
			config["dataset-output"] = strconv.Itoa(c.Output)
		}
	}
	if c.Burstiness != 1 {
		config["burstiness"] = strconv.FormatFloat(c.Burstiness, 'g', -1, 64)
	}
	return config
}
