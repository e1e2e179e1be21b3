package scenarios

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/patient"
)

// A counter counts the tokens of the server's prompts.
type counter struct {
	tokens   llmbench.Tokenizer
	template int // tokens that the server's chat template adds to each prompt
	// unknown says that the server's counts of the prompts cannot be known before.
	unknown bool
}

// guess is a counter for English text, by the rule of thumb that 100 tokens are 75 words
// (https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them).
var guess = counter{tokens: tokenizer.Estimate{PerWord: 4.0 / 3}}

// probesTime bounds all requests that find out how a server counts tokens.
const probesTime = 2 * time.Minute

// newCounter returns the counter for target. Its tokenizer is the first of: the tokenizer of the options,
// words for the simulated server, the tokenizer.json called file, the server's /tokenize, the
// vocabulary that Ollama shows, an estimate from the usage that the server states for a few prompts,
// and a guess. The estimate is made only if lengths is set: if the prompts have to have lengths that
// were asked for. logf is told why a count is not exact. The error is about the options, or the end
// of ctx.
func newCounter(ctx context.Context, target llmbench.Target, o Options, file string, lengths bool, logf func(string, ...any)) (counter, error) {
	if o.Tokenizer == nil && o.Simulated {
		return counter{tokens: tokenizer.Words{}}, nil
	}
	probes, cancel := context.WithTimeout(ctx, probesTime)
	defer cancel()
	p := &prober{ctx: probes, later: ctx, target: target, logf: logf}
	exact, err := p.exact(o.Tokenizer, file)
	if err != nil {
		return counter{}, err
	}
	var c counter
	switch {
	case exact != nil:
		c = counter{tokens: exact, template: p.template(exact)}
	case lengths:
		c = p.estimate()
	default:
		c = guess
		c.unknown = true
	}
	return c, context.Cause(ctx)
}

// A prober asks a server how it counts tokens.
type prober struct {
	ctx    context.Context // of the probes
	later  context.Context // of what a tokenizer asks when the probes have ended
	target llmbench.Target
	logf   func(string, ...any)
}

// exact returns the tokenizer that is at hand: own, file's tokenizer, or the server's. It returns nil if
// there is none. The error is about file.
func (p *prober) exact(own llmbench.Tokenizer, file string) (llmbench.Tokenizer, error) {
	if own != nil {
		return own, nil
	}
	if file != "" {
		hf, err := tokenizer.LoadHuggingFace(file)
		if err != nil {
			return nil, fmt.Errorf("LLMBENCH_TOKENIZER: %w", err)
		}
		return hf, nil
	}
	asked, err := tokenizer.NewServer(p.later, p.target)
	if err == nil {
		return asked, nil
	}
	if errors.Is(err, tokenizer.ErrNoEndpoint) {
		var shown *tokenizer.HuggingFace
		if shown, err = tokenizer.NewOllama(p.ctx, p.target); err == nil && p.agrees(shown) {
			return shown, nil
		}
	}
	if err != nil && !errors.Is(err, tokenizer.ErrNoEndpoint) {
		p.logf("the server cannot be asked for its tokenizer: %v", err)
	}
	return nil, nil
}

// agrees reports whether shown, which is made from what the server shows of its vocabulary, counts
// as the server does.
func (p *prober) agrees(shown llmbench.Tokenizer) bool {
	short, err := p.ask(probeWords(0, 40))
	if err != nil {
		return false
	}
	long, err := p.ask(probeWords(1, 200))
	if err != nil {
		return false
	}
	stated, counted := long.PromptTokens-short.PromptTokens, shown.Count(long.Text)-shown.Count(short.Text)
	if stated != counted {
		p.logf("the vocabulary that the server shows is not used: by it one text has %d tokens more than another, and by the server's usage %d", counted, stated)
	}
	return stated == counted
}

// template returns the number of tokens that the server adds to a prompt, by its usage. It returns 0
// for a server that states no usage, which hides its template.
func (p *prober) template(exact llmbench.Tokenizer) int {
	q, err := p.ask(probeWords(0, 40))
	if err != nil {
		p.logf("prompts are longer by what the server's chat template adds, which is unknown: %v", err)
		return 0
	}
	return max(0, q.PromptTokens-exact.Count(q.Text))
}

// estimate returns a counter that is calibrated by the usage that the server states. Quarters and
// halves of the list of words are sent, so that the mean length of the words in both equals the mean of the
// words of all prompts.
func (p *prober) estimate() counter {
	var points []tokenizer.Point
	for _, parts := range []int{4, 2} {
		all := probeWords(uint64(parts), len(benchdata.WordList()))
		for part := range slices.Chunk(all, len(all)/parts) {
			q, err := p.ask(part)
			if err != nil {
				return p.guess(err)
			}
			points = append(points, q)
		}
	}
	e, err := tokenizer.Calibrate(points)
	if err != nil {
		return p.guess(fmt.Errorf("the usage that it states cannot be used: %w", err))
	}
	return counter{tokens: e, template: e.Template()}
}

// guess returns the guess, and logs why nothing better is known.
func (p *prober) guess(why error) counter {
	p.logf("prompts have about the lengths that were asked for, at 4/3 tokens a word: the server does not tell how it counts tokens: %v; for exact lengths set LLMBENCH_TOKENIZER to the model's tokenizer.json", why)
	return guess
}

// probeWords returns the first n of the words of random prompts in an order that depends on seed.
func probeWords(seed uint64, n int) []string {
	all := benchdata.WordList()
	r := rand.New(rand.NewPCG(seed, 0x70726f6265))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

// ask sends a prompt of words, again if the server refuses it for now, and returns the prompt with
// the number of tokens that the server states. One of several processes sends the prompt.
func (p *prober) ask(words []string) (tokenizer.Point, error) {
	return llmbench.Lead("how the server counts tokens", func() (tokenizer.Point, error) { return p.askAlone(words) })
}

func (p *prober) askAlone(words []string) (tokenizer.Point, error) {
	r := llmbench.Request{Prompt: strings.Join(words, " "), MaxTokens: 1, FixedOutput: true}
	s, err := patient.Send(p.ctx, p.logf, func() (sample.Sample, error) { return llmbench.Do(p.ctx, p.target, r, false), nil })
	switch {
	case err != nil:
		return tokenizer.Point{}, err
	case s.Outcome != sample.OK:
		return tokenizer.Point{}, fmt.Errorf("a prompt of %d words, to see how the server counts tokens: %s: %w", len(words), s.Outcome, s.Err)
	case s.PromptTokens == 0:
		return tokenizer.Point{}, errors.New("it states no usage")
	}
	return tokenizer.Point{Text: r.Prompt, PromptTokens: s.PromptTokens}, nil
}
