package check

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// numbers matches the numbers in a text. The pattern comes from lm-evaluation-harness, from the filter
// "flexible-extract" of its task gsm8k:
// https://github.com/EleutherAI/lm-evaluation-harness/blob/main/lm_eval/tasks/gsm8k/gsm8k.yaml
var numbers = regexp.MustCompile(`(-?[$0-9.,]{2,})|(-?[0-9]+)`)

// amount matches a number in digits.
const amount = `-?[$€£]?-?(?:[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+)`

var (
	// simple replaces typographic signs and LaTeX by the plain characters that the patterns expect, and
	// removes thin spaces between digits.
	simple = strings.NewReplacer("\u2212", "-", "\u2013", "-", "\u202f", "", "\u2009", "", "{,}", ",", `\,`, "", `\!`, "", `\$`, "$", "**", "", "`", "",
		`\text{`, "{", `\textbf{`, "{", `\mathbf{`, "{", "：", ":", "。", ".")
	// spaced matches a space that separates thousands.
	spaced = regexp.MustCompile(`([0-9])[ \x{a0}]([0-9]{3})\b`)
	// fraction matches a fraction in LaTeX.
	fraction = regexp.MustCompile(`\\[dt]?frac\{([0-9]+)\}\{([0-9]+)\}`)
	// remark matches a number that says how sure the text is, such as "100% sure".
	remark = regexp.MustCompile(`(?i)[0-9.]+\s*%\s*(?:sure|certain|confiden(?:t|ce)|accurate)|(?:confidence|certainty|sure|certain)(?:\s+(?:is|of|level|score))*\s*[:=]?\s*[0-9.]+\s*%?`)
	// concluded matches a conclusion. Its group is the number; the terms of a sum may precede it.
	concluded = regexp.MustCompile(`(?i)(?:####|\\boxed\s*\{|\banswer(?:\s+(?:to|for)\b[^.:\n]{0,60}?)?\s*(?:is|=|:|would\s+be|must\s+be)|答案\s*(?:是|为|:)?)[\s{(\["*]*` +
		`(?:(?:exactly|about|approximately|therefore|thus|simply|either|a\s+total\s+of|[a-z]\s*=)[\s{(]*)*` +
		`(?:` + amount + `(?:\s+\pL+)?\s*[-+*/x×÷]\s*[^=\n]{0,60}=\s*)*(` + amount + `(?:/[0-9]+)?)`)
	// alone matches a number that is the whole first sentence or paragraph.
	alone = regexp.MustCompile(`(?i)^\s*(` + amount + `)(?:\s*%|\s+\pL+)?(?:\.\s|\s*\n\s*(?:\n|explanation|because|since|reason|here))`)
	// list matches the beginning of a numbered list.
	list = regexp.MustCompile(`^\s*1[.)]`)
	// open matches the text after the first of two numbers that are left open: "18 or 20", "18-20".
	open = regexp.MustCompile(`(?i)^(?:\s+\pL+)?\s+(?:or|to)\s+(?:(?:about|even|maybe|perhaps|possibly)\s+)*[$]?[0-9]|^\s?-\s?[0-9]`)
	// opened matches the text before the second of two such numbers. negated matches the text before a
	// number that is not meant: "not 20".
	opened  = regexp.MustCompile(`(?i)[0-9](?:\s+\pL+)?\s+(?:or|to)\s+(?:(?:about|even|maybe|perhaps|possibly)\s+)*$|\bbetween\s+[$]?[0-9.,]+\s+and\s+$|[0-9]\s?$`)
	negated = regexp.MustCompile(`(?i)\bnot\s+$`)
	// over matches the numerator and the slash before the denominator of a fraction.
	over = regexp.MustCompile(`[0-9]+/$`)
)

// Number returns a check that the text's number has the same value as want, such as "18", "-3.5" or
// "1,000". Number panics if want is not a number that [ParseNumber] accepts.
//
// The text's number is the number after its last conclusion: "####", "the answer is", "Answer:" or
// `\boxed{`. GSM8K's own answers use "####" (https://github.com/openai/grade-school-math), as does the
// filter "strict-match" of lm-evaluation-harness. If the text has no conclusion, its number is the one that
// is its whole first sentence or paragraph. If there is no such sentence or paragraph either, its number is
// the last one in the text.
//
// The last number is found like in the filter "flexible-extract" of lm-evaluation-harness: by the last
// match of a pattern, without currency signs, thousands separators and a period at the end. There are these
// differences. A match without a digit is not a number. A Unicode minus sign or an en dash is also a sign.
// Values are compared, not spellings, so that 18.00 equals 18, and 1/2 equals 0.5. A number that says how
// sure the text is ("100% sure") is ignored. Two numbers that are left open ("18 or 20", "18-20") count as
// no number.
func Number(want string) Func {
	value, err := ParseNumber(want)
	if err != nil {
		panic("check.Number: " + err.Error())
	}
	return func(a Answer) error {
		found := concludedNumber(a.Text)
		if found == "" {
			return fmt.Errorf("want the number %s, and the answer has none: %s", want, show(a.Text))
		}
		if v, err := fractional(found); err != nil || v.Cmp(value) != 0 {
			return fmt.Errorf("want the number %s, and the number of the answer is %.40s", want, found)
		}
		return nil
	}
}

// concludedNumber returns the text's number as [Number] defines it, or "" if there is none.
func concludedNumber(text string) string {
	text = spaced.ReplaceAllString(simple.Replace(visible(text)), "$1,$2")
	text = remark.ReplaceAllString(fraction.ReplaceAllString(text, "$1/$2"), "")
	if all := concluded.FindAllStringSubmatchIndex(text, -1); all != nil {
		m := all[len(all)-1]
		switch behind := text[m[3]:]; {
		case open.MatchString(behind):
			return ""
		case strings.Contains(text[m[0]:m[2]], "= ") && strings.Contains(behind, "= "):
			return lastNumber(text) // "Answer: 16 - 7 = 9 are left, and 9 * 2 = 18"
		}
		return text[m[2]:m[3]]
	}
	if m := alone.FindStringSubmatch(text); m != nil && !list.MatchString(text) {
		return m[1]
	}
	return lastNumber(text)
}

// lastNumber returns the last match of numbers that has a digit and is not negated. It returns "" if there
// is none, or if the text leaves two numbers open.
func lastNumber(text string) string {
	all := numbers.FindAllStringIndex(text, -1)
	for i := len(all) - 1; i >= 0; i-- {
		found, before := text[all[i][0]:all[i][1]], text[max(all[i][0]-maxBefore, 0):all[i][0]]
		switch {
		case !strings.ContainsAny(found, "0123456789") || negated.MatchString(before):
		case opened.MatchString(before):
			return ""
		default:
			return over.FindString(before) + found
		}
	}
	return ""
}

// maxBefore is the length of the text before an answer that is examined, in bytes.
const maxBefore = 60

// fractional returns the exact value of a decimal number, or of a fraction of two decimal numbers.
func fractional(text string) (*big.Rat, error) {
	above, below, found := strings.Cut(text, "/")
	v, err := ParseNumber(above)
	if err != nil || !found {
		return v, err
	}
	d, err := ParseNumber(below)
	if err != nil || d.Sign() == 0 {
		return nil, fmt.Errorf("%.40q: not a fraction", text)
	}
	return v.Quo(v, d), nil
}

// maxDigits is the maximum length of a number, so that a long text cannot make a check slow.
const maxDigits = 1000

// plain matches a number without separators.
var plain = regexp.MustCompile(`^-?([0-9]+(\.[0-9]*)?|\.[0-9]+)$`)

// ParseNumber returns the exact value of a decimal number. It ignores dollar, euro and pound signs, commas
// as thousands separators, and a period at the end. The number may have at most 1000 bytes, and no
// exponent.
func ParseNumber(text string) (*big.Rat, error) {
	if len(text) > maxDigits {
		return nil, fmt.Errorf("a number of %d characters: want at most %d", len(text), maxDigits)
	}
	digits := strings.TrimSuffix(strings.NewReplacer("$", "", "€", "", "£", "", ",", "").Replace(strings.TrimSpace(text)), ".")
	if !plain.MatchString(digits) {
		return nil, fmt.Errorf("%q: want a decimal number, such as 18, -3.5 or 1,000", text)
	}
	v, _ := new(big.Rat).SetString(digits) // does not fail for a number without separators
	return v, nil
}
