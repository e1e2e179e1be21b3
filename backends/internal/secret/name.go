package secret

import (
	"regexp"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// word matches a word in a name such as SECRET_KEY_BASE, secretKeyBase or secret-key-base.
var word = regexp.MustCompile(`[A-Z]+(?:[^a-zA-Z]|$)|[A-Z]?[a-z]+|[A-Z]+`)

// leastKey is the minimum length in bytes of a value that is a secret because of a word in the middle of its name.
const leastKey = 16

// isSecret reports whether the value of a name is a secret. Usually the last word of the name decides ([env.IsSecret]).
// Any word of the name decides, such as KEY in SECRET_KEY_BASE, if the value is long, has a digit and is not a path.
func isSecret(name, value string) bool {
	if env.IsSecret(name, value) {
		return true
	}
	if len(value) < leastKey || !strings.ContainsAny(value, "0123456789") || strings.ContainsAny(value, " \t\n") || strings.ContainsAny(value[:1], "/.~") || strings.Contains(value, "://") {
		return false
	}
	return slices.ContainsFunc(word.FindAllString(name, -1), func(w string) bool { return env.IsSecret(strings.Trim(w, "_-.0123456789"), value) })
}
