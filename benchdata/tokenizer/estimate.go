package tokenizer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// An Estimate is a tokenizer for a server whose own tokenizer is not available. It counts
// PerWord tokens for each word. [Calibrate] makes an Estimate from a few answers of the
// server.
//
// To make prompts of N tokens, as the server counts them with the chat template, a data set
// needs both the estimate and its template:
//
//	benchdata.Prompts{Input: N, Tokenizer: est, Template: est.Template()}
//
// An Estimate is valid for texts similar to the calibration texts. Program code or another
// language has a different number of tokens per word.
type Estimate struct {
	// PerWord is the number of tokens per word; 0 means 1.
	PerWord float64
	// Overhead is the number of tokens that the server adds to every prompt: chat
	// template, system prompt, begin-of-text.
	Overhead float64
	// Residual is the largest distance, in tokens, of a calibration point from the
	// fitted line. If it is large, counts are inaccurate.
	Residual float64
}

// A Point is one measured prompt: its length in words, and the length in tokens that the
// server reported.
type Point struct {
	// Text is the prompt that was sent. [Words] counts its words.
	Text string
	// Words is the number of words in the prompt, if Text is empty.
	Words int
	// PromptTokens is usage.prompt_tokens in the server's answer.
	PromptTokens int
}

// Calibrate fits tokens = Overhead + PerWord*words to the points by least squares. It returns
// an error in these cases: a point has both Text and Words, no words or no tokens; there are
// fewer than two different word counts; or the fitted PerWord is not above 0.
func Calibrate(points []Point) (Estimate, error) {
	words := make([]float64, len(points))
	var meanW, meanT float64
	for i, p := range points {
		w := p.Words
		if p.Text != "" {
			if w != 0 {
				return Estimate{}, fmt.Errorf("calibrate: point %d has both Text and Words (%d), must have only one of them", i, w)
			}
			w = Words{}.Count(p.Text)
		}
		if w < 1 {
			return Estimate{}, fmt.Errorf("calibrate: point %d has %d words: want at least 1", i, w)
		}
		if p.PromptTokens < 1 {
			return Estimate{}, fmt.Errorf("calibrate: point %d has %d PromptTokens: want at least 1", i, p.PromptTokens)
		}
		words[i] = float64(w)
		meanW += float64(w) / float64(len(points))
		meanT += float64(p.PromptTokens) / float64(len(points))
	}
	if different := len(slices.Compact(slices.Sorted(slices.Values(words)))); different < 2 {
		return Estimate{}, fmt.Errorf("calibrate: %d points have %d different word counts: want at least 2", len(points), different)
	}

	var cross, square float64
	for i, p := range points {
		cross += (words[i] - meanW) * (float64(p.PromptTokens) - meanT)
		square += (words[i] - meanW) * (words[i] - meanW)
	}
	e := Estimate{PerWord: cross / square}
	if math.Abs(e.PerWord) < 1e-9 { // rounding
		e.PerWord = 0
	}
	if !(e.PerWord > 0) || math.IsInf(e.PerWord, 1) { // also true for NaN
		return Estimate{}, fmt.Errorf("calibrate: %g tokens a word: want more than 0", e.PerWord)
	}
	e.Overhead = meanT - e.PerWord*meanW
	for i, p := range points {
		off := math.Abs(e.Overhead + e.PerWord*words[i] - float64(p.PromptTokens))
		e.Residual = max(e.Residual, off)
	}
	return e, nil
}

// Count returns PerWord times the number of words in text, rounded to the nearest
// whole number. Overhead is not included, because the text does not contain it.
func (e Estimate) Count(text string) int {
	return int(math.Round(e.perWord() * float64(Words{}.Count(text))))
}

// Template returns Overhead rounded to the nearest whole number, and not below 0.
// It is the value for the field Template of the types in package benchdata.
func (e Estimate) Template() int {
	return max(0, int(math.Round(e.Overhead)))
}

// Tolerance returns the largest possible difference, in tokens, between a wanted length and
// the closest length of a text of whole words. It is 0 for up to one token per word, 1 for up
// to three tokens per word, and so on.
func (e Estimate) Tolerance() int {
	return int(math.Ceil(e.perWord())) / 2
}

func (e Estimate) perWord() float64 { return cmp.Or(e.PerWord, 1) }
