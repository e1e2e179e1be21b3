package check

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// numbers matches the numbers of a text. It is the pattern of the filter "flexible-extract" of the task
// gsm8k of lm-evaluation-harness:
// https://github.com/EleutherAI/lm-evaluation-harness/blob/main/lm_eval/tasks/gsm8k/gsm8k.yaml
var numbers = regexp.MustCompile(`(-?[$0-9.,]{2,})|(-?[0-9]+)`)

// minus are characters that models write for the sign of a number, which the pattern does not know.
var minus = strings.NewReplacer("\u2212", "-", "\u2013", "-")

// Number wants a text whose last number has the value of want, such as "18", "-3.5" or "1,000". Number
// panics if want is not a number that [ParseNumber] accepts.
//
// The rule is that of lm-evaluation-harness for gsm8k ("flexible-extract"): the last match of its
// pattern counts, without dollar signs, thousands separators and a period at the end. It differs in
// three points. A match without a digit is no number. A true minus sign and an en dash are signs, too.
// Values are compared and not spellings, so that 18.00 is 18.
func Number(want string) Func {
	value, err := ParseNumber(want)
	if err != nil {
		panic("check.Number: " + err.Error())
	}
	return func(a Answer) error {
		found := lastNumber(a.Text)
		if found == "" {
			return fmt.Errorf("want the number %s, and the answer has none: %s", want, show(a.Text))
		}
		if v, err := ParseNumber(found); err != nil || v.Cmp(value) != 0 {
			return fmt.Errorf("want the number %s, and the last number of the answer is %.40s", want, found)
		}
		return nil
	}
}

// lastNumber returns the last match of numbers that has a digit, or "".
func lastNumber(text string) string {
	all := numbers.FindAllString(minus.Replace(text), -1)
	for i := len(all) - 1; i >= 0; i-- {
		if strings.ContainsAny(all[i], "0123456789") {
			return all[i]
		}
	}
	return ""
}

// maxDigits is the greatest length of a number, so that a text cannot make a check slow.
const maxDigits = 1000

// plain matches a number without separators.
var plain = regexp.MustCompile(`^-?([0-9]+(\.[0-9]*)?|\.[0-9]+)$`)

// ParseNumber returns the exact value of a decimal number. Dollar signs, commas as thousands
// separators, and a period at the end do not count. It has at most 1000 characters, and no exponent.
func ParseNumber(text string) (*big.Rat, error) {
	if len(text) > maxDigits {
		return nil, fmt.Errorf("a number of %d characters: want at most %d", len(text), maxDigits)
	}
	digits := strings.TrimSuffix(strings.NewReplacer("$", "", ",", "").Replace(strings.TrimSpace(text)), ".")
	if !plain.MatchString(digits) {
		return nil, fmt.Errorf("%q: want a decimal number, such as 18, -3.5 or 1,000", text)
	}
	v, ok := new(big.Rat).SetString(digits)
	if !ok {
		return nil, errors.New(digits + ": not a number")
	}
	return v, nil
}
