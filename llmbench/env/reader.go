package env

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Reader reads variables of one environment and collects what is wrong with
// them. It is for one goroutine.
type Reader struct {
	values map[string]string // of the variables that are set
	errs   []error
}

// NewReader returns a reader of an environment in the form of [os.Environ].
// A variable that begins with LLMBENCH_ and is unknown is an error of the reader.
func NewReader(environ []string) *Reader {
	r := &Reader{values: map[string]string{}}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case slices.Contains(launchers, name):
			r.values[name] = value
		case !ours(name):
		case !known(name):
			r.Errorf("%s: no such variable; the nearest is %s", name, Nearest(name, Names()))
		case value != "":
			r.values[name] = value
		}
	}
	return r
}

// A Reason is an error of a parser that says what is wrong with a value and what is allowed. It is
// shown, and must not hold a part of a value that may be secret.
type Reason string

func (r Reason) Error() string { return string(r) }

// Read sets *dst to the value of a variable as parse reads it. It leaves *dst
// as it is if the variable is not set or parse fails. A failure becomes an
// error of r that says the name, the value and what is allowed, or the [Reason].
//
// Read panics if name is not one of [Names].
func Read[T any](r *Reader, dst *T, name string, parse func(string) (T, error), allowed string) {
	read(r, dst, name, parse, allowed, r.values[name])
}

// ReadHidden is [Read] for a variable that may hold a secret: the error does not
// show the value.
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

// Value returns the value of a variable of this module, or of one by which a launcher numbers
// processes, such as SLURM_PROCID. It returns "" if the variable is not set.
func (r *Reader) Value(name string) string { return r.values[name] }

// Exclusive adds an error if both variables are set.
func (r *Reader) Exclusive(a, b string) {
	if r.IsSet(a) && r.IsSet(b) {
		r.Errorf("%s and %s: want at most one of them", a, b)
	}
}

// Requires adds an error if name is set and needed is not.
func (r *Reader) Requires(name, needed string) {
	if r.IsSet(name) && !r.IsSet(needed) {
		r.Errorf("%s: means nothing without %s", name, needed)
	}
}

// Errorf adds an error.
func (r *Reader) Errorf(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, args...))
}

// Err returns the errors so far, each once, sorted by their text and joined, or nil.
func (r *Reader) Err() error {
	byText := func(a, b error) int { return strings.Compare(a.Error(), b.Error()) }
	errs := slices.SortedFunc(slices.Values(r.errs), byText)
	return errors.Join(slices.CompactFunc(errs, func(a, b error) bool { return byText(a, b) == 0 })...)
}
