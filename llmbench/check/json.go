package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON returns a check that the text is a JSON value equal to want. White space, the order of object
// members, and the spelling of numbers and strings do not matter: two values are equal if their canonical
// forms are equal (https://www.rfc-editor.org/rfc/rfc8785). In the canonical form, numbers have the
// precision of a float64. A Markdown code block around the value does not matter either. JSON panics if
// want is not JSON.
func JSON(want string) Func {
	canonical, err := canon(want)
	if err != nil {
		panic(fmt.Sprintf("check.JSON: %q: %v", want, err))
	}
	return func(a Answer) error {
		found, err := canon(unfence(a.Text))
		if err != nil {
			return fmt.Errorf("want the JSON value %s, and the answer is no JSON (%w): %s", brief(canonical), err, show(a.Text))
		}
		if found != canonical {
			return fmt.Errorf("want the JSON value %s, and the answer is %s", brief(canonical), brief(found))
		}
		return nil
	}
}

// canon returns the canonical form of a JSON value.
func canon(text string) (string, error) {
	v := jsontext.Value(slices.Clone([]byte(text)))
	if err := v.Canonicalize(); err != nil {
		return "", err
	}
	return string(v), nil
}

// unfence returns the content of a text that consists of one Markdown code block. It returns any other text
// without the white space around it.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	rest, opened := strings.CutPrefix(text, "```")
	inner, closed := strings.CutSuffix(rest, "```")
	_, inner, lines := strings.Cut(inner, "\n") // the first line may name the language
	if !opened || !closed || !lines {
		return text
	}
	return inner
}

// brief shortens a JSON value so that an error can show it.
func brief(v string) string {
	if len(v) <= maxShown {
		return v
	}
	return strings.ToValidUTF8(v[:maxShown], "") + "..."
}

// Tool returns a check that the answer has exactly one tool call: a call of the named function whose
// arguments are equal to args, as [JSON] compares values. Tool panics if args is not JSON.
func Tool(name, args string) Func {
	canonical, err := canon(args)
	if err != nil {
		panic(fmt.Sprintf("check.Tool: %q: %v", args, err))
	}
	return func(a Answer) error {
		if len(a.ToolCalls) != 1 {
			return fmt.Errorf("want one call of %s, and the answer has %d calls, with the text %s", name, len(a.ToolCalls), show(a.Text))
		}
		call := a.ToolCalls[0]
		if call.Name != name {
			return fmt.Errorf("want a call of %s, and the answer calls %q", name, call.Name)
		}
		found, err := canon(call.Arguments)
		if err != nil {
			return fmt.Errorf("want %s with the arguments %s; the arguments in the answer are no JSON (%w): %s", name, brief(canonical), err, show(call.Arguments))
		}
		if found != canonical {
			return fmt.Errorf("want %s with the arguments %s; the answer has %s", name, brief(canonical), brief(found))
		}
		return nil
	}
}
