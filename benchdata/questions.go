package benchdata

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A QuestionFormat is the format of the file of a [Questions] data set. In the JSON formats,
// the file is JSON Lines or one JSON array of objects.
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
	// Long is JSON with a long text and a task in "question": the long.jsonl that
	// users of EvalScope write themselves.
	Long QuestionFormat = "long"
	// Alpaca is JSON with an "instruction" and an optional "input", as in
	// alpaca_data.json (https://github.com/tatsu-lab/stanford_alpaca). The prompt is the
	// instruction and, on the next line, the input.
	Alpaca QuestionFormat = "alpaca"
	// LongAlpaca is JSON with the whole question in "instruction", as in
	// LongAlpaca-12k.json (https://huggingface.co/datasets/Yukang/LongAlpaca-12k).
	LongAlpaca QuestionFormat = "longalpaca"
	// Lines is text with a question in each line: EvalScope's line_by_line.
	Lines QuestionFormat = "lines"
	// CustomVLLM is vLLM's custom data set: JSON with the question in "prompt" and,
	// optionally, the length of the answer in "output_tokens". The latter is used only if
	// [Questions.OwnOutput] is set.
	CustomVLLM QuestionFormat = "jsonl"
	// SpecBench is JSON with the turns of a chat in "turns", of which the first is the question, and a "category", as in
	// the question.jsonl of MT-Bench (https://github.com/lm-sys/FastChat/tree/main/fastchat/llm_judge) and of Spec-Bench
	// (https://github.com/hemingkx/Spec-Bench), and as SPEED-Bench has them
	// (https://huggingface.co/datasets/nvidia/SPEED-Bench, as JSON). Texts that a model is likely to continue in one way
	// are what speculative decoding is measured on; random words are not. About half of the published records of SPEED-Bench
	// have a placeholder instead of the text, which is an error.
	SpecBench QuestionFormat = "spec-bench"
)

// vllm reports whether the data set follows vLLM's rules.
func (f QuestionFormat) vllm() bool { return f == CustomVLLM || f == SpecBench }

// questionFormats has, for each format, the names of the members that are used.
var questionFormats = map[QuestionFormat][]string{
	OpenQA:     {"question"},
	Codefuse:   {"input"},
	Long:       {"question"},
	Alpaca:     {"instruction", "input"},
	LongAlpaca: {"instruction"},
	Lines:      nil,
	CustomVLLM: {"prompt", "output_tokens"},
	SpecBench:  {"turns", "category"},
}

// Questions has the questions of a file as prompts.
//
// It follows EvalScope's rules (evalscope/perf/plugin/datasets in
// https://github.com/modelscope/evalscope):
//
//   - White space around a question is removed.
//   - Questions that are empty, shorter than MinPrompt or longer than MaxPrompt are skipped.
//   - The first n questions are taken. If there are fewer, they repeat from the first.
//
// For [CustomVLLM] and [SpecBench] it follows vLLM's rules
// (https://github.com/vllm-project/vllm/tree/main/vllm/benchmarks/datasets):
//
//   - The text is unchanged.
//   - The questions are shuffled, with Seed 0 too.
//   - If there are fewer than n questions, more are drawn from them with replacement.
//
// Unlike both tools, Questions returns an error for a record with a wrong format. The error
// names the file and the line. Questions holds only the returned requests in memory, and reads
// only as much of the file as needed.
type Questions struct {
	// Format is the format of the file.
	Format QuestionFormat
	// Path is the file that Requests reads. The file may be compressed by gzip or
	// zstd.
	Path string
	// Category takes only the questions of one category, like vLLM's --spec-bench-category; "" takes all. It is only
	// allowed for SpecBench.
	Category string
	// Output limits every answer, in tokens. 0 means 2,048, EvalScope's default. For CustomVLLM and SpecBench, 0 means
	// 256, the default of vLLM's --custom-output-len and --spec-bench-output-len.
	Output int
	// OwnOutput limits each answer by "output_tokens" of its record instead of Output, like
	// vLLM's --custom-output-len -1. A record without "output_tokens" is then an error.
	// OwnOutput is only allowed for CustomVLLM.
	OwnOutput bool
	// FixedOutput makes the server generate the full length of each answer. Without
	// FixedOutput the model may stop earlier.
	FixedOutput bool
	// MinPrompt and MaxPrompt are the smallest and the largest length, in tokens, of the
	// questions that are taken. A MinPrompt of 0 means 1, a MaxPrompt of 0 means no limit.
	MinPrompt, MaxPrompt int
	// NoRepeat returns fewer than n requests if the file has fewer than n such questions.
	NoRepeat bool
	// Seed, if not 0, shuffles the questions; if there are fewer than n, more are drawn
	// from them with replacement. 0 takes the questions in the order of the file.
	Seed uint64
	// Salt, if not 0, replaces the beginning of each question: see [Options].Salt.
	Salt uint64
	// Tokenizer counts the tokens of questions; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// defaultOutput is EvalScope's default limit for the length of an answer, in tokens.
const defaultOutput = 2048

// Requests returns n requests from the file at Path. Their PromptTokens is the length of the
// question, counted by the Tokenizer. Requests returns an error if n or a field is out of
// range, if the file cannot be read, if the file's format is wrong, or if no question has an
// allowed length.
func (q Questions) Requests(n int) ([]llmbench.Request, error) {
	return readFile(q.kind(), q.Path, func(s *source) ([]llmbench.Request, error) { return q.read(s, n) })
}

// Read is like Requests for a file that is read from r.
func (q Questions) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	return readFrom(q.kind(), r, func(s *source) ([]llmbench.Request, error) { return q.read(s, n) })
}

// kind returns the name of the data set in errors.
func (q Questions) kind() string {
	if _, ok := questionFormats[q.Format]; !ok {
		return "questions"
	}
	return string(q.Format)
}

func (q Questions) check(n int) error {
	if _, ok := questionFormats[q.Format]; !ok {
		return fmt.Errorf("field Format is %q: want one of the formats of questions", q.Format)
	}
	switch {
	case n < 1:
		return fmt.Errorf("%d requests: want at least 1", n)
	case q.Output < 0 || q.Output > mostTokens:
		return fmt.Errorf("field Output is %d tokens: want from 1 to %d, or 0 for the default", q.Output, mostTokens)
	case q.OwnOutput && q.Format != CustomVLLM:
		return fmt.Errorf("field OwnOutput is set for format %s: want it for %s only", q.Format, CustomVLLM)
	case q.Category != "" && q.Format != SpecBench:
		return fmt.Errorf("field Category is %q for format %s: want it for %s only", q.Category, q.Format, SpecBench)
	case q.OwnOutput && q.Output > 0:
		return fmt.Errorf("field Output is %d tokens and OwnOutput is set: want one of them", q.Output)
	case q.MinPrompt < 0 || q.MaxPrompt < 0 || q.MaxPrompt > 0 && q.MaxPrompt < q.MinPrompt:
		return fmt.Errorf("fields MinPrompt and MaxPrompt are %d and %d tokens: want at least 0 and in order", q.MinPrompt, q.MaxPrompt)
	}
	return nil
}

func (q Questions) read(s *source, n int) ([]llmbench.Request, error) {
	if err := q.check(n); err != nil {
		return nil, err
	}
	sample := newSampler(n, q.Seed, q.Seed != 0 || q.Format.vllm())
	tok := orWords(q.Tokenizer)
	err := add(sample, q.questions(s), tok, func(r llmbench.Request) (llmbench.Request, bool) {
		r.PromptTokens = tok.Count(r.Prompt)
		return r, r.PromptTokens >= max(q.MinPrompt, 1) && (q.MaxPrompt == 0 || r.PromptTokens <= q.MaxPrompt)
	})
	if err != nil {
		return nil, err
	}
	if len(sample.kept) == 0 {
		return nil, fmt.Errorf("no question of %d records has an allowed length", sample.records)
	}
	return saltTexts(sample.requests(!q.NoRepeat), q.Salt, tok)
}

// questions yields all questions of the file, whatever their length.
func (q Questions) questions(s *source) iter.Seq2[llmbench.Request, error] {
	return func(yield func(llmbench.Request, error) bool) {
		r := llmbench.Request{MaxTokens: q.Output, FixedOutput: q.FixedOutput}
		switch {
		case q.Output > 0:
		case q.Format.vllm():
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
		type record struct {
			llmbench.Request
			category string
		}
		question := func(o item) (rec record, err error) {
			rec.Request, err = q.question(o, r)
			if err == nil && q.Category != "" {
				rec.category, err = o.text("category")
			}
			return rec, err
		}
		others := map[string]bool{} // categories that are not taken
		found := false
		for rec, err := range items(s, questionFormats[q.Format], question) {
			if err == nil && rec.category != q.Category {
				others[rec.category] = true
				continue
			}
			found = true
			if !yield(rec.Request, err) || err != nil {
				return
			}
		}
		if !found && len(others) > 0 {
			yield(r, fmt.Errorf("no record has the category %q: want one of %q", q.Category, slices.Sorted(maps.Keys(others))))
		}
	}
}

// question returns r with the prompt, and with the record's own output length if OwnOutput is
// set.
func (q Questions) question(o item, r llmbench.Request) (llmbench.Request, error) {
	var err error
	if q.Format == SpecBench {
		r.Prompt, err = firstTurn(o)
		return r, err
	}
	if r.Prompt, err = o.text(questionFormats[q.Format][0]); err != nil {
		return r, err
	}
	switch q.Format {
	case CustomVLLM:
		if q.OwnOutput {
			if r.MaxTokens, err = o.tokens("output_tokens"); err == nil && r.MaxTokens == 0 {
				err = errors.New(`"output_tokens" is 0: want at least 1`)
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

// placeholder is the beginning of a turn whose text SPEED-Bench does not distribute
// (https://github.com/NVIDIA/Model-Optimizer/tree/main/examples/specdec_bench).
const placeholder = "FULL BENCHMARK DATA SHOULD BE FETCHED"

// firstTurn returns the first turn of a record.
func firstTurn(o item) (string, error) {
	turns, err := o.texts("turns")
	switch {
	case err != nil:
		return "", err
	case len(turns) == 0:
		return "", errors.New(`"turns" is empty: want at least one turn`)
	case strings.HasPrefix(turns[0], placeholder):
		return "", errors.New(`"turns" has a placeholder: want the text, which prepare_data.py of NVIDIA's specdec_bench fills in`)
	}
	return turns[0], nil
}
