package benchdata

import (
	"cmp"
	"fmt"
	"io"

	"github.com/seed-2b9cec6d/llmbench/benchdata/internal/questions"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// An AnsweredSet is a set of questions whose answers are known.
type AnsweredSet string

// The sets of questions with answers. Prompts and checks follow the published rules of each set, so that accuracies can be
// compared with published accuracies. Sampling should be greedy: temperature 0. In sets from files, the examples before
// the question are the last questions of the same file, which are not asked.
const (
	// SetArithmetic has generated sums, such as "Question: What is 12 + 7 - 3?". There is no published accuracy.
	SetArithmetic AnsweredSet = "arithmetic"
	// SetGSM8K has the word problems of a file of GSM8K (https://github.com/openai/grade-school-math), with prompts as
	// in the task gsm8k of lm-evaluation-harness.
	SetGSM8K AnsweredSet = "gsm8k"
	// SetMMLU has the multiple-choice questions of a file of MMLU (https://github.com/hendrycks/test), with prompts as
	// in its paper (https://arxiv.org/abs/2009.03300). The server generates the letter of a choice.
	SetMMLU AnsweredSet = "mmlu"
	// SetNeedle has generated long texts that contain one fact, and the question for the fact, in the form of RULER's
	// needle tests (https://arxiv.org/abs/2404.06654).
	SetNeedle AnsweredSet = "needle"
)

// Answered has questions whose answers are known. Each request has a check of its answer, so that
// results report accuracy-%. No question of a file is asked twice: if the file has fewer than n
// questions, there are fewer than n requests.
type Answered struct {
	Set AnsweredSet
	// Path is the file for SetGSM8K and SetMMLU. It may be compressed by gzip or zstd.
	Path string
	// Shots is the number of examples before the question, from 1 to 100; 0 means 4 sums, or 5 questions of a file.
	Shots int
	// Operations and Digits are for SetArithmetic: the number of additions and subtractions in a sum, from 1 to 100, and
	// the largest number of digits of a number, from 1 to 6; 0 means 3 and 2.
	Operations, Digits int
	// Length is for SetNeedle: the approximate length of a prompt in tokens, from 100 to 2^24; 0 means 2,000.
	Length int
	// Depth is for SetNeedle: the position of the fact as a percentage of the text, from 0 to 100. "" means that the
	// requests have the depths 0, 10, 20 and so on to 100 in turn.
	Depth string
	// Subject is for SetMMLU: the subject in the introduction, such as "abstract algebra"; "" omits it.
	Subject string
	// Output limits every answer, in tokens; 0 means 16 and 16 more for each operation of a sum, 256 for SetGSM8K, 16
	// for SetMMLU and 32 for SetNeedle. FixedOutput makes the server generate the full length of each answer.
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
	return nil, fmt.Errorf("answered: field Set is %q: want %s, %s, %s or %s", a.Set, SetArithmetic, SetNeedle, SetGSM8K, SetMMLU)
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
