// Package questions has questions with known answers: each request has a check of its answer.
// Prompts and checks follow the published rules of each set, so that accuracies can be compared with
// published accuracies. Sampling should be greedy: temperature 0.
package questions

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/check"
)

// A Question is a question with its answer.
type Question struct {
	Text   string     // the question, with "Answer:" at its end
	Answer string     // the answer, for use as an example in a few-shot prompt
	Check  check.Func // accepts right answers
}

// request returns the request for a question. The prompt is intro, the examples, each followed by an empty
// line, and the question. The answer has at most output tokens.
func (q Question) request(intro string, examples []Question, output int) llmbench.Request {
	prompt := intro
	for _, e := range examples {
		prompt += e.Text + " " + e.Answer + "\n\n"
	}
	return llmbench.Request{Prompt: prompt + q.Text, MaxTokens: output, Check: q.Check}
}

// choose returns n elements of all, without repetition. The seed determines which elements, and their
// order. If seed is 0, they are the first n. The result may share memory with all.
func choose(all []Question, n int, seed uint64) []Question {
	n = min(n, len(all))
	if seed == 0 {
		return all[:n]
	}
	var chosen []Question
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:n] {
		chosen = append(chosen, all[i])
	}
	return chosen
}

// number returns an error unless v is from least to most. name is the value's name in the error.
func number(name string, v, least, most int) error {
	if v < least || v > most {
		return fmt.Errorf("%s is %d: want from %d to %d", name, v, least, most)
	}
	return nil
}

// A LineError is an error in a line of a file.
type LineError struct {
	Line int // the first line is 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the error without the line number.
func (e *LineError) Unwrap() error { return e.Err }
