package env

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Reader reads variables of one environment, and collects the errors in their values. Only one goroutine
// may use it.
type Reader struct {
	values map[string]string // the variables that are set
	hints  []string
	errs   []error
}

// NewReader returns a reader of an environment in the form of [os.Environ]. If the name of a variable
// begins with LLMBENCH_ but is unknown, the reader has an error. The value of an old variable is part of the
// value of the variable that [Old] names. If both have values for the same setting, and the values differ,
// the reader has an error.
func NewReader(environ []string) *Reader {
	r := &Reader{values: map[string]string{}}
	all, set := Old(), map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case slices.Contains(others, name):
			r.values[name] = value
		case !ours(name):
		case all[name] != "":
			set[name] = value
		case !known(name):
			r.Errorf("%s: no such variable; the nearest is %s", name, Nearest(name, Names()))
		case value != "":
			r.values[name] = value
		}
	}
	r.fold(set)
	return r
}

// Hints returns a text for each old variable that is set: which variable has its value now, and to what that
// variable has to be set.
func (r *Reader) Hints() []string { return r.hints }

// Unset makes a variable count as not set.
func (r *Reader) Unset(name string) { delete(r.values, name) }

// A Reason is an error of a parser that says what is wrong with a value and what is allowed. The text of a
// Reason is shown to the user, so it must not contain any part of a value that may be secret.
type Reason string

func (r Reason) Error() string { return string(r) }

// Read parses the value of a variable with parse, and sets *dst to the result. If the variable is not set
// or parse fails, Read does not change *dst. If parse fails, Read adds an error to r. The error has the
// name of the variable, its value, and what is allowed; if the error of parse is a [Reason], the error has
// the Reason instead of what is allowed.
//
// Read panics if name is not one of [Names].
func Read[T any](r *Reader, dst *T, name string, parse func(string) (T, error), allowed string) {
	read(r, dst, name, parse, allowed, r.values[name])
}

// ReadHidden is like [Read], for a variable that may hold a secret: the error does not show the value.
func ReadHidden[T any](r *Reader, dst *T, name string, parse func(string) (T, error), allowed string) {
	read(r, dst, name, parse, allowed, "[not shown]")
}

func read[T any](r *Reader, dst *T, name string, parse func(string) (T, error), allowed, shown string) {
	if !known(name) {
		panic("env: " + name + " is not in the list of names")
	}
	value, set := r.values[name]
	if !set {
		return
	}
	x, err := parse(value)
	if reason, ok := errors.AsType[Reason](err); ok {
		r.Errorf("%s=%s: %s", name, shown, reason)
		return
	}
	if err != nil {
		r.Errorf("%s=%s: want %s", name, shown, allowed)
		return
	}
	*dst = x
}

// IsSet reports whether a variable is set.
func (r *Reader) IsSet(name string) bool { return r.values[name] != "" }

// Value returns the value of a variable. The variable must belong to this module, or be one with which a
// launcher numbers processes, such as SLURM_PROCID, or one with credentials of AWS, such as AWS_REGION. Value
// returns "" if the variable is not set.
func (r *Reader) Value(name string) string { return r.values[name] }

// Exclusive adds an error if both variables are set.
func (r *Reader) Exclusive(a, b string) {
	if r.IsSet(a) && r.IsSet(b) {
		r.Errorf("%s and %s: want at most one of them", a, b)
	}
}

// Requires adds an error if the variable name is set but the variable needed is not.
func (r *Reader) Requires(name, needed string) {
	if r.IsSet(name) && !r.IsSet(needed) {
		r.Errorf("%s: means nothing without %s", name, needed)
	}
}

// Errorf adds an error.
func (r *Reader) Errorf(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, args...))
}

// Err returns the errors so far, joined, or nil if there are none. They are sorted by their text and have
// no duplicates.
func (r *Reader) Err() error {
	byText := func(a, b error) int { return strings.Compare(a.Error(), b.Error()) }
	errs := slices.SortedFunc(slices.Values(r.errs), byText)
	return errors.Join(slices.CompactFunc(errs, func(a, b error) bool { return byText(a, b) == 0 })...)
}
