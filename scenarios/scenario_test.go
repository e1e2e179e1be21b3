package scenarios

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
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
			tokens, template, err := newTokenizer(llmbench.Context(b), cfg, backend, target)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(modelName(cfg, target.Model), func(b *testing.B) {
				_, inside := backend.Backend.(backends.Mock)
				measure(b, server{cfg: cfg, target: target, tokens: tokens, template: template, mock: isMock(backend), inside: inside})
			})
		})
	}
}

// asked returns what the environment says, and the backends it asks for.
func asked(b *testing.B) (config, []backends.Named) {
	b.Helper()
	cfg, err := readConfig()
	if err != nil {
		b.Fatal(err)
	}
	all, err := backends.FromConfig(cfg.Config)
	if err != nil {
		b.Fatal(err)
	}
	return cfg, all
}

// modelName is the part of a benchmark's name that says which model it measures.
func modelName(cfg config, model string) string {
	name := "model=" + llmbench.NameValue(model)
	if cfg.Quant != "" {
		name += "/quant=" + llmbench.NameValue(cfg.Quant)
	}
	return name
}

// A server is a target and what is known of its tokens.
type server struct {
	cfg      config
	target   llmbench.Target
	tokens   llmbench.Tokenizer
	template int // tokens that the server adds to a prompt
	mock     bool
	inside   bool // it is the mock in this process
}

// newTokenizer returns what tells the length of a prompt: a tokenizer.json if one
// is given, the mock's own rule for the mock, what the server says at /tokenize
// if it has that, and otherwise an estimate made from the usage that the server
// states for prompts of known text.
func newTokenizer(ctx context.Context, cfg config, backend backends.Named, t llmbench.Target) (llmbench.Tokenizer, int, error) {
	if isMock(backend) {
		return tokenizer.Words{}, 0, nil
	}
	var exact llmbench.Tokenizer
	if cfg.Tokenizer != "" {
		hf, err := tokenizer.LoadHuggingFace(cfg.Tokenizer)
		if err != nil {
			return nil, 0, fmt.Errorf("LLMBENCH_TOKENIZER: %w", err)
		}
		exact = hf
	} else {
		asked, err := tokenizer.NewServer(ctx, t)
		if err == nil {
			exact = asked
		} else if !errors.Is(err, tokenizer.ErrNoEndpoint) {
			return nil, 0, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var points []tokenizer.Point
	for seed, words := range []int{40, 40, 160, 160, 320} {
		r, err := benchdata.Prompts{Input: words, Output: 1, Seed: uint64(1e6 + seed)}.Requests(1)
		if err != nil {
			return nil, 0, err
		}
		s := llmbench.Do(ctx, t, r[0], false)
		if s.Outcome != sample.OK {
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
		points = append(points, tokenizer.Point{Text: r[0].Prompt, PromptTokens: s.PromptTokens})
	}
	e, err := tokenizer.Calibrate(points)
	if err != nil {
		return nil, 0, err
	}
	return e, e.Template(), nil
}

// run measures the server under l, with what every scenario has in common.
func (s server) run(b *testing.B, l llmbench.Load) []sample.Sample {
	b.Helper()
	if s.cfg.Tokenizer != "" {
		l.Tokenizer = s.tokens // for a server that states no usage
	}
	return llmbench.Run(b, s.target, l)
}

// random sets l's requests: n prompts of in tokens with answers of out tokens,
// anew for each pass, after warmup others.
func (s server) random(b *testing.B, l llmbench.Load, n, warmup, in, out int) llmbench.Load {
	b.Helper()
	return s.fresh(b, l, n, warmup, func(n int, seed uint64) ([]llmbench.Request, error) {
		return s.prompts(in, out, seed).Requests(n)
	})
}

// prompts are random words.
func (s server) prompts(in, out int, seed uint64) benchdata.Prompts {
	return benchdata.Prompts{Input: in, Output: out, Tokenizer: s.tokens, Template: s.template, Seed: seed}
}

// fresh sets l's requests: n that draw gives, anew for each pass, after warmup
// others. Each benchmark has seeds of its own, so that none finds the prompts of
// another in a cache.
func (s server) fresh(b *testing.B, l llmbench.Load, n, warmup int, draw func(n int, seed uint64) ([]llmbench.Request, error)) llmbench.Load {
	b.Helper()
	seed := func(pass int) uint64 { // neighbouring values of LLMBENCH_SEED have none in common
		hash := fnv.New64a()
		fmt.Fprint(hash, b.Name(), " ", s.cfg.Serve.Seed, " ", pass)
		return hash.Sum64()
	}
	l.Fresh = func(pass int) ([]llmbench.Request, error) { return draw(n, seed(pass)) }
	if warmup > 0 {
		var err error
		if l.Warmup, err = draw(warmup, seed(-1)); err != nil {
			b.Fatal(err)
		}
	}
	return l
}
