package benchdata

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A QuestionFormat says where in a file the questions of a [Questions] data
// set are. Those of JSON may be JSON Lines or one JSON array of objects.
type QuestionFormat string

// The formats of questions.
const (
	// OpenQA is JSON with the question in "question", as in open_qa.jsonl of
	// HC3-Chinese (https://huggingface.co/datasets/Hello-SimpleAI/HC3-Chinese).
	OpenQA QuestionFormat = "openqa"
	// Codefuse is JSON with the question in "input", as in data.json of
	// Codefuse-Evol-Instruct-Clean
	// (https://modelscope.cn/datasets/Banksy235/Codefuse-Evol-Instruct-Clean).
	Codefuse QuestionFormat = "codefuse"
	// Long is JSON with a long text and what to do with it in "question": the
	// long.jsonl that users of EvalScope write themselves.
	Long QuestionFormat = "long"
	// Alpaca is JSON with an "instruction" and maybe an "input", which then
	// stands on the lines below it, as in alpaca_data.json
	// (https://github.com/tatsu-lab/stanford_alpaca).
	Alpaca QuestionFormat = "alpaca"
	// LongAlpaca is JSON with all of the question in "instruction", as in
	// LongAlpaca-12k.json (https://huggingface.co/datasets/Yukang/LongAlpaca-12k).
	LongAlpaca QuestionFormat = "longalpaca"
	// Lines is text with a question on each line, EvalScope's line_by_line.
	Lines QuestionFormat = "lines"
	// CustomVLLM is JSON with the question in "prompt" and maybe the length of
	// its answer in "output_tokens", which counts with OwnOutput alone: vLLM's
	// custom data set.
	CustomVLLM QuestionFormat = "jsonl"
)

// questionFormats are all of them, with the members that each looks at.
var questionFormats = map[QuestionFormat][]string{
	OpenQA:     {"question"},
	Codefuse:   {"input"},
	Long:       {"question"},
	Alpaca:     {"instruction", "input"},
	LongAlpaca: {"instruction"},
	Lines:      nil,
	CustomVLLM: {"prompt", "output_tokens"},
}

// Questions are questions that a file has, without the answers.
//
// It follows EvalScope's rules (evalscope/perf/plugin/datasets in
// https://github.com/modelscope/evalscope): white space around a question is
// no part of it; a question shorter than MinPrompt or longer than MaxPrompt is
// left out, and so is an empty one; the first n are taken, and when there are
// fewer they come again from the first. Of [CustomVLLM] vLLM's hold
// (https://github.com/vllm-project/vllm/tree/main/vllm/benchmarks/datasets):
// the text is taken as it is, the questions are shuffled whatever the Seed,
// and when there are too few, more are drawn from them with replacement.
//
// Unlike both, it takes no record for a question that is not in the format: it
// is an error, which names the file and the line. Only the requests that are
// returned are held in memory, and only as much of the file is read as needed.
type Questions struct {
	// Format is what the file is.
	Format QuestionFormat
	// Path is the file that Requests reads; it may be compressed by gzip or zstd.
	Path string
	// Output limits every answer, in tokens; 0 means 2,048, EvalScope's
	// default, and of CustomVLLM 256, that of vLLM's --custom-output-len.
	Output int
	// OwnOutput takes each record's "output_tokens" instead, which none may
	// lack: vLLM's --custom-output-len -1. Only CustomVLLM has it.
	OwnOutput bool
	// FixedOutput makes the server generate the whole length; without it the
	// model may stop earlier.
	FixedOutput bool
	// MinPrompt and MaxPrompt are the shortest and the longest question that
	// is taken, in tokens; 0 means 1, and no limit.
	MinPrompt, MaxPrompt int
	// NoRepeat returns fewer than n requests when there are no more.
	NoRepeat bool
	// Seed shuffles the questions, and those that are too few are drawn again
	// with replacement; 0 takes them in the order of the file.
	Seed uint64
	// Tokenizer counts the tokens of questions; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// defaultOutput is the limit of answers in tokens where nothing sets one.
const defaultOutput = 2048

// Requests returns n requests from the file at Path; their PromptTokens is the
// question's length by the Tokenizer. It returns an error when n or a field is
// out of range, when the file cannot be read or is not in the format, and when
// no question has the right length.
func (q Questions) Requests(n int) ([]llmbench.Request, error) {
	return readFile(q.kind(), q.Path, func(s *source) ([]llmbench.Request, error) { return q.read(s, n) })
}

// Read is Requests for a file that is read from r.
func (q Questions) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	return readFrom(q.kind(), r, func(s *source) ([]llmbench.Request, error) { return q.read(s, n) })
}

// kind is what errors call the data set.
func (q Questions) kind() string {
	if _, ok := questionFormats[q.Format]; !ok {
		return "questions"
	}
	return string(q.Format)
}

func (q Questions) check(n int) error {
	if _, ok := questionFormats[q.Format]; !ok {
		return fmt.Errorf("field Format is %q, must be one of the formats of questions", q.Format)
	}
	switch {
	case n < 1:
		return fmt.Errorf("%d requests, must be at least 1", n)
	case q.Output < 0 || q.Output > mostTokens:
		return fmt.Errorf("field Output is %d tokens, must be from 1 to %d, or 0 for the default", q.Output, mostTokens)
	case q.OwnOutput && q.Format != CustomVLLM:
		return fmt.Errorf("field OwnOutput is set, but only %s has lengths of its own", CustomVLLM)
	case q.OwnOutput && q.Output > 0:
		return fmt.Errorf("fields Output and OwnOutput are %d tokens and set, must be one of them", q.Output)
	case q.MinPrompt < 0 || q.MaxPrompt < 0 || q.MaxPrompt > 0 && q.MaxPrompt < q.MinPrompt:
		return fmt.Errorf("fields MinPrompt and MaxPrompt are %d and %d tokens, must be at least 0 and in order", q.MinPrompt, q.MaxPrompt)
	}
	return nil
}

func (q Questions) read(s *source, n int) ([]llmbench.Request, error) {
	if err := q.check(n); err != nil {
		return nil, err
	}
	sample := newSampler(n, q.Seed, q.Seed != 0 || q.Format == CustomVLLM)
	tok := orWords(q.Tokenizer)
	err := pick(sample, q.questions(s), tok, func(r llmbench.Request) (llmbench.Request, bool) {
		r.PromptTokens = tok.Count(r.Prompt)
		return r, r.PromptTokens >= max(q.MinPrompt, 1) && (q.MaxPrompt == 0 || r.PromptTokens <= q.MaxPrompt)
	})
	if err != nil {
		return nil, err
	}
	if len(sample.kept) == 0 {
		return nil, fmt.Errorf("none of %d records can be used: no question has the right length", sample.place)
	}
	return sample.requests(!q.NoRepeat), nil
}

// questions reads all of the file's questions, of any length.
func (q Questions) questions(s *source) iter.Seq2[llmbench.Request, error] {
	return func(yield func(llmbench.Request, error) bool) {
		r := llmbench.Request{MaxTokens: q.Output, FixedOutput: q.FixedOutput}
		switch {
		case q.Output > 0:
		case q.Format == CustomVLLM:
			r.MaxTokens = 256
		default:
			r.MaxTokens = defaultOutput
		}
		if q.Format == Lines {
			for line, err := range lines(s) {
				r.Prompt = strings.TrimSpace(line)
				if !yield(r, err) || err != nil {
					return
				}
			}
			return
		}
		question := func(o item) (llmbench.Request, error) { return q.question(o, r) }
		for r, err := range items(s, questionFormats[q.Format], question) {
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// question adds a question to r.
func (q Questions) question(o item, r llmbench.Request) (llmbench.Request, error) {
	var err error
	if r.Prompt, err = o.text(questionFormats[q.Format][0]); err != nil {
		return r, err
	}
	switch q.Format {
	case CustomVLLM:
		if q.OwnOutput {
			if r.MaxTokens, err = o.tokens("output_tokens"); err == nil && r.MaxTokens == 0 {
				err = errors.New(`"output_tokens" is 0, must be at least 1`)
			}
		}
		return r, err
	case Alpaca:
		if o.has("input") {
			input, err := o.text("input")
			if err != nil {
				return r, err
			}
			r.Prompt += "\n" + input
		}
	}
	r.Prompt = strings.TrimSpace(r.Prompt)
	return r, nil
}
