// Package check checks whether a model's answer is correct. A [Func] is the check of one request; the field
// llmbench.Request.Check has this type. The functions of this package return such checks. They extract the
// answer from the text by published rules, so that accuracies can be compared with published accuracies.
//
// A check reads the text of the answer without its reasoning.
package check

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An Answer is what a server generated for one request.
type Answer = sample.Answer

// A ToolCall is a function call that an answer asks for.
type ToolCall = sample.ToolCall

// A Func returns nil if an answer is correct. Otherwise its error says what was expected and what was
// found. A Func must not keep the answer after it returns, and it must not block forever.
type Func = func(Answer) error

// maxShown is how much of an answer an error shows, in bytes.
const maxShown = 120

// show quotes a text. It quotes only the end of a long text, because answers usually end with their result.
func show(text string) string {
	if text = strings.TrimSpace(text); len(text) <= maxShown {
		return fmt.Sprintf("%q", text)
	}
	at := len(text) - maxShown
	for !utf8.RuneStart(text[at]) && at < len(text)-1 {
		at++
	}
	return fmt.Sprintf("...%q", text[at:])
}

// Exact returns a check that the text equals want. White space around the two texts is ignored.
func Exact(want string) Func {
	want = strings.TrimSpace(want)
	return func(a Answer) error {
		if strings.TrimSpace(a.Text) != want {
			return fmt.Errorf("want the text %s, and the answer is %s", show(want), show(a.Text))
		}
		return nil
	}
}

// Contains returns a check that the text contains want, with the same upper and lower case. Retrieval tests
// use this rule if the fact to be found is a number or a unique name.
func Contains(want string) Func {
	return func(a Answer) error {
		if !strings.Contains(a.Text, want) {
			return fmt.Errorf("want a text that contains %s, and the answer is %s", show(want), show(a.Text))
		}
		return nil
	}
}

// Regexp returns a check that the text has a match of a regular expression. A match takes time that is
// linear in the length of the text.
func Regexp(want *regexp.Regexp) Func {
	return func(a Answer) error {
		if !want.MatchString(a.Text) {
			return fmt.Errorf("want a match of the regular expression %s, and the answer is %s", want, show(a.Text))
		}
		return nil
	}
}

// Until returns a check that applies f to the text before the first of the stops, or to the whole text if
// it has none of them. After its answer to a few-shot prompt, a base model goes on with a question of its
// own. Evaluations therefore end the output with stop strings. Until does the same after the request. It
// first removes white space and stops from the beginning of the text.
func Until(f Func, stops ...string) Func {
	return func(a Answer) error {
		a.Text = strings.TrimSpace(a.Text)
		for cut := true; cut; {
			cut = false
			for _, stop := range stops {
				if rest, found := strings.CutPrefix(a.Text, stop); found && stop != "" {
					a.Text, cut = strings.TrimSpace(rest), true
				}
			}
		}
		for _, stop := range stops {
			if stop != "" {
				a.Text, _, _ = strings.Cut(a.Text, stop)
			}
		}
		return f(a)
	}
}

// visible returns a text without the reasoning that a server may leave in it. It removes everything up to
// the last "</think>", and everything after a "<think>" without an end.
func visible(text string) string {
	if at := strings.LastIndex(text, "</think>"); at >= 0 {
		text = text[at+len("</think>"):]
	}
	text, _, _ = strings.Cut(text, "<think>")
	return text
}
