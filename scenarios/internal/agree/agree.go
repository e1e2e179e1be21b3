// Package agree compares the answers of a server with earlier answers to the same prompts. The
// answers are decoded greedily. So a prompt gets the same answer each time, unless the server's
// weights differ, or its arithmetic depends on what else is in a batch.
package agree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An Answer is what a server answered to a prompt.
type Answer struct {
	Prompt string `json:"prompt"` // the hash of the prompt, by [Hash]
	Text   string `json:"text"`   // with the reasoning before it, if the server returns the reasoning separately
	Tokens int    `json:"tokens"` // the number of tokens of Text, as the server or a tokenizer counted them
}

// Of returns the answer of s to r. It returns false if s has failed.
func Of(r llmbench.Request, s *sample.Sample) (Answer, bool) {
	if s.Outcome != sample.OK || s.Answer == nil {
		return Answer{}, false
	}
	return Answer{Prompt: Hash(r), Text: s.Answer.Reasoning + s.Answer.Text, Tokens: s.OutputTokens}, true
}

// Hash returns a hash of the prompt of r, and of the output that r asks for.
func Hash(r llmbench.Request) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %+q %d %t", r.Prompt, r.Messages, r.MaxTokens, r.FixedOutput))
	return hex.EncodeToString(sum[:16])
}

// References are answers by the hash of their prompt.
type References map[string]Answer

// An Agreement counts to what extent answers agree with references. The zero value is an Agreement
// that has counted no answers.
type Agreement struct {
	Answers int // the answers that have a reference
	Equal   int // the answers whose text is equal to the reference's text
	// Each answer begins with the same text as its reference. Prefix is the sum of the lengths of
	// these common texts, in tokens.
	Prefix float64
}

// Add counts a if it has a reference. It returns whether the texts are equal. Without a reference
// it returns true.
//
// The function count returns the number of tokens of a part of an answer. If it is nil, all tokens
// of an answer are taken to have the same number of characters.
func (all *Agreement) Add(references References, a Answer, count func(text string) int) (equal bool) {
	reference, known := references[a.Prompt]
	if !known {
		return true
	}
	all.Answers++
	if a.Text == reference.Text {
		all.Equal++
		all.Prefix += float64(a.Tokens)
		return true
	}
	shared := a.Text[:CommonPrefix(a.Text, reference.Text)]
	switch {
	case shared == "":
	case count != nil:
		all.Prefix += float64(count(shared))
	default:
		all.Prefix += float64(a.Tokens) * float64(utf8.RuneCountInString(shared)) / float64(utf8.RuneCountInString(a.Text))
	}
	return false
}

// Figures returns the units of the scenario Agreement, or nil if no answer has a reference.
func (all *Agreement) Figures() map[string]float64 {
	if all.Answers == 0 {
		return nil
	}
	n := float64(all.Answers)
	return map[string]float64{"agree-%": 100 * float64(all.Equal) / n, "agree-prefix-tok/req": all.Prefix / n}
}

// CommonPrefix returns the length in bytes of the longest text with which both a and b begin. It
// ends between two characters of a.
func CommonPrefix(a, b string) int {
	n := 0
	for n < len(a) {
		_, size := utf8.DecodeRuneInString(a[n:])
		if len(b) < n+size || a[n:n+size] != b[n:n+size] {
			break
		}
		n += size
	}
	return n
}
