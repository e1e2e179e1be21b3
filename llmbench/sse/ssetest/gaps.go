package ssetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// lateGap is the gap that declares that a parser returns events late.
const lateGap = "late"

// gap returns the element of Options.Gaps that declares the given case or its class, or "".
func (o Options) gap(class, name string) string {
	for _, g := range o.Gaps {
		if g == class || g == class+"/"+name {
			return g
		}
	}
	return ""
}

// A line is a line of a body.
type line struct{ text, end string }

// bom is a byte order mark.
const bom = "\ufeff"

// An avoidance changes a body so that the result does not depend on the rules of one class of cases. The
// function lines receives the lines of the body, without the byte order mark at the beginning.
type avoidance struct {
	class string
	lines func([]line) []line
}

// avoidances lists the avoidances in the order in which they must be used. Other classes need none, because
// fuzzing has no bodies for them.
var avoidances = []avoidance{
	// A parser may also drop a mark that is not the first thing in the body.
	{"bom", each(func(s string) string { return strings.TrimLeft(s, bom) })},
	{"utf8", each(func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= 0x80 {
				return 'u'
			}
			return r
		}, s)
	})},
	{"nul", each(func(s string) string { return strings.ReplaceAll(s, "\x00", "0") })},
	{"lines", func(lines []line) []line {
		like := strings.NewReplacer("\v", " ", "\f", " ", "\x1c", " ", "\x1d", " ", "\x1e", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ")
		lines = each(like.Replace)(lines)
		for i := range lines {
			if lines[i].end != "" {
				lines[i].end = "\n"
			}
		}
		return lines
	}},
	{"comments", without(func(s string) bool { return strings.HasPrefix(s, ":") })},
	{"fields", func(lines []line) []line {
		lines = without(func(s string) bool { return s != "" && s[0] != ':' && !slices.Contains(fields, nameOf(s)) })(lines)
		return each(func(s string) string {
			if s == "" || s[0] == ':' {
				return s
			}
			name, value, _ := strings.Cut(s, ":")
			return name + ": " + strings.TrimSpace(value)
		})(lines)
	}},
	{"event", without(func(s string) bool { return nameOf(s) == "event" })},
	{"id", without(func(s string) bool { return nameOf(s) == "id" })},
	{"retry", without(func(s string) bool { return nameOf(s) == "retry" })},
	{"dispatch", oneDataLine},
	{"limits", func(lines []line) []line {
		return each(func(s string) string { return s[:min(len(s), 1000)] })(lines)
	}},
	{"eof", func(lines []line) []line {
		for range 2 { // for a missing line end, and for a missing blank line
			if n := len(lines); n > 0 && lines[n-1].end == "" {
				lines[n-1].end = "\n"
			} else if n > 0 && lines[n-1].text != "" {
				lines = append(lines, line{end: "\n"})
			}
		}
		return lines
	}},
}

// avoidable reports whether avoid can change a body so that it does not depend on the rules of a class.
func avoidable(class string) bool {
	return slices.ContainsFunc(avoidances, func(a avoidance) bool { return a.class == class })
}

// fields are the names of the known fields.
var fields = []string{"data", "event", "id", "retry"}

// nameOf returns the name of the field in a line.
func nameOf(s string) string {
	name, _, _ := strings.Cut(s, ":")
	return name
}

// each returns a function that changes the text of each line.
func each(change func(string) string) func([]line) []line {
	return func(lines []line) []line {
		for i := range lines {
			lines[i].text = change(lines[i].text)
		}
		return lines
	}
}

// without returns a function that removes lines.
func without(remove func(string) bool) func([]line) []line {
	return func(lines []line) []line {
		return slices.DeleteFunc(lines, func(l line) bool { return remove(l.text) })
	}
}

// oneDataLine leaves one data line with a value in each block, and removes blocks without data.
func oneDataLine(lines []line) (all []line) {
	var block []line
	hasData := false
	for _, l := range lines {
		if nameOf(l.text) == "data" {
			if _, value, _ := strings.Cut(l.text, ":"); hasData || value == "" || value == " " {
				continue
			}
			hasData = true
		}
		if block = append(block, l); l.text != "" {
			continue
		}
		if hasData {
			all = append(all, block...)
		}
		block, hasData = nil, false
	}
	if hasData {
		all = append(all, block...)
	}
	return all
}

// avoid removes from body what depends on the rules of the given classes, so that a parser that breaks
// these rules can be tested for other errors.
func avoid(body []byte, classes []string) []byte {
	if len(classes) == 0 {
		return body
	}
	mark := ""
	if bytes.HasPrefix(body, []byte(bom)) {
		mark = bom
	}
	lines := splitLines(string(body[len(mark):]))
	if slices.Contains(classes, "bom") {
		mark = ""
	}
	for _, a := range avoidances {
		if slices.Contains(classes, a.class) {
			lines = a.lines(lines)
		}
	}
	var b strings.Builder
	b.WriteString(mark)
	for i, l := range lines {
		if l.end == "\r" && i+1 < len(lines) && lines[i+1].text == "" && strings.HasPrefix(lines[i+1].end, "\n") {
			l.end = "\n" // otherwise the blank line would become part of this line end
		}
		b.WriteString(l.text + l.end)
	}
	return []byte(b.String())
}

// splitLines returns the lines of a body with their ends: LF, CR, CRLF, or "" for the last one.
func splitLines(body string) (lines []line) {
	for body != "" {
		n := strings.IndexAny(body, "\r\n")
		if n < 0 {
			return append(lines, line{text: body})
		}
		end := n + 1
		if strings.HasPrefix(body[n:], "\r\n") {
			end++
		}
		lines = append(lines, line{body[:n], body[n:end]})
		body = body[end:]
	}
	return lines
}

// avoided returns the classes that fuzzing avoids, because a gap declares the class or one of its cases.
func (o Options) avoided() (classes []string) {
	for _, g := range o.Gaps {
		class, _, _ := strings.Cut(g, "/")
		classes = append(classes, class)
	}
	return classes
}

// checkGaps returns an error if a gap is not the name of a class or a case.
func (o Options) checkGaps() error {
	known := map[string]bool{lateGap: true}
	for _, c := range runnables() {
		known[c.class], known[c.class+"/"+c.name] = true, true
	}
	for _, g := range o.Gaps {
		if !known[g] {
			return fmt.Errorf("ssetest: Options.Gaps: %q: want a class of cases such as \"lines\", a case such as \"lines/cr\", or %q", g, lateGap)
		}
	}
	return nil
}
