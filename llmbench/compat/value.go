package compat

import (
	"math"
	"strconv"
)

// A Value is a figure of a tool, or why there is none. Its zero value is 0.
type Value struct {
	V     float64
	Bound Bound
	Why   string // for CannotTell: what the records lack; for Absent: nothing
}

// A Bound is how well a Value is known.
type Bound int

const (
	Exact      Bound = iota // V is what the tool would have printed, before it rounds
	AtMost                  // it would have been V or less
	AtLeast                 // it would have been V or more
	CannotTell              // the records do not hold what its formula needs
	Absent                  // the tool has no such figure, or none of this run
)

func exact(v float64) Value           { return Value{V: v} }
func cannotTell(why string) Value     { return Value{Bound: CannotTell, Why: why} }
func absent() Value                   { return Value{Bound: Absent} }
func (v Value) known() bool           { return v.Bound < CannotTell }
func (v Value) times(f float64) Value { v.V *= f; return v }

// Why a quotient cannot be told whose divisor is 0.
const (
	noTime   = "no time passed"
	noServed = "no request was served"
	noToken  = "no output token was counted"
)

// over is v / w; zero says why w is 0 if it is.
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
		return cannotTell("both parts of it are only bounded")
	}
	return q
}

// plus is v + w of two exact values.
func (v Value) plus(w Value) Value {
	if !v.known() {
		return v
	}
	w.V += v.V
	return w
}

// Text is the value with so many decimals: "≤ 1.50" at most, "?" if it cannot be
// told, "-" if the tool has none.
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

// MarshalJSON writes null for what cannot be told, and for what is only bounded: who
// reads another tool's schema takes a number for exact.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Bound != Exact || math.IsNaN(v.V) || math.IsInf(v.V, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v.V, 'f', -1, 64), nil
}
