package benchline

import (
	"bufio"
	"bytes"
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/perf/benchfmt"
)

// Lines returns a reader of the result lines, Unit lines and configuration lines in text, and an error for each line that
// is [Torn]. The reader skips torn lines, and also lines of a log that begin with "Benchmark" or "Unit", which
// [benchfmt.Reader] alone takes for wrong results. Positions are lines of text, and name the file. Of a log, the reader
// holds only empty lines.
func Lines(text []byte, file string) (*benchfmt.Reader, []*benchfmt.SyntaxError) {
	var kept bytes.Buffer
	var torn []*benchfmt.SyntaxError
	n, logging := 0, false // logging: the line is text of testing.B.Log, whose further lines are indented by eight columns
	for b := range bytes.Lines(text) {
		n++
		line := string(bytes.TrimRight(b, "\r\n"))
		logging = logged.MatchString(line) || logging && strings.HasPrefix(line, "        ")
		switch kind := KindOf(line); {
		case len(b) >= bufio.MaxScanTokenSize: // the reader says that the line is too long
		case logging:
			b = []byte("\n")
		case kind == Torn:
			torn = append(torn, &benchfmt.SyntaxError{FileName: file, Line: n, Msg: whyTorn(line)})
			b = []byte("\n")
		case kind == Other && !isLower(line): // no configuration line
			b = []byte("\n")
		}
		kept.Write(b)
	}
	return benchfmt.NewReader(&kept, file), torn
}

// isLower reports whether a line begins with a lower-case letter, as the keys of configuration lines do.
func isLower(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	return unicode.IsLower(first)
}

// Records returns the records of one kind in text, such as its result lines, and skips everything else. The memory of a
// record is used again for the next one.
func Records[T benchfmt.Record](text []byte) iter.Seq[T] {
	return func(yield func(T) bool) {
		in := benchfmt.NewReader(bytes.NewReader(text), "")
		for in.Scan() {
			if rec, ok := in.Result().(T); ok && !yield(rec) {
				return
			}
		}
	}
}

// whyTorn says what is wrong with a torn line.
func whyTorn(line string) string {
	in := benchfmt.NewReader(strings.NewReader(line), "")
	for in.Scan() {
		if err, ok := in.Result().(*benchfmt.SyntaxError); ok {
			return fmt.Sprintf("%s: %s", err.Msg, quoted(line))
		}
	}
	if holdsUnit(plainText(line)) {
		return fmt.Sprintf("a Unit line that cannot be read: %s: want it at the beginning of a line of its own", quoted(line))
	}
	return fmt.Sprintf("a result, or a part of one, that cannot be read: %s: want it as the testing package prints it, without a log, a time or a colour on its line", quoted(line))
}

// quoted quotes a line. It omits the middle of a long line.
func quoted(line string) string {
	const most = 120
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most/2], "") + "…" + strings.ToValidUTF8(line[len(line)-most/2:], "")
	}
	return fmt.Sprintf("%q", line)
}
