package benchdata

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// sonnetsText is 23 of the sonnets of William Shakespeare (1609; numbers 1, 2,
// 12, 15, 18, 19, 27, 29, 30, 33, 55, 60, 65, 71, 73, 94, 97, 98, 104, 106,
// 116, 130, 138) in modern spelling, which are in the public domain.
//
//go:embed sonnets.txt
var sonnetsText string

// sonnetTask is what stands before the lines.
const sonnetTask = "Which of the following lines belong together?\n"

// Sonnet is the "sonnet" workload: a task, lines of poems that all prompts have
// in common, and lines drawn at random, as many as make about so many tokens.
//
// It follows the rules of vLLM's SonnetDataset (sonnet.py in
// https://github.com/vllm-project/vllm/tree/main/vllm/benchmarks/datasets): the
// number of lines is what Input and Prefix allow at the mean length of a line,
// rounded; the first lines are in common, the others drawn with replacement;
// a prompt that came out longer than Input is drawn again. So prompts are of
// about Input tokens, and never more. The lines are Shakespeare's sonnets,
// which this package has, and the task is its own: vLLM's file and words are
// other ones.
type Sonnet struct {
	// Path is a file whose lines are taken instead of the sonnets.
	Path string
	// Input, Prefix and Output are the most tokens of a prompt, about how many
	// of them all prompts have in common, and the length of every answer;
	// 0 means 550, 200 and 150, vLLM's defaults. A negative Prefix is none.
	Input, Prefix, Output int
	// FixedOutput makes the server generate the whole length.
	FixedOutput bool
	// Seed draws the lines.
	Seed uint64
	// Template is how many of the Input tokens the server adds by itself.
	Template int
	// Tokenizer counts the tokens; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// maxDraws is how often a prompt may be drawn until it is short enough.
const maxDraws = 1000

// Requests returns n requests; their PromptTokens is the prompt's length by the
// Tokenizer, and Template. It returns an error when n or a field is out of
// range, when the file cannot be read, and when Input has room for no line.
func (s Sonnet) Requests(n int) ([]llmbench.Request, error) {
	if s.Path == "" {
		return s.Read(strings.NewReader(sonnetsText), n)
	}
	return readFile("sonnet", s.Path, func(r *source) ([]llmbench.Request, error) { return s.read(r, n) })
}

// Read is Requests for lines that are read from r.
func (s Sonnet) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	return readFrom("sonnet", r, func(r *source) ([]llmbench.Request, error) { return s.read(r, n) })
}

func (s Sonnet) read(r *source, n int) ([]llmbench.Request, error) {
	setDefault(&s.Input, 550)
	setDefault(&s.Prefix, 200)
	setDefault(&s.Output, 150)
	tok := orWords(s.Tokenizer)
	base := tok.Count(sonnetTask) + s.Template
	switch {
	case n < 1:
		return nil, fmt.Errorf("%d requests, must be at least 1", n)
	case s.Output < 1:
		return nil, fmt.Errorf("field Output is %d tokens, must be at least 1", s.Output)
	case s.Template < 0:
		return nil, fmt.Errorf("field Template is %d tokens, must be at least 0", s.Template)
	case s.Input <= base || s.Input > mostTokens:
		return nil, fmt.Errorf("field Input is %d tokens, must be more than the %d of the task, to %d", s.Input, base, mostTokens)
	}
	var all []string
	tokens := 0
	for line, err := range lines(r) {
		if err != nil {
			return nil, err
		}
		all = append(all, line+"\n")
		tokens += tok.Count(line + "\n")
	}
	if tokens == 0 {
		return nil, fmt.Errorf("there are no lines of text")
	}
	mean := float64(tokens) / float64(len(all))
	count := func(tokens int) int { return int(math.RoundToEven(float64(tokens-base) / mean)) } // as Python rounds
	total, common := count(s.Input), max(count(s.Prefix), 0)
	if common > len(all) || total <= common {
		return nil, fmt.Errorf("fields Input and Prefix are %d and %d tokens, some %d and %d lines: must leave a line to draw, and have no more in common than the %d there are",
			s.Input, s.Prefix, total, common, len(all))
	}
	prefix := sonnetTask + strings.Join(all[:common], "")
	random := rand.New(rand.NewPCG(s.Seed, 0))
	requests := make([]llmbench.Request, n)
	for i := range requests {
		var err error
		requests[i], err = s.request(tok, prefix, all, total-common, random)
		if wrong := tokenizerError(tok); wrong != nil {
			return nil, wrong
		}
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
	}
	return requests, nil
}

// request draws lines until the prompt is short enough.
func (s Sonnet) request(tok llmbench.Tokenizer, prefix string, all []string, lines int, random *rand.Rand) (llmbench.Request, error) {
	for range maxDraws {
		var text strings.Builder
		text.WriteString(prefix)
		for range lines {
			text.WriteString(all[random.IntN(len(all))])
		}
		if tokens := tok.Count(text.String()) + s.Template; tokens <= s.Input {
			return llmbench.Request{Prompt: text.String(), MaxTokens: s.Output, FixedOutput: s.FixedOutput, PromptTokens: tokens}, nil
		}
	}
	return llmbench.Request{}, fmt.Errorf("no %d lines of at most %d tokens found in %d draws", lines, s.Input, maxDraws)
}

// setDefault sets a field that is 0.
func setDefault(field *int, value int) {
	if *field == 0 {
		*field = value
	}
}
