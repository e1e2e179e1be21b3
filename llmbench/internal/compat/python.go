package compat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// The tools are written in Python. The functions in this file format numbers as Python does.

// repr formats a float like Python's repr: as the shortest text that parses to v.
func repr(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if abs := math.Abs(v); v != 0 && (abs < 1e-4 || abs >= 1e16) {
		text = strconv.FormatFloat(v, 'e', -1, 64)
	} else if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// round rounds v to the given number of decimals, like Python's round.
func round(v float64, decimals int) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', decimals, 64), 64)
	return rounded
}

// shortest formats v rounded to the given number of decimals, halves up, without trailing zeros.
func shortest(v float64, decimals int) string {
	exact, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'f', -1, 64))
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
	exact.Add(exact.Mul(exact, unit), big.NewRat(1, 2))
	floor := new(big.Int).Div(exact.Num(), exact.Denom())
	text := new(big.Rat).Quo(new(big.Rat).SetInt(floor), unit).FloatString(decimals)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// A float is a Value that the tool stores as a Python float.
type float Value

// MarshalJSON returns null for a value that is unknown or only bounded.
func (f float) MarshalJSON() ([]byte, error) {
	if f.Bound != Exact || math.IsNaN(f.V) || math.IsInf(f.V, 0) {
		return []byte("null"), nil
	}
	return []byte(repr(f.V)), nil
}

// object returns members as a JSON object on one line, with the spaces that Python's json.dump writes.
func object(members []member) ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, m := range members {
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "%q: %s", m.name, value)
	}
	text.WriteString("}\n")
	return text.Bytes(), nil
}

// A member is a member of a JSON object.
type member struct {
	name  string
	value any
}
