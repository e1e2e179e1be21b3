package benchdata

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// sonnetsText has 23 sonnets by William Shakespeare in modern spelling (1609; numbers 1, 2,
// 12, 15, 18, 19, 27, 29, 30, 33, 55, 60, 65, 71, 73, 94, 97, 98, 104, 106, 116, 130, 138).
// They are in the public domain.
//
//go:embed sonnets.txt
var sonnetsText string

// sonnetTask begins every prompt.
const sonnetTask = "Which of the following lines belong together?\n"

// Sonnet is the workload "sonnet". A prompt is a task, some lines of poems that are the same
// in all prompts (the common lines), and random lines.
//
// It follows the rules of vLLM's SonnetDataset (sonnet.py in
// https://github.com/vllm-project/vllm/tree/main/vllm/benchmarks/datasets):
//
//   - The number of all lines is Input, less the tokens of the task and Template, divided
//     by the mean length of a line. The number of common lines is computed from Prefix in
//     the same way.
//   - The common lines are the first lines of the file. The others are drawn with
//     replacement.
//   - If a prompt is longer than Input, its lines are drawn again. So prompts have about
//     Input tokens, and never more.
//
// Unlike vLLM's, the lines are the sonnets in this package, and the task has other words.
type Sonnet struct {
	// Path is a file with other lines; "" means the sonnets in this package.
	Path string
	// Input is the largest length of a prompt in tokens, Prefix the approximate length of
	// the task and the common lines, and Output the length of every answer. 0 means vLLM's
	// defaults: 550, 200 and 150. A negative Prefix means no common lines.
	Input, Prefix, Output int
	// FixedOutput makes the server generate the full length of each answer.
	FixedOutput bool
	// Seed determines the lines.
	Seed uint64
	// Salt, if not 0, replaces the first words of the task: see [Options].Salt. The task
	// remains the same in all prompts.
	Salt uint64
	// Template is the number of tokens that the server adds to the prompt (chat template,
	// begin-of-text). Input includes them.
	Template int
	// Tokenizer counts tokens; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// maxDraws limits how often the lines of a prompt are drawn to get at most Input tokens.
const maxDraws = 1000

// Requests returns n requests. Their PromptTokens is the length of the prompt, counted by the
// Tokenizer, plus Template. Requests returns an error if n or a field is out of range, if the
// file cannot be read, or if Input is too small for a line.
func (s Sonnet) Requests(n int) ([]llmbench.Request, error) {
	if s.Path == "" {
		return s.Read(strings.NewReader(sonnetsText), n)
	}
	return readFile("sonnet", s.Path, func(r *source) ([]llmbench.Request, error) { return s.read(r, n) })
}

// Read is like Requests for lines that are read from r.
func (s Sonnet) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	return readFrom("sonnet", r, func(r *source) ([]llmbench.Request, error) { return s.read(r, n) })
}

func (s Sonnet) read(r *source, n int) ([]llmbench.Request, error) {
	s.Input, s.Prefix, s.Output = cmp.Or(s.Input, 550), cmp.Or(s.Prefix, 200), cmp.Or(s.Output, 150)
	tok := orWords(s.Tokenizer)
	base := tok.Count(sonnetTask) + s.Template
	switch {
	case n < 1:
		return nil, fmt.Errorf("%d requests: want at least 1", n)
	case s.Output < 1:
		return nil, fmt.Errorf("field Output is %d tokens: want at least 1", s.Output)
	case s.Template < 0:
		return nil, fmt.Errorf("field Template is %d tokens: want at least 0", s.Template)
	case s.Input <= base || s.Input > mostTokens:
		return nil, fmt.Errorf("field Input is %d tokens: want more than the %d of the task and at most %d", s.Input, base, mostTokens)
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
		return nil, errors.New("the file has no words")
	}
	mean := float64(tokens) / float64(len(all))
	count := func(tokens int) int { return int(math.RoundToEven(float64(tokens-base) / mean)) } // rounds half to even, like Python
	total, common := count(s.Input), max(count(s.Prefix), 0)
	if common > len(all) || total <= common {
		return nil, fmt.Errorf("field Input is %d tokens (about %d lines), and field Prefix %d tokens (about %d lines): want more lines for Input than for Prefix, and at most the %d lines of the file for Prefix",
			s.Input, total, s.Prefix, common, len(all))
	}
	prefix := sonnetTask + strings.Join(all[:common], "")
	random := rand.New(rand.NewPCG(s.Seed, 0))
	requests := make([]llmbench.Request, n)
	for i := range requests {
		var err error
		requests[i], err = s.request(tok, prefix, all, total-common, random)
		if tokErr := tokenizerError(tok); tokErr != nil {
			return nil, tokErr
		}
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
	}
	return saltTexts(requests, s.Salt, tok)
}

// request draws lines until the prompt has at most Input tokens.
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
