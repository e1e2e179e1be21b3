package benchdata

import (
	"cmp"
	"fmt"
	"io"

	"github.com/seed-2b9cec6d/llmbench/benchdata/questions"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// An AnsweredSet is a set of questions whose answers are known.
type AnsweredSet string

// The sets of questions with answers. Package questions describes them.
const (
	SetArithmetic AnsweredSet = "arithmetic" // generated sums: [questions.Arithmetic]
	SetGSM8K      AnsweredSet = "gsm8k"      // word problems from a file: [questions.GSM8K]
	SetMMLU       AnsweredSet = "mmlu"       // multiple-choice questions from a file: [questions.MMLU]
	SetNeedle     AnsweredSet = "needle"     // facts in generated long texts: [questions.Needle]
)

// Answered has questions whose answers are known. Each request has a check of its answer, so that
// results report accuracy-%. No question of a file is asked twice: if the file has fewer than n
// questions, there are fewer than n requests.
type Answered struct {
	Set AnsweredSet
	// Path is the file for SetGSM8K and SetMMLU. It may be compressed by gzip or zstd.
	Path string
	// Shots is the number of examples before the question. Each of the other fields applies to only
	// one set: package questions describes them. 0 and "" mean the set's default.
	Shots, Operations, Digits, Length int
	Depth, Subject                    string
	// Output limits every answer, in tokens; 0 means the set's default. FixedOutput makes the
	// server generate the full length of each answer.
	Output      int
	FixedOutput bool
	// Seed determines which questions are asked, and their order. If Seed is 0, the questions of a file are
	// asked in the order of the file.
	Seed uint64
	// Salt, if not 0, replaces the beginning of each prompt: see [Options].Salt. A prompt begins with an
	// introduction or an example, so the question does not change.
	Salt uint64
	// Tokenizer counts the tokens of prompts; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// Requests returns n requests, or fewer if the file has fewer questions. It returns an error if n or a
// field is out of range, if the file cannot be read, or if the file's format is wrong.
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

// maxAnswered is the largest allowed size of a file of questions with answers, in bytes. It is limited
// because the whole file is held in memory. The largest published file has 7 MB.
const maxAnswered = 256 << 20

// complete sets the fields of the requests that do not depend on the set.
func (a Answered) complete(requests []llmbench.Request, err error) ([]llmbench.Request, error) {
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

// answered returns a function that opens an [Answered] with the given set.
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
