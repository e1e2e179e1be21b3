package scenarios

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/patient"
)

// A counter counts the tokens in prompts of the server.
type counter struct {
	tokens   llmbench.Tokenizer
	template int // tokens that the server's chat template adds to each prompt
	// noProps and noOllama say that the server is not llama.cpp, and not Ollama.
	noProps, noOllama bool
	// unknown says that it is not known how many tokens the server will count in a prompt.
	unknown bool
}

// guess is a counter for English text. It uses the rule of thumb that 100 tokens are 75 words
// (https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them).
var guess = counter{tokens: tokenizer.Estimate{PerWord: 4.0 / 3}}

// probesTime limits the time of all requests that find out how a server counts tokens.
const probesTime = 2 * time.Minute

// newCounter returns the counter for target. It uses the first of these tokenizers that is available: the
// tokenizer in the options, words for the simulated server, the tokenizer.json named file, the server's
// /tokenize, the vocabulary that Ollama shows, an estimate, and a guess. The estimate is based on the usage
// that the server reports for a few prompts, and is made only if lengths is true, which means that prompts
// must have given lengths. If text is false, the server generates no text: it is asked for no completions,
// nor for its vocabulary. If counts are not exact, newCounter calls logf with the reason. Its error is
// about the options, or says that ctx has ended.
func newCounter(ctx context.Context, target llmbench.Target, o Options, file string, lengths, text bool, logf func(string, ...any)) (counter, error) {
	if o.Tokenizer == nil && o.Simulated {
		return counter{tokens: tokenizer.Words{}}, nil
	}
	probes, cancel := context.WithTimeout(ctx, probesTime)
	defer cancel()
	p := &prober{ctx: probes, later: ctx, target: target, logf: logf}
	exact, err := p.exact(o.Tokenizer, file, text)
	if err != nil {
		return counter{}, err
	}
	var c counter
	switch {
	case exact != nil:
		c.tokens = exact
		if text {
			c.template = p.template(exact)
		}
	case !text:
		c = p.guess(errors.New("it has no /tokenize"))
		c.unknown = true
	case lengths:
		c = p.estimate()
	default:
		c = guess
		c.unknown = true
	}
	c.noProps, c.noOllama = p.noProps, p.noOllama
	return c, context.Cause(ctx)
}

// A prober finds out how a server counts tokens.
type prober struct {
	ctx    context.Context // for the probes
	later  context.Context // for requests that a tokenizer sends after the probes have ended
	target llmbench.Target
	logf   func(string, ...any)

	noProps, noOllama bool // as in counter
}

// exact returns an exact tokenizer: own, the one in file, or the server's. It returns nil if there is none.
// The argument text says that the server generates text. The error is about file.
func (p *prober) exact(own llmbench.Tokenizer, file string, text bool) (llmbench.Tokenizer, error) {
	known, err := p.given(own, file)
	if known != nil || err != nil {
		return known, err
	}
	asked, err := tokenizer.NewServer(p.later, p.target)
	switch {
	case err == nil:
		p.noProps, p.noOllama = !asked.LlamaCPP(), true
		return asked, nil
	case !text:
		return nil, nil
	}
	if errors.Is(err, tokenizer.ErrNoEndpoint) {
		p.noProps = true // llama.cpp has /tokenize
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

// tellEstimates prints at the end of b if a tokenizer that asks the server t has estimated. A comment before that could
// come in the middle of a line of results.
func tellEstimates(b *testing.B, tok llmbench.Tokenizer, t llmbench.Target) {
	s, ok := tok.(*tokenizer.Server)
	if !ok {
		return
	}
	b.Cleanup(func() {
		if why := s.Estimates(); why != nil {
			harness.Note(b, "lengths of texts are partly estimated: "+t.Redact(why.Error())+"; for exact lengths set LLMBENCH_TOKENIZER to a file, or to a server that is not behind the gateway")
		}
	})
}

// beside returns the server at a URL, which counts the tokens of the model of t. The header of t, which may have
// credentials, and its certificate are sent only to the same host, and only with TLS if t uses it.
func beside(t llmbench.Target, raw string) (llmbench.Target, error) {
	other := llmbench.Target{URL: raw, Model: t.Model, Dialect: t.Dialect, Proxy: t.Proxy, Dial: t.Dial}
	if err := other.Check(); err != nil {
		return other, errors.New(strings.TrimPrefix(err.Error(), "target: "))
	}
	from, _ := url.Parse(t.URL)
	to, err := url.Parse(raw)
	if err == nil && from != nil && strings.EqualFold(from.Hostname(), to.Hostname()) && (from.Scheme != "https" || to.Scheme == "https") {
		other.Header, other.TLS = t.Header, t.TLS
	} else if t.TLS != nil {
		other.TLS = &tls.Config{RootCAs: t.TLS.RootCAs, InsecureSkipVerify: t.TLS.InsecureSkipVerify}
	}
	return other, nil
}

// given returns own, or the tokenizer in file, which may also be the URL of a server. It returns nil if there is
// neither. The error is about file.
func (p *prober) given(own llmbench.Tokenizer, file string) (llmbench.Tokenizer, error) {
	if own != nil || file == "" {
		return own, nil
	}
	if isServer(file) {
		t, err := beside(p.target, file)
		if err == nil {
			var s *tokenizer.Server
			if s, err = tokenizer.NewServer(p.later, t); err == nil {
				return s, nil
			}
		}
		return nil, fmt.Errorf("LLMBENCH_TOKENIZER: %s", t.Redact(err.Error()))
	}
	hf, err := tokenizer.LoadHuggingFace(file)
	if err != nil {
		return nil, fmt.Errorf("LLMBENCH_TOKENIZER: %w", err)
	}
	return hf, nil
}

// agrees reports whether shown, a tokenizer made from the vocabulary that the server shows, counts like the
// server.
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

// template returns the number of tokens that the server adds to a prompt, according to its usage. It
// returns 0 if the server reports no usage, because the template is then unknown.
func (p *prober) template(exact llmbench.Tokenizer) int {
	q, err := p.ask(probeWords(0, 40))
	if err != nil {
		p.logf("prompts are longer by what the server's chat template adds, which is unknown: %v", err)
		return 0
	}
	return max(0, q.PromptTokens-exact.Count(q.Text))
}

// estimate returns a counter that is calibrated by the usage that the server reports. It sends quarters and
// halves of the list of words, so that the mean length of the words in the short prompts, and in the long
// ones, equals the mean length of the words in all prompts.
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
		return p.guess(fmt.Errorf("the usage that it reports cannot be used: %w", err))
	}
	p.logf("prompts have about the lengths that were asked for: the server has no tokenizer that can be asked; by its usage for %d prompts, a word has %.4g tokens on average, and the chat template adds %d; for exact lengths set LLMBENCH_TOKENIZER to the model's tokenizer.json", len(points), e.PerWord, e.Template())
	return counter{tokens: e, template: e.Template()}
}

// guess returns the variable guess, and logs why there is nothing better.
func (p *prober) guess(why error) counter {
	p.logf("prompts have about the lengths that were asked for, at 4/3 tokens a word: the server does not tell how it counts tokens: %v; for exact lengths set LLMBENCH_TOKENIZER to the model's tokenizer.json", why)
	return guess
}

// probeWords returns n words of random prompts, in an order that depends on seed.
func probeWords(seed uint64, n int) []string {
	all := benchdata.WordList()
	r := rand.New(rand.NewPCG(seed, 0x70726f6265))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

// ask sends a prompt of words, and returns the prompt with the number of tokens that the server reports. If
// the server refuses the prompt temporarily, ask sends it again. If several processes measure together,
// only one of them sends the prompt.
func (p *prober) ask(words []string) (tokenizer.Point, error) {
	return harness.Lead("how the server counts tokens", func() (tokenizer.Point, error) { return p.askAlone(words) })
}

// leastOutput is the smallest number of output tokens that OpenAI's Responses API accepts.
const leastOutput = 16

func (p *prober) askAlone(words []string) (tokenizer.Point, error) {
	// The answer need not have a fixed length, which some servers do not support.
	r := llmbench.Request{Prompt: strings.Join(words, " "), MaxTokens: 1}
	send := func(stream bool) (sample.Sample, error) {
		return patient.Send(p.ctx, p.logf, func() (sample.Sample, error) { return llmbench.Do(p.ctx, p.target, r, stream), nil })
	}
	s, err := send(false)
	if err == nil && s.Outcome == sample.HTTP && (s.Status == http.StatusBadRequest || s.Status == http.StatusUnprocessableEntity) {
		r.MaxTokens = leastOutput
		s, err = send(true) // some servers answer only streams
	}
	switch {
	case err != nil:
		return tokenizer.Point{}, err
	case s.Outcome == sample.Empty && s.PromptTokens > 0: // an answer without text was counted, too
	case s.Outcome != sample.OK:
		return tokenizer.Point{}, fmt.Errorf("a prompt of %d words, to see how the server counts tokens: %s: %w", len(words), s.Outcome, s.Err)
	case s.PromptTokens == 0:
		return tokenizer.Point{}, errors.New("it reports no usage")
	}
	return tokenizer.Point{Text: r.Prompt, PromptTokens: s.PromptTokens}, nil
}
