package compat

import (
	"math"
	"strconv"
)

// A Value is a number that a tool prints, or the reason why it is unknown. The zero Value is an exact 0.
type Value struct {
	V     float64
	Bound Bound
	Why   string // the reason if Bound is CannotTell; otherwise ""
}

// A Bound says what is known about a Value.
type Bound int

const (
	Exact      Bound = iota // V is what the tool would have printed, before rounding
	AtMost                  // the tool would have printed V or less
	AtLeast                 // the tool would have printed V or more
	CannotTell              // the records do not contain what the formula needs
	Absent                  // the tool does not print the value, or not for this run
)

func exact(v float64) Value           { return Value{V: v} }
func cannotTell(why string) Value     { return Value{Bound: CannotTell, Why: why} }
func absent() Value                   { return Value{Bound: Absent} }
func (v Value) known() bool           { return v.Bound < CannotTell }
func (v Value) times(f float64) Value { v.V *= f; return v }

// The reasons why a quotient is unknown, all of which are a divisor of 0.
const (
	noTime   = "no time passed"
	noServed = "no request was served"
	noToken  = "no output token was counted"
)

// over returns v / w. If w is 0, the quotient is unknown, and zero is the reason.
func (v Value) over(w Value, zero string) Value {
	switch {
	case !v.known():
		return v
	case !w.known():
		return w
	case w.V == 0:
		return cannotTell(zero)
	case v == exact(0):
		return v
	}
	q := Value{V: v.V / w.V, Bound: v.Bound}
	switch w.Bound {
	case AtLeast:
		q.Bound = AtMost
	case AtMost:
		q.Bound = AtLeast
	}
	if v.Bound != Exact && w.Bound != Exact && v.Bound != q.Bound {
		return cannotTell("dividend and divisor are known only as bounds, which give no bound of the quotient")
	}
	return q
}

// plus returns v + w. Either both are exact, or v is unknown.
func (v Value) plus(w Value) Value {
	if !v.known() {
		return v
	}
	w.V += v.V
	return w
}

// Text returns the value with the given number of decimals, such as "1.50", or "≤ 1.50" for a bound. It
// returns "?" if the value is unknown, and "-" if the tool does not print it.
func (v Value) Text(decimals int) string {
	text := strconv.FormatFloat(v.V, 'f', decimals, 64)
	switch v.Bound {
	case AtMost:
		return "≤ " + text
	case AtLeast:
		return "≥ " + text
	case CannotTell:
		return "?"
	case Absent:
		return "-"
	}
	return text
}

// MarshalJSON returns null for a value that is unknown or only bounded, because programs that read another
// tool's file take every number as exact.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Bound != Exact || math.IsNaN(v.V) || math.IsInf(v.V, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v.V, 'f', -1, 64), nil
}
