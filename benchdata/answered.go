package benchdata

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/seed-2b9cec6d/llmbench/benchdata/questions"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// An AnsweredSet is a set of questions whose answers are known.
type AnsweredSet string

// The sets of questions with answers. Package questions describes them.
const (
	SetArithmetic AnsweredSet = "arithmetic" // sums that are made up: [questions.Arithmetic]
	SetGSM8K      AnsweredSet = "gsm8k"      // word problems from a file: [questions.GSM8K]
	SetMMLU       AnsweredSet = "mmlu"       // multiple-choice questions from a file: [questions.MMLU]
	SetNeedle     AnsweredSet = "needle"     // facts in long texts that are made up: [questions.Needle]
)

// Answered has questions whose answers are known. Each request has a check, so that results have
// accuracy-%. No question is asked twice: a file with fewer questions than n yields fewer requests.
type Answered struct {
	Set AnsweredSet
	// Path is the file of SetGSM8K and SetMMLU, which may be compressed by gzip or zstd.
	Path string
	// Shots is the number of examples before the question, and the other fields of one set have the meaning they have in
	// package questions; 0 and "" mean the set's own.
	Shots, Operations, Digits, Length int
	Depth, Subject                    string
	// Output limits every answer, in tokens; 0 means the set's own limit. FixedOutput makes the
	// server generate the full length of each answer.
	Output      int
	FixedOutput bool
	// Seed determines which questions are asked, and their order. 0 takes the questions of a file in the order of
	// the file.
	Seed uint64
	// Salt, if not 0, replaces the beginning of each prompt, which is the beginning of its first example or
	// of an introduction, and not of the question: see [Options].Salt.
	Salt uint64
	// Tokenizer counts the tokens of prompts; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// Requests returns n requests, or fewer if the file has fewer questions. It returns an error if n or a
// field is out of range, or if the file cannot be read or is not in the format.
func (a Answered) Requests(n int) ([]llmbench.Request, error) {
	switch a.Set {
	case SetArithmetic:
		return a.complete(questions.Arithmetic{Operations: a.Operations, Digits: a.Digits, Shots: a.Shots, Output: a.Output, Seed: a.Seed}.Requests(n))
	case SetNeedle:
		return a.complete(questions.Needle{Length: a.Length, Depth: a.Depth, Output: a.Output, Seed: a.Seed, Tokenizer: a.Tokenizer}.Requests(n))
	case SetGSM8K, SetMMLU:
		return readFile(string(a.Set), a.Path, func(s *source) ([]llmbench.Request, error) { return a.read(s, n) })
	}
	return nil, fmt.Errorf("answered: field Set is %q, must be %s, %s, %s or %s", a.Set, SetArithmetic, SetNeedle, SetGSM8K, SetMMLU)
}

// Read is like Requests for a file that is read from r.
func (a Answered) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	return readFrom(cmp.Or(string(a.Set), "answered"), r, func(s *source) ([]llmbench.Request, error) { return a.read(s, n) })
}

func (a Answered) read(s *source, n int) ([]llmbench.Request, error) {
	s.limit, s.left = maxAnswered, maxAnswered
	if a.Set == SetMMLU {
		return a.complete(questions.MMLU{Subject: a.Subject, Shots: a.Shots, Output: a.Output, Seed: a.Seed}.Read(s, n))
	}
	return a.complete(questions.GSM8K{Shots: a.Shots, Output: a.Output, Seed: a.Seed}.Read(s, n))
}

// maxAnswered is the greatest length of a file of questions with answers, in bytes: all of them are in
// memory. The largest published one has 7 MB.
const maxAnswered = 256 << 20

// complete sets what all sets have in common.
func (a Answered) complete(requests []llmbench.Request, err error) ([]llmbench.Request, error) {
	if at, ok := errors.AsType[*questions.LineError](err); ok {
		return nil, &lineError{at.Line, at.Err}
	}
	if err != nil {
		return nil, err
	}
	tok := orWords(a.Tokenizer)
	err = forEach(tok, len(requests), func(i int) error {
		requests[i].PromptTokens, requests[i].FixedOutput = tok.Count(requests[i].Prompt), a.FixedOutput
		return nil
	})
	if err == nil {
		err = tokenizerError(tok)
	}
	if err != nil {
		return nil, err
	}
	return saltTexts(requests, a.Salt, tok)
}

// answered opens an [Answered].
func answered(set AnsweredSet) func(string, Options, *params) Workload {
	return func(path string, o Options, p *params) Workload {
		a := Answered{Set: set, Path: path, Output: o.Output, FixedOutput: o.FixedOutput, Seed: o.Seed, Salt: o.Salt, Tokenizer: o.Tokenizer}
		if set != SetNeedle {
			a.Shots = p.count("shots")
		}
		switch set {
		case SetArithmetic:
			a.Operations, a.Digits = p.count("operations"), p.count("digits")
		case SetMMLU:
			a.Subject = p.text("subject")
		case SetNeedle:
			a.Length, a.Depth = o.Input, p.text("depth")
		}
		return a
	}
}
