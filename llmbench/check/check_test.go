package check

import (
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestChecks has, for each check, answers that are correct, and answers that are not, with the error.
func TestChecks(t *testing.T) {
	tests := []struct {
		name   string
		check  Func
		answer string
		err    string
	}{
		{"exact", Exact(" Paris\n"), "Paris \n", ""},
		{"exact, other case", Exact("Paris"), "paris", `want the text "Paris", and the answer is "paris"`},
		{"contains", Contains("8146"), "It is 8146.", ""},
		{"contains not", Contains("8146"), "It is 8147.", `want a text that contains "8146", and the answer is "It is 8147."`},
		{"regexp", Regexp(regexp.MustCompile(`^\d+ km$`)), "12 km", ""},
		{"regexp, no match", Regexp(regexp.MustCompile(`^\d+ km$`)), "12 miles", `want a match of the regular expression ^\d+ km$, and the answer is "12 miles"`},

		{"number", Number("18"), "16 - 3 = 13, and so on.\n#### 18", ""},
		{"number with separators", Number("1000"), "She earns $1,000.", ""},
		{"number, want with separators", Number("1,000"), "1000", ""},
		{"number with decimals", Number("2.50"), "It costs $2.5", ""},
		{"whole number as decimal", Number("18"), "18.00", ""},
		{"negative number", Number("-4"), "3 - 7 = -4", ""},
		{"true minus sign", Number("-4"), "3 − 7 = −4", ""},
		{"negative dollars", Number("-4"), "-$4", ""},
		{"dots at the end are no number", Number("7"), "7 is the answer...", ""},
		{"the last number counts", Number("7"), "7 of 10", "want the number 7, and the number of the answer is 10"},
		{"two periods", Number("1.2"), "1.2.3", "want the number 1.2, and the number of the answer is 1.2.3"},
		{"no number", Number("7"), "seven", `want the number 7, and the answer has none: "seven"`},
		{"empty answer", Number("7"), "", `want the number 7, and the answer has none: ""`},

		{"letter", Choice("B"), " B", ""},
		{"letter in parentheses", Choice("B"), "(B) 12", ""},
		{"bold letter", Choice("B"), "**B**", ""},
		{"letter first, as a base model", Choice("B"), " B\n\nWhat is next?\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer: C", ""},
		{"letter named", Choice("C"), "Answer A is tempting. Answer: C", ""},
		{"letter named in small", Choice("C"), "answer: c.", ""},
		{"bold letter named", Choice("C"), "**Answer:** C", ""},
		{"letter in a sentence", Choice("D"), "Thus the answer is (D).", ""},
		{"an article is no letter", Choice("A"), "A dog has four legs", `want the choice A, and the answer chooses none of A to D: "A dog has four legs"`},
		{"an article after answer is", Choice("A"), "The answer is a dog", `want the choice A, and the answer chooses none of A to D: "The answer is a dog"`},
		{"other letter", Choice("A"), "Answer: D", "want the choice A, and the answer chooses D"},

		{"JSON", JSON(`{"a": 1.0, "b": ["x"]}`), "{\"b\":[\"\\u0078\"],\n\"a\":1}", ""},
		{"JSON in a code block", JSON(`{"a":1}`), "```json\n{\"a\": 1}\n```", ""},
		{"other JSON", JSON(`{"a":1}`), `{"a":2}`, `want the JSON value {"a":1}, and the answer is {"a":2}`},
		{"two values", JSON(`1`), `1 2`, `want the JSON value 1, and the answer is no JSON (jsontext: invalid character '2' after top-level value after offset 2): "1 2"`},

		{"until a stop", Until(Number("7"), "Question:"), "The answer is 7.\n\nQuestion: 8 + 9", ""},
		{"until a stop at the beginning", Until(Choice("B"), "Question:", "Answer:"), "Answer: B\nQuestion: C", ""},
		{"until none", Until(Number("7"), "Question:"), "7", ""},
		{"a long answer", Exact("x"), strings.Repeat("ä", 1000), `want the text "x", and the answer is ..."` + strings.Repeat("ä", 60) + `"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := test.check(Answer{Text: test.answer, Reasoning: "1 2 3 Answer: A"})
			if test.err == "" {
				assert.NilError(t, err)
				return
			}
			assert.Error(t, err, test.err)
		})
	}
}

func TestTool(t *testing.T) {
	f := Tool("weather", `{"city":"Rome","days":2}`)
	tests := []struct {
		name  string
		calls []ToolCall
		err   string
	}{
		{"right", []ToolCall{{Name: "weather", Arguments: `{"days": 2, "city": "Rome"}`}}, ""},
		{"other name", []ToolCall{{Name: "time", Arguments: `{}`}}, `want a call of weather, and the answer calls "time"`},
		{"other arguments", []ToolCall{{Name: "weather", Arguments: `{"city":"Oslo","days":2}`}}, `want weather with the arguments {"city":"Rome","days":2}; the answer has {"city":"Oslo","days":2}`},
		{"no JSON", []ToolCall{{Name: "weather", Arguments: `{"city"`}}, `want weather with the arguments {"city":"Rome","days":2}; the arguments in the answer are no JSON (jsontext: unexpected EOF within "/city" after offset 7): "{\"city\""`},
		{"no call", nil, `want one call of weather, and the answer has 0 calls, with the text "hello"`},
		{"two calls", []ToolCall{{Name: "weather", Arguments: `{}`}, {Name: "weather", Arguments: `{}`}}, `want one call of weather, and the answer has 2 calls, with the text "hello"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := f(Answer{Text: "hello", ToolCalls: test.calls})
			if test.err == "" {
				assert.NilError(t, err)
				return
			}
			assert.Error(t, err, test.err)
		})
	}
}

// TestPanics checks that a check panics when it is created if no answer could pass it.
func TestPanics(t *testing.T) {
	for name, make := range map[string]func(){
		"number": func() { Number("many") },
		"choice": func() { Choice("E") },
		"JSON":   func() { JSON("{") },
		"tool":   func() { Tool("f", "x") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { assert.Assert(t, recover() != nil) }()
			make()
		})
	}
}

// FuzzChecks checks that no answer makes a check panic, and that a number is found in its own text.
func FuzzChecks(f *testing.F) {
	for _, text := range []string{"18", "$1,000.", "-$.5", "Answer: B", "```json\n{}\n```", "...", "\u2212", "```"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a := Answer{Text: text, ToolCalls: []ToolCall{{Name: "f", Arguments: text}}}
		for _, c := range []Func{Exact("x"), Contains("x"), Number("1"), Choice("A"), JSON("{}"), Tool("f", "{}"), Until(Number("1"), "Q:", "\n")} {
			if err := c(a); err != nil {
				assert.Assert(t, len(err.Error()) < 2000, "%d bytes", len(err.Error()))
			}
		}
		if _, err := ParseNumber(text); err == nil && lastNumber(text) != "" {
			assert.NilError(t, Number(text)(Answer{Text: "so it is " + text}))
		}
	})
}
