package questions

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/check"
)

// MMLU has the multiple-choice questions of a file of MMLU (https://github.com/hendrycks/test). The file
// is CSV without a header. Its columns are the question, the four choices and the letter of the right
// choice. Each file has the questions of one subject.
//
// Prompts are as in the paper (https://arxiv.org/abs/2009.03300) and its evaluate.py: "The following are
// multiple choice questions (with answers) about SUBJECT.", 5 examples, and the question. The paper compares the
// probabilities of the four letters after "Answer:". Here the server generates an answer, and the check
// takes the letter at the end or at the beginning of the answer ([check.Choice]).
//
// The paper takes its examples from another file. Here, the examples are the last questions of the same
// file. These questions are not asked.
type MMLU struct {
	Subject string // subject in the introduction, such as "abstract algebra"; "" omits "about SUBJECT"
	Shots   int    // number of examples, from 1 to 100; 0 means 5
	Output  int    // upper limit of an answer in tokens; 0 means 16
	Seed    uint64 // determines which questions are asked, and their order; 0 means the order of the file
}

// Read returns n requests from a file, or fewer if the file has fewer questions. An error names the line.
func (m MMLU) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	m.Shots, m.Output = cmp.Or(m.Shots, 5), cmp.Or(m.Output, 16)
	if err := cmp.Or(number("the number of requests", n, 1, 1<<24), number("field Shots", m.Shots, 1, 100), number("field Output", m.Output, 1, 1<<20)); err != nil {
		return nil, err
	}
	var all []Question
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = -1
	for {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, &LineError{parse.Line, parse.Err}
		}
		if err != nil {
			return nil, err
		}
		q, err := parseMMLU(row)
		if err != nil {
			line, _ := rows.FieldPos(0)
			return nil, &LineError{line, err}
		}
		all = append(all, q)
	}
	intro := "The following are multiple choice questions (with answers)"
	if m.Subject != "" {
		intro += " about " + m.Subject
	}
	return few(intro+".\n\n", all, m.Shots, n, m.Seed, m.Output)
}

// parseMMLU returns the question of a row.
func parseMMLU(row []string) (Question, error) {
	if len(row) != 6 {
		return Question{}, fmt.Errorf("the row has %d columns: want 6: a question, four choices and a letter", len(row))
	}
	letter := strings.TrimSpace(row[5])
	if len(letter) != 1 || letter < "A" || letter > "D" {
		return Question{}, fmt.Errorf("the answer is %.20q: want A, B, C or D", letter)
	}
	text := row[0]
	for i, choice := range row[1:5] {
		text += fmt.Sprintf("\n%c. %s", 'A'+i, choice)
	}
	return Question{Text: text + "\nAnswer:", Answer: letter, Check: check.Choice(letter)}, nil
}
