package questions

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/check"
)

// GSM8K has the word problems of the GSM8K data set (https://github.com/openai/grade-school-math). Its
// files are JSON Lines with "question" and "answer". Each answer ends with "#### " and a number.
//
// Prompts are as in the task gsm8k of lm-evaluation-harness
// (https://github.com/EleutherAI/lm-evaluation-harness/blob/main/lm_eval/tasks/gsm8k/gsm8k.yaml): 5 examples
// of the form "Question: ...\nAnswer: ...", and then the question in the same form. If the model goes on
// with another "Question:", the check ignores the text from there. The final number of the answer must be
// right ([check.Number]).
//
// The task takes its examples from the training file. Here, the examples are the last questions of the
// same file. These questions are not asked.
type GSM8K struct {
	Shots  int    // number of examples, from 1 to 100; 0 means 5
	Output int    // upper limit of an answer in tokens; 0 means 256
	Seed   uint64 // determines which questions are asked, and their order; 0 means the order of the file
}

// maxLine is the largest length of a line, in bytes.
const maxLine = 1 << 20

// answerMark is the text before the number in answers of GSM8K.
const answerMark = "####"

// Read returns n requests from a file, or fewer if the file has fewer questions. An error names the line.
func (g GSM8K) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	g.Shots, g.Output = cmp.Or(g.Shots, 5), cmp.Or(g.Output, 256)
	if err := cmp.Or(number("the number of requests", n, 1, 1<<24), number("field Shots", g.Shots, 1, 100), number("field Output", g.Output, 1, 1<<20)); err != nil {
		return nil, err
	}
	var all []Question
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	line := 0
	for lines.Scan() {
		line++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		q, err := parseGSM8K(lines.Bytes())
		if err != nil {
			return nil, &LineError{line, err}
		}
		all = append(all, q)
	}
	if err := lines.Err(); err != nil {
		return nil, &LineError{line + 1, err}
	}
	return few("", all, g.Shots, n, g.Seed, g.Output)
}

// parseGSM8K returns the question of a line.
func parseGSM8K(line []byte) (Question, error) {
	var record struct{ Question, Answer *string }
	if err := json.Unmarshal(line, &record); err != nil {
		return Question{}, fmt.Errorf("want a JSON object with question and answer: %w", err)
	}
	if record.Question == nil || record.Answer == nil || strings.TrimSpace(*record.Question) == "" {
		return Question{}, errors.New("want a JSON object with question and answer")
	}
	at := strings.LastIndex(*record.Answer, answerMark)
	if at < 0 {
		return Question{}, fmt.Errorf("the answer has no %s before its number", answerMark)
	}
	want := strings.TrimSpace((*record.Answer)[at+len(answerMark):])
	if _, err := check.ParseNumber(want); err != nil {
		return Question{}, fmt.Errorf("the answer after %s: %w", answerMark, err)
	}
	return Question{
		Text:   "Question: " + strings.TrimSpace(*record.Question) + "\nAnswer:",
		Answer: strings.TrimSpace(*record.Answer),
		Check:  check.Until(check.Number(want), "Question:", "</s>", "<|im_end|>"),
	}, nil
}

// few returns n few-shot requests. The last shots questions of all are the examples; the others are asked.
func few(intro string, all []Question, shots, n int, seed uint64, output int) ([]llmbench.Request, error) {
	if len(all) <= shots {
		return nil, fmt.Errorf("%d questions: want more than %d, because the last ones are the examples", len(all), shots)
	}
	asked, examples := all[:len(all)-shots], all[len(all)-shots:]
	var requests []llmbench.Request
	for _, q := range choose(asked, n, seed) {
		requests = append(requests, q.request(intro, examples, output))
	}
	return requests, nil
}
