package scenarios

import (
	"context"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// each starts every backend that the environment asks for and calls measure
// with it, in a sub-benchmark of its own.
func each(b *testing.B, measure func(b *testing.B, s server)) {
	cfg, all := asked(b)
	for _, backend := range all {
		if err := context.Cause(llmbench.Context(b)); err != nil {
			b.Fatal(err)
		}
		b.Run("backend="+llmbench.NameValue(backend.Name), func(b *testing.B) {
			target := backend.Start(b)
			tokens, template, err := tokenizer(llmbench.Context(b), cfg, backend, target)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(modelName(cfg, target.Model), func(b *testing.B) {
				measure(b, server{cfg, target, tokens, template})
			})
		})
	}
}

// asked returns what the environment says, and the backends it asks for.
func asked(b *testing.B) (llmbench.Config, []backends.Named) {
	b.Helper()
	cfg, err := llmbench.ReadConfig()
	if err != nil {
		b.Fatal(err)
	}
	all, err := backends.FromConfig(cfg)
	if err != nil {
		b.Fatal(err)
	}
	return cfg, all
}

// modelName is the part of a benchmark's name that says which model it measures.
func modelName(cfg llmbench.Config, model string) string {
	name := "model=" + llmbench.NameValue(model)
	if cfg.Quant != "" {
		name += "/quant=" + llmbench.NameValue(cfg.Quant)
	}
	return name
}

// A server is a target and what is known of its tokens.
type server struct {
	cfg      llmbench.Config
	target   llmbench.Target
	tokens   llmbench.Tokenizer
	template int // tokens that the server adds to a prompt
}

// tokenizer returns what tells the length of a prompt: a tokenizer.json if one
// is given, the mock's own rule for the mock, and otherwise an estimate made
// from the usage that the server states for prompts of known text.
func tokenizer(ctx context.Context, cfg llmbench.Config, backend backends.Named, t llmbench.Target) (llmbench.Tokenizer, int, error) {
	switch backend.Backend.(type) {
	case backends.Mock, backends.MockContainer:
		return benchdata.Words{}, 0, nil
	}
	var exact llmbench.Tokenizer
	if cfg.Tokenizer != "" {
		hf, err := benchdata.LoadHuggingFace(cfg.Tokenizer)
		if err != nil {
			return nil, 0, fmt.Errorf("LLMBENCH_TOKENIZER: %w", err)
		}
		exact = hf
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var points []benchdata.Point
	for seed, words := range []int{40, 40, 160, 160, 320} {
		r, err := benchdata.Prompts{Input: words, Output: 1, Seed: uint64(1e6 + seed)}.Requests(1)
		if err != nil {
			return nil, 0, err
		}
		s := llmbench.Do(ctx, t, r[0], false)
		if s.Outcome != llmbench.OK {
			return nil, 0, fmt.Errorf("a prompt of %d words, to see how the server counts tokens: %s: %v", words, s.Outcome, s.Err)
		}
		if s.PromptTokens == 0 && exact != nil {
			return exact, 0, nil // the server does not tell what its template adds
		}
		if s.PromptTokens == 0 {
			return nil, 0, fmt.Errorf("the server states no usage: set LLMBENCH_TOKENIZER to its tokenizer.json")
		}
		if exact != nil { // one prompt tells what is added to each
			return exact, max(0, s.PromptTokens-exact.Count(r[0].Prompt)), nil
		}
		points = append(points, benchdata.Point{Text: r[0].Prompt, PromptTokens: s.PromptTokens})
	}
	e, err := benchdata.Calibrate(points)
	if err != nil {
		return nil, 0, err
	}
	return e, e.Template(), nil
}

// run measures the server under l, with what every scenario has in common.
func (s server) run(b *testing.B, l llmbench.Load) {
	b.Helper()
	if s.cfg.Tokenizer != "" {
		l.Tokenizer = s.tokens // for a server that states no usage
	}
	llmbench.Run(b, s.target, l)
}

// random sets l's requests: n prompts of in tokens with answers of out tokens,
// anew for each pass, after warmup others. Each benchmark has prompts of its
// own, so that none finds those of another in a cache.
func (s server) random(b *testing.B, l llmbench.Load, n, warmup, in, out int) llmbench.Load {
	b.Helper()
	hash := fnv.New64a()
	hash.Write([]byte(b.Name()))
	p := benchdata.Prompts{Input: in, Output: out, Tokenizer: s.tokens, Template: s.template, Seed: s.cfg.Serve.Seed + hash.Sum64()}
	l.Fresh = func(pass int) ([]llmbench.Request, error) {
		p := p
		p.Seed += uint64(pass) + 1
		return p.Requests(n)
	}
	if warmup > 0 {
		var err error
		if l.Warmup, err = p.Requests(warmup); err != nil {
			b.Fatal(err)
		}
	}
	return l
}
