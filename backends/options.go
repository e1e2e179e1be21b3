package backends

import (
	"slices"
	"strconv"
	"strings"
)

// args appends words to the command line.
func (b *builder) args(words ...string) { b.Cmd = append(b.Cmd, words...) }

// textOption appends an option, unless value is "".
func (b *builder) textOption(flag, value string) {
	if value != "" {
		b.args(flag, value)
	}
}

// intOption appends an option, unless n is 0, which means the server's default.
func (b *builder) intOption(field, flag string, n int) {
	if b.isPositive(field, n) {
		b.args(flag, strconv.Itoa(n))
	}
}

// shareOption appends an option whose value is above 0 and at most 1, unless v is 0, which means the
// server's default.
func (b *builder) shareOption(field, flag string, v float64) {
	if b.isShare(field, v) {
		b.args(flag, strconv.FormatFloat(v, 'g', -1, 64))
	}
}

// choiceOption appends an option, unless value is "", which means the server's default.
func (b *builder) choiceOption(field, flag, value string, allowed ...string) {
	if b.isOneOf(field, value, allowed...) {
		b.args(flag, value)
	}
}

// switchOption appends flag if set.
func (b *builder) switchOption(flag string, set bool) {
	if set {
		b.args(flag)
	}
}

// toggleOption appends the words in on or in off, or nothing if t is "".
func (b *builder) toggleOption(field string, t Toggle, on, off []string) {
	if !b.isSet(field, t) {
		return
	}
	if t == On {
		b.args(on...)
	} else {
		b.args(off...)
	}
}

// intVariable sets an environment variable of the container, unless n is 0, which means the server's
// default.
func (b *builder) intVariable(field, name string, n int) {
	if b.isPositive(field, n) {
		b.Env[name] = strconv.Itoa(n)
	}
}

// toggleVariable sets an environment variable of the container to 1 or 0, or not at all if t is "".
func (b *builder) toggleVariable(field string, t Toggle, name string) {
	if b.isSet(field, t) {
		b.Env[name] = map[Toggle]string{On: "1", Off: "0"}[t]
	}
}

// isPositive reports whether n is above 0. It records an error if n is negative.
func (b *builder) isPositive(field string, n int) bool {
	if n < 0 {
		b.invalid(field, "%d: want a whole number above 0, or 0 for the server's default", n)
	}
	return n > 0
}

// isShare reports whether v is above 0. It records an error if v is not between 0 and 1.
func (b *builder) isShare(field string, v float64) bool {
	if !(v >= 0 && v <= 1) {
		b.invalid(field, "%g: want a share above 0 and up to 1, or 0 for the server's default", v)
	}
	return v > 0
}

// isOneOf reports whether value is set. It records an error if value is set and is not allowed.
func (b *builder) isOneOf(field, value string, allowed ...string) bool {
	if value != "" && !slices.Contains(allowed, value) {
		b.invalid(field, `%q: want %s, or "" for the server's default`, value, strings.Join(allowed, ", "))
	}
	return value != ""
}

// isSet reports whether t is set. It records an error if t is neither "", On nor Off.
func (b *builder) isSet(field string, t Toggle) bool {
	return b.isOneOf(field, string(t), string(On), string(Off))
}
