package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// newTokenizer returns what counts the tokens of the server's prompts, and the number
// of tokens that the server's chat template adds to each. The tokenizer is the
// first of: that of the options, words for the simulated server, the tokenizer.json
// called file, the server's /tokenize, and an estimate from the usage that the
// server states for a few prompts.
func newTokenizer(ctx context.Context, target llmbench.Target, o Options, file string) (llmbench.Tokenizer, int, error) {
	exact := o.Tokenizer
	switch {
	case exact != nil:
	case o.Simulated:
		return tokenizer.Words{}, 0, nil
	case file != "":
		hf, err := tokenizer.LoadHuggingFace(file)
		if err != nil {
			return nil, 0, fmt.Errorf("LLMBENCH_TOKENIZER: %w", err)
		}
		exact = hf
	default:
		asked, err := tokenizer.NewServer(ctx, target)
		if err == nil {
			exact = asked
		} else if !errors.Is(err, tokenizer.ErrNoEndpoint) {
			return nil, 0, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if exact != nil {
		p, err := usage(ctx, target, 40, 0)
		if err != nil || p.PromptTokens == 0 { // a server that states no usage hides its template
			return exact, 0, err
		}
		return exact, max(0, p.PromptTokens-exact.Count(p.Text)), nil
	}
	var points []tokenizer.Point
	for seed, words := range []int{40, 40, 160, 160, 320} {
		p, err := usage(ctx, target, words, seed)
		if err != nil {
			return nil, 0, err
		}
		if p.PromptTokens == 0 {
			return nil, 0, errors.New("the server states no usage: set LLMBENCH_TOKENIZER to its tokenizer.json")
		}
		points = append(points, p)
	}
	estimate, err := tokenizer.Calibrate(points)
	if err != nil {
		return nil, 0, err
	}
	return estimate, estimate.Template(), nil
}

// usage sends a prompt of random words, and returns it with the number of tokens
// that the server states; 0 if the server states none.
func usage(ctx context.Context, t llmbench.Target, words, seed int) (tokenizer.Point, error) {
	r, err := benchdata.Prompts{Input: words, Output: 1, Seed: uint64(1e6 + seed)}.Requests(1)
	if err != nil {
		return tokenizer.Point{}, err
	}
	answer := llmbench.Do(ctx, t, r[0], false)
	if answer.Outcome != sample.OK {
		return tokenizer.Point{}, fmt.Errorf("a prompt of %d words, to see how the server counts tokens: %s: %v", words, answer.Outcome, answer.Err)
	}
	return tokenizer.Point{Text: r[0].Prompt, PromptTokens: answer.PromptTokens}, nil
}
