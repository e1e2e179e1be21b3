package check

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	// letterAlone matches an answer that begins with its letter, as that of a base model to a
	// few-shot prompt, which ends with "Answer:".
	letterAlone = regexp.MustCompile(`^[\s(*]*([A-D])(?:$|[).:,*\n])`)
	// letterNamed matches "Answer: B" in the form of the multiple-choice evaluations of simple-evals
	// (https://github.com/openai/simple-evals/blob/main/common.py), and "the answer is (B)", that of
	// MMLU-Pro (https://github.com/TIGER-AI-Lab/MMLU-Pro/blob/main/evaluate_from_local.py).
	letterNamed = regexp.MustCompile(`(?i:answer[ \t*]*:[ \t*]*\$?\(?)([A-Da-d])\b|(?i:answer is[ \t*]*:?[ \t*]*\$?\(?)([A-D])\b`)
)

// Choice wants a letter from A to D. If the text begins with a letter alone, as "B" or "(B) 12", this
// letter counts, and else the last one of the form "Answer: B" or "the answer is (B)". Choice panics
// if want is another letter.
func Choice(want string) Func {
	if len(want) != 1 || want < "A" || want > "D" {
		panic(fmt.Sprintf("check.Choice: %q: want A, B, C or D", want))
	}
	return func(a Answer) error {
		switch found := chosen(a.Text); found {
		case want:
			return nil
		case "":
			return fmt.Errorf("want the choice %s, and the answer chooses none of A to D: %s", want, show(a.Text))
		default:
			return fmt.Errorf("want the choice %s, and the answer chooses %s", want, found)
		}
	}
}

// chosen returns the letter that a text chooses, or "".
func chosen(text string) string {
	if m := letterAlone.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	all := letterNamed.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return ""
	}
	m := all[len(all)-1]
	return strings.ToUpper(m[1] + m[2])
}
