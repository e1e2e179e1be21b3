package benchline

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Kind says what a line of a file is, by the rules of the format
// (https://go.dev/design/14313-benchmark-format).
type Kind int

const (
	Other  Kind = iota // neither of the following: a configuration line, PASS, a line of a log, prose
	Figure             // a result line
	Unit               // a line with the direction or the margin of a unit
	Torn               // a line that visibly holds a result or a Unit line, but is none
)

// KindOf returns the kind of a line, without its line end.
//
// A result line has at least four fields, and an even number of them: a name, which is "Benchmark" alone or followed by
// anything but a lower-case letter, a whole number of iterations, and then values with their units. A Unit line begins
// with "Unit" and a unit, and each further field is key=value.
//
// A result line becomes Torn if something was printed before it, within it or after it: a log on the same terminal, a
// colour code, the time at which a CI system saw the line. The testing package prints the name of a benchmark
// before it runs and the figures at the end, so output of the benchmark stands between them. The line with the name and
// the line with the figures are both Torn then. A name alone on its line is Other, because go test -v prints such lines.
// Lines in another encoding are Torn too: UTF-16 that was appended to UTF-8, and results within JSON, such as the output
// of go test -json. The text of testing.B.Log is Other, whatever it says, and so is a failure behind the name of a benchmark.
func KindOf(line string) Kind {
	line = strings.TrimRight(line, "\r")
	plain := plainText(line)
	kind := kindAtStart(plain)
	switch {
	case logged.MatchString(line), failedLater(line):
		return Other
	case kind == Other && (holdsResult(plain) || holdsFigures(plain) || holdsUnit(plain) || holdsJSON(plain)):
		return Torn
	case kind == Other && strings.ContainsFunc(plain, control) && kindAtStart(spaced(plain)) != Other:
		return Torn // a control character joins two fields
	case kind != Other && strings.ContainsFunc(behindName(line), control):
		return Torn // a unit that ends with a colour code would be another unit
	case kind == Figure && slices.ContainsFunc(strings.Fields(behindName(line)), odd):
		return Torn
	}
	return kind
}

// behindName returns the part of a result line behind its name. Of any other line it returns the whole line.
func behindName(line string) string {
	if strings.HasPrefix(line, "Benchmark") {
		return line[len(strings.Fields(line)[0]):]
	}
	return line
}

// colour matches the escape sequences of terminals for colours, and for the other uses of "Control Sequence Introducer"
// (ECMA-48, section 5.4).
var colour = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]")

// plainText returns a line without colours, and without the zero bytes that UTF-16 has.
func plainText(line string) string {
	if !strings.ContainsAny(line, "\x1b\x00") {
		return line
	}
	return strings.ReplaceAll(colour.ReplaceAllString(line, ""), "\x00", "")
}

// logged matches the beginning of a line by testing.B.Log. Such a line ends where its text ends.
var logged = regexp.MustCompile(`^ +\S+\.go:\d+: `)

// control reports whether r is a control character other than a tab.
func control(r rune) bool { return unicode.IsControl(r) && r != '\t' }

// spaced returns a line with a space in place of each control character.
func spaced(line string) string {
	return strings.Map(func(r rune) rune {
		if control(r) {
			return ' '
		}
		return r
	}, line)
}

// odd reports whether a field behind a name cannot be a whole unit: it is a unit whose end is missing, or other output
// stands on it.
func odd(field string) bool {
	symbol := func(r rune) bool { return r == utf8.RuneError || r > '\u2190' && unicode.Is(unicode.So, r) }
	return field != "" && strings.ContainsRune("/,;:", rune(field[len(field)-1])) || slices.Contains([]string{"ns/o", "B/o", "allocs/o"}, field) ||
		strings.ContainsAny(field, "\"{}\\") || strings.ContainsFunc(field, symbol)
}

// kindAtStart returns the kind of a line by what the line begins with.
func kindAtStart(line string) Kind {
	fields := strings.Fields(line)
	switch {
	case len(fields) < 2 && strings.TrimSpace(line) == line, line != strings.TrimLeftFunc(line, unicode.IsSpace):
		return Other
	case fields[0] == "Unit":
		return unitKind(fields[1:])
	case !isName(fields[0]):
		return Other
	}
	name, rest := fields[0], fields[1:]
	switch n := pairs(rest); {
	case n > 0 && len(rest) == 1+2*n:
		return Figure
	case n > 0, name == "Benchmark":
		return tornIf(n > 0)
	case len(rest) > 0 && isWhole(rest[0]):
		return tornIf(!strings.HasSuffix(name, ":") && !strings.HasSuffix(name, ","))
	case endsResult(name, rest):
		return Torn
	}
	// The testing package writes a tab behind the name. A sentence has a space.
	behind := line[len(name):]
	gap := behind[:len(behind)-len(strings.TrimLeft(behind, " \t"))]
	return tornIf(len(rest) == 0 || strings.Contains(gap, "\t"))
}

// endsResult reports whether fields behind a name are the end of a result: a unit, whose value is missing, and further
// values with their units. A URL, a path, progress such as 50%, and what stands behind a colon are no such end.
func endsResult(name string, fields []string) bool {
	if len(fields) == 0 || strings.HasSuffix(name, ":") || strings.HasSuffix(name, ",") {
		return false
	}
	unit, others := fields[0], fields[1:]
	whole := func(end string) bool { return strings.HasSuffix(unit, end) }
	return unitLike(unit) && !strings.ContainsAny(unit[:1], "./0123456789") && !strings.Contains(unit, "://") &&
		(len(others) > 0 || whole("/op") || whole("/s") || whole("-ns") || whole("-%")) && 2*pairs(append([]string{"1"}, others...)) == len(others)
}

func tornIf(torn bool) Kind {
	if torn {
		return Torn
	}
	return Other
}

// unitKind returns the kind of a line that begins with "Unit", followed by fields.
func unitKind(fields []string) Kind {
	if len(fields) == 0 {
		return Torn
	}
	unit, settings := fields[0], 0
	for _, f := range fields[1:] {
		if strings.Index(f, "=") > 0 {
			settings++
		}
	}
	switch {
	case strings.Contains(unit, "="):
		return Torn
	case settings == len(fields)-1 && (settings > 0 || unitLike(unit)):
		return Unit
	case slices.ContainsFunc(fields[1:], func(f string) bool { return sets(f, settingKeys) || unitLike(unit) && sets(f, wordKeys) }),
		unitLike(unit) && slices.ContainsFunc(allKeys, func(key string) bool { return strings.HasPrefix(key, fields[1]) }):
		return Torn
	}
	return Other // such as "Unit tests passed"
}

// unitLike reports whether a word looks like a unit and not like a word of a sentence.
func unitLike(s string) bool { return strings.ContainsAny(s, "/%") || strings.HasSuffix(s, "-ns") }

// The keys that Unit lines of benchstat or benchgate have. Logs have settings such as max=5, too, so that wordKeys count
// only behind a unit that is unitLike.
var (
	settingKeys = []string{"better", "gate", "same", "of", "apart", "pairs", "assume"}
	wordKeys    = []string{"max", "min", "withheld", "says"}
	allKeys     = slices.Concat(settingKeys, wordKeys)
)

// sets reports whether a field sets one of keys.
func sets(field string, keys []string) bool {
	key, _, ok := strings.Cut(field, "=")
	return ok && slices.Contains(keys, key)
}

// isName reports whether a field is the name of a benchmark, with the prefix "Benchmark".
func isName(field string) bool {
	rest, ok := strings.CutPrefix(field, "Benchmark")
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && !unicode.IsLower(first)
}

// isWhole reports whether a field is a whole number, of any size.
func isWhole(field string) bool {
	digits := strings.TrimLeft(field, "+-")
	return digits != "" && len(field)-len(digits) <= 1 && strings.Trim(digits, "0123456789") == ""
}

// isNumber reports whether a field is a number.
func isNumber(field string) bool {
	_, err := strconv.ParseFloat(field, 64)
	return err == nil
}

// pairs returns how many values with their units follow the number of iterations, with which fields begin.
func pairs(fields []string) (n int) {
	if len(fields) == 0 || !isWhole(fields[0]) {
		return 0
	}
	for 2*n+2 < len(fields) && isNumber(fields[2*n+1]) && !isNumber(fields[2*n+2]) {
		n++
	}
	return n
}

// holdsResult reports whether the name of a benchmark stands anywhere in a line, with iterations, a value and a unit
// behind it.
func holdsResult(line string) bool {
	for {
		i := strings.Index(line, "Benchmark")
		if i < 0 {
			return false
		}
		fields := strings.Fields(line[i:])
		if isName(fields[0]) && pairs(fields[1:]) > 0 {
			return true
		}
		line = line[i+len("Benchmark"):]
	}
}

// layout matches the end of a line as the testing package prints the figures of a result: the iterations in eight
// columns, and each value with its unit behind a tab (BenchmarkResult.String).
var layout = regexp.MustCompile(`(?: {7}\d| {6}\d{2}| {5}\d{3}| {4}\d{4}| {3}\d{5}| {2}\d{6}| \d{7}|\d{8,})(?:\t *[0-9.e+-]+ \S+)+\s*$`)

// rest matches the second part of a result that was divided into two lines: values with their units, at the beginning of
// the line or behind a tab. The unit of the first value is one that hardly any other output has.
var rest = regexp.MustCompile(`(?:^|\t) *[0-9.e+-]+ (?:ns/op|B/op|allocs/op|\S+-ns)(?:\t *[0-9.e+-]+ \S+)*\s*$`)

// wide matches a value with its unit behind a tab, in at least ten columns, at the end of a line.
var wide = regexp.MustCompile(`\t(?: {9,}\d| {8,}[\d.]{2}| {7,}[\d.]{3}| {6,}[\d.]{4}| {5,}[\d.]{5}| {4,}[\d.]{6,}) \S+$`)

// holdsFigures reports whether a line ends with the figures of a result, or with some of them, and has no name.
func holdsFigures(line string) bool {
	if strings.Contains(line, "\t") && (layout.MatchString(line) || wide.MatchString(line)) ||
		(strings.Contains(line, "/op") || strings.Contains(line, "-ns")) && rest.MatchString(line) {
		return true
	}
	fields := strings.Fields(line)
	first := len(fields)
	for first >= 2 && isNumber(fields[first-2]) && !isNumber(fields[first-1]) {
		first -= 2
	}
	if first == len(fields) || first == 0 || !isWhole(fields[first-1]) {
		return false
	}
	for i := first + 1; i < len(fields); i += 2 {
		switch unit := fields[i]; {
		case slices.Contains([]string{"ns/op", "B/op", "allocs/op"}, unit):
			return true
		case first == 1 && (strings.Contains(unit, "/") || strings.HasSuffix(unit, "-ns")):
			return true // nothing but figures
		}
	}
	return false
}

// unitInside matches a Unit line behind other text. Text in quotes is about such a line.
var unitInside = regexp.MustCompile("(?:^|[^\"'`])Unit[ \t]+(?:" +
	`\S+(?:[ \t]+\S+)*?[ \t]+(?:` + strings.Join(settingKeys, "|") + `)=\S|` +
	`\S*(?:[/%]\S*|-ns)(?:[ \t]+\S+)*?[ \t]+(?:` + strings.Join(wordKeys, "|") + `)=\S)`)

// comment matches a comment. A line of a program that numbers its lines, such as "#12 3.4 text", and a progress bar of
// several # are no comments.
var comment = regexp.MustCompile(`^\s*#(?:[^\d#]|$)`)

// settings matches settings of a Unit line whose beginning is missing or torn.
var settings = regexp.MustCompile(`^[^"'\x60]*better=(?:higher|lower)\s+(?:gate|same|of|apart|max|min|withheld)=|^\s*(?:\S*=\S+\s+)*(?:better=(?:higher|lower)|gate=[0-9.]+(?:%|pp))\s*$`)

// holdsUnit reports whether a Unit line or its settings stand anywhere in a line that is no comment.
func holdsUnit(line string) bool {
	return strings.Contains(line, "=") && slices.ContainsFunc(allKeys, func(key string) bool { return strings.Contains(line, key+"=") }) &&
		!comment.MatchString(line) && (unitInside.MatchString(line) || settings.MatchString(line))
}

// holdsJSON reports whether a line is a JSON object with a member that is a result, a Unit line or a part of them.
func holdsJSON(line string) bool {
	var members map[string]any
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &members) != nil {
		return false
	}
	for _, m := range members {
		if text, ok := m.(string); ok && !strings.HasPrefix(text, "{") && KindOf(strings.TrimSuffix(text, "\n")) != Other {
			return true
		}
	}
	return false
}
