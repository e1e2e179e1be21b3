package tokenizer

import (
	"fmt"
	"math"
)

// Estimate is a tokenizer made from measurements, for a server whose own
// tokenizer is not at hand: a text of w words is taken for PerWord*w tokens.
// [Calibrate] makes one from a few answers of the server.
//
// To have prompts of N tokens as the server counts them, chat template
// included, give the generator both halves of the estimate:
//
//	Prompts{Input: N, Tokenizer: est, Template: est.Template()}
//
// It is good for text like the text it was calibrated on, and no other: code
// or another language has other words.
type Estimate struct {
	// PerWord is the number of tokens that one more word costs; 0 means 1.
	PerWord float64
	// Overhead is the number of tokens that the server adds to every prompt,
	// whatever its length: chat template, system prompt, begin-of-text.
	Overhead float64
	// Residual is how far, in tokens, the worst calibration point lies from
	// the fitted line. It tells how far to trust the estimate.
	Residual float64
}

// A Point is one measured prompt: how long it was, and what the server said
// it was.
type Point struct {
	// Text is the prompt that was sent; its words are counted as by [Words].
	Text string
	// Words is the number of words in the prompt, given instead of Text.
	Words int
	// PromptTokens is usage.prompt_tokens of the server's answer.
	PromptTokens int
}

// Calibrate fits tokens = Overhead + PerWord*words to the points by least
// squares. It returns an error when a point has both a Text and a Words, has
// no words or no tokens, when fewer than two different word counts were
// measured, or when longer prompts did not cost more tokens.
func Calibrate(points []Point) (Estimate, error) {
	words := make([]float64, len(points))
	var meanW, meanT float64
	for i, p := range points {
		w := p.Words
		if p.Text != "" {
			if w != 0 {
				return Estimate{}, fmt.Errorf("calibrate: point %d has both Text and Words (%d), must have one of them", i, w)
			}
			w = Words{}.Count(p.Text)
		}
		if w < 1 {
			return Estimate{}, fmt.Errorf("calibrate: point %d has %d words, must be at least 1", i, w)
		}
		if p.PromptTokens < 1 {
			return Estimate{}, fmt.Errorf("calibrate: point %d has %d PromptTokens, must be at least 1", i, p.PromptTokens)
		}
		words[i] = float64(w)
		meanW += float64(w) / float64(len(points))
		meanT += float64(p.PromptTokens) / float64(len(points))
	}
	if distinct(words) < 2 {
		return Estimate{}, fmt.Errorf("calibrate: %d points have %d different word counts, must be at least 2", len(points), distinct(words))
	}

	var cross, square float64
	for i, p := range points {
		cross += (words[i] - meanW) * (float64(p.PromptTokens) - meanT)
		square += (words[i] - meanW) * (words[i] - meanW)
	}
	e := Estimate{PerWord: cross / square}
	if !(e.PerWord > 0) || math.IsInf(e.PerWord, 1) { // also refuses NaN
		return Estimate{}, fmt.Errorf("calibrate: %g tokens a word, must be more than 0", e.PerWord)
	}
	e.Overhead = meanT - e.PerWord*meanW
	for i, p := range points {
		off := math.Abs(e.Overhead + e.PerWord*words[i] - float64(p.PromptTokens))
		e.Residual = max(e.Residual, off)
	}
	return e, nil
}

// distinct returns how many different values v has.
func distinct(v []float64) int {
	seen := make(map[float64]bool, len(v))
	for _, x := range v {
		seen[x] = true
	}
	return len(seen)
}

// Count returns the estimated tokens of text, PerWord times its words rounded
// to the nearest whole number. Overhead is not in it: that is not in the text.
func (e Estimate) Count(text string) int {
	return int(math.Round(e.perWord() * float64(Words{}.Count(text))))
}

// Template returns Overhead as whole tokens, the nearest number that is not
// negative: the value for [Prompts.Template].
func (e Estimate) Template() int {
	return max(0, int(math.Round(e.Overhead)))
}

// Tolerance returns how many tokens away from a wanted length the nearest
// text of whole words may be: 0 up to one token a word, 1 up to three, and so
// on. [Prompts] asks for no more than that.
func (e Estimate) Tolerance() int {
	return int(math.Ceil(e.perWord())) / 2
}

func (e Estimate) perWord() float64 {
	if e.PerWord == 0 {
		return 1
	}
	return e.PerWord
}
