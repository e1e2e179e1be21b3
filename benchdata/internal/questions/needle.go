package questions

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/check"
)

// Needle generates long texts that contain one fact, the special magic number of an invented name, and
// asks for the number. The form follows RULER's needle tests (https://github.com/NVIDIA/RULER,
// https://arxiv.org/abs/2404.06654): the text consists of sentences that repeat, and an answer is right if
// it contains the number ([check.Contains]). Each request has its own fact, number and beginning.
type Needle struct {
	Length int // approximate length of the prompt in tokens, from 100 to 2^24; 0 means 2,000
	// Depth is the position of the fact as a percentage of the text, from 0 to 100. "" means that the
	// requests have the depths 0, 10, 20 and so on to 100 in turn.
	Depth  string
	Output int    // upper limit of an answer in tokens; 0 means 32
	Seed   uint64 // determines names and numbers
	// Tokenizer counts tokens; nil means words.
	Tokenizer llmbench.Tokenizer
}

// hay has the sentences around the fact. want is the task at the beginning of the prompt.
const (
	hay  = "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again."
	want = "A special magic number is hidden within the following text. Make sure to memorize it. I will quiz you about the number afterwards.\n"
)

// The name in a fact is a word of before and a word of after.
var (
	before = []string{"old", "new", "lost", "long", "cold", "deep", "grey", "high", "warm", "calm", "late", "wide"}
	after  = []string{"lake", "town", "road", "hill", "gate", "mill", "farm", "wood", "cave", "shore", "field", "tower"}
)

// Requests returns n requests.
func (d Needle) Requests(n int) ([]llmbench.Request, error) {
	d.Length, d.Output = cmp.Or(d.Length, 2000), cmp.Or(d.Output, 32)
	depth := -1
	if d.Depth != "" {
		if _, err := fmt.Sscanf(d.Depth+"\n", "%d\n", &depth); err != nil || depth < 0 || depth > 100 {
			return nil, fmt.Errorf("needle: field Depth is %q: want a whole percentage from 0 to 100", d.Depth)
		}
	}
	if err := cmp.Or(number("the number of requests", n, 1, 1<<24), number("field Length", d.Length, 100, 1<<24), number("field Output", d.Output, 1, 1<<20)); err != nil {
		return nil, fmt.Errorf("needle: %w", err)
	}
	count := func(text string) int { return len(strings.Fields(text)) }
	if d.Tokenizer != nil {
		count = d.Tokenizer.Count
	}
	random := rand.New(rand.NewPCG(d.Seed, 0x6e6565646c65))
	sentences := strings.SplitAfter(hay, ". ")
	tokens := max(1, count(hay))
	requests := make([]llmbench.Request, n)
	for i := range requests {
		at := depth
		if at < 0 {
			at = i % 11 * 10
		}
		name := before[random.IntN(len(before))] + "-" + after[random.IntN(len(after))]
		number := fmt.Sprint(1_000_000 + random.IntN(9_000_000))
		first := after[random.IntN(len(after))] + " " + before[random.IntN(len(before))] + " " + after[random.IntN(len(after))] + ". " // so that prefix caches find no common beginning
		fact := "The special magic number for " + name + " is: " + number + ". "
		question := "\nWhat is the special magic number for " + name + " mentioned in the provided text?\nAnswer:"
		rest := max(0, d.Length-count(first+want+fact+question))
		all := int(math.Round(float64(rest) / float64(tokens) * float64(len(sentences))))
		var text strings.Builder
		text.WriteString(first + want)
		for k := range all + 1 {
			if k == all*at/100 {
				text.WriteString(fact)
			}
			if k < all {
				text.WriteString(strings.TrimSpace(sentences[k%len(sentences)]) + " ")
			}
		}
		text.WriteString(question)
		requests[i] = llmbench.Request{Prompt: text.String(), MaxTokens: d.Output, PromptTokens: count(text.String()), Check: check.Contains(number)}
	}
	return requests, nil
}
