// Package check says whether an answer of a model is right. A [Func] is the check of one request:
// llmbench.Request.Check is one. The ready ones extract the answer from the text by published rules,
// so that accuracies can be compared with published ones.
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

// A ToolCall is a call of a function that an answer asks for.
type ToolCall = sample.ToolCall

// A Func returns nil if an answer is right. Its error says what was expected and what was found. It
// must return, and must not keep the answer.
type Func = func(Answer) error

// maxShown is how much of an answer an error shows, in bytes.
const maxShown = 120

// show quotes the end of a text, where answers have their result.
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

// Exact wants a text, without regard to space around it.
func Exact(want string) Func {
	want = strings.TrimSpace(want)
	return func(a Answer) error {
		if strings.TrimSpace(a.Text) != want {
			return fmt.Errorf("want the text %s, and the answer is %s", show(want), show(a.Text))
		}
		return nil
	}
}

// Contains wants a text that contains another, in the same case. It is the rule of retrieval tests
// whose fact is a number or a name of its own.
func Contains(want string) Func {
	return func(a Answer) error {
		if !strings.Contains(a.Text, want) {
			return fmt.Errorf("want a text that contains %s, and the answer is %s", show(want), show(a.Text))
		}
		return nil
	}
}

// Regexp wants a text with a match of a regular expression. The time of a match is linear in the
// length of the text.
func Regexp(want *regexp.Regexp) Func {
	return func(a Answer) error {
		if !want.MatchString(a.Text) {
			return fmt.Errorf("want a match of the regular expression %s, and the answer is %s", want, show(a.Text))
		}
		return nil
	}
}

// Until checks the text before the first of some stops, or the whole text if it has none of them. A
// base model that has answered a few-shot prompt goes on with a question of its own; evaluations end
// the output there with stop strings, and this does the same after the request. Space and stops at the
// beginning of the text are left out first.
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

// visible returns a text without the reasoning that a server left in it: all before the last
// "</think>", and all after a "<think>" that has no end.
func visible(text string) string {
	if at := strings.LastIndex(text, "</think>"); at >= 0 {
		text = text[at+len("</think>"):]
	}
	text, _, _ = strings.Cut(text, "<think>")
	return text
}
