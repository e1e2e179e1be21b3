package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON wants a text that is a JSON value equal to want. Space, the order of the members of objects and
// the spelling of numbers and strings do not count: two values are equal if their canonical forms are
// (https://www.rfc-editor.org/rfc/rfc8785), in which numbers have the precision of a float64. A
// Markdown code block around the value does not count either. JSON panics if want is not JSON.
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

// unfence returns the content of a text that is one Markdown code block, and other texts as they are.
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

// brief shortens JSON for an error.
func brief(v string) string {
	if len(v) <= maxShown {
		return v
	}
	return strings.ToValidUTF8(v[:maxShown], "") + "..."
}

// Tool wants one call of the named function with arguments that are a JSON value equal to args, in the
// sense of [JSON]. Tool panics if args is not JSON.
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
