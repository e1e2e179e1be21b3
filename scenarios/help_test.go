package scenarios

import (
	_ "embed"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/golden"
)

// variablesHelp lists all variables by group, for llmbench -help. TestVariablesHelp -update makes it of VARIABLES.md.
//
//go:embed testdata/variables.txt
var variablesHelp string

// TestVariablesHelp checks that the help has what VARIABLES.md says.
func TestVariablesHelp(t *testing.T) {
	golden.Assert(t, helpOf(document(t, "llmbench/VARIABLES.md")), "variables.txt")
}

var (
	onlyLink  = regexp.MustCompile(`[;,]? ?\(\[[^\]]*\]\([^)]*\)\)|[;:] \[[a-z]*\]\([^)]*\)`)
	link      = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	byDefault = regexp.MustCompile(` \([^()]*\)$`)
)

// helpOf returns the tables of variables in a document as text, each below the sentence or the heading before it. Of a
// meaning it has the first sentence, and the default at the end.
func helpOf(markdown string) string {
	var b strings.Builder
	group, isTable := "", false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case line == "| variable | meaning (default) |":
			isTable = true
			b.WriteString("\n" + group + "\n\n")
		case !strings.HasPrefix(line, "|"):
			isTable = false
			if strings.HasSuffix(line, ":") || strings.HasPrefix(line, "## ") {
				group = strings.TrimSuffix(strings.ReplaceAll(strings.TrimPrefix(line, "## "), "`", ""), ":") + ":"
			}
		case isTable && len(cells) == 2 && cells[0] != "---":
			names := strings.Split(strings.ReplaceAll(cells[0], "`", ""), ", ")
			for _, name := range names[:len(names)-1] {
				b.WriteString("  " + name + ",\n")
			}
			text := strings.ReplaceAll(link.ReplaceAllString(onlyLink.ReplaceAllString(cells[1], ""), "$1"), "`", "")
			writeHelp(&b, names[len(names)-1], firstSentence(text))
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// firstSentence returns the first sentence of a text without its period, and the default at the end of the text.
func firstSentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if value := byDefault.FindString(text); more && !strings.HasSuffix(first, value) {
		first += value
	}
	return strings.TrimSuffix(first, ".")
}

// helpColumn is the last column of the names of variables.
const helpColumn = 26

// writeHelp writes a variable and its meaning in lines of at most 118 characters.
func writeHelp(b *strings.Builder, name, text string) {
	line := "  " + name
	if len(line) > helpColumn {
		b.WriteString(line + "\n")
		line = ""
	}
	line += strings.Repeat(" ", helpColumn+2-len(line))
	start := len(line)
	for i, word := range strings.Fields(text) {
		if i > 0 && len(line)+1+len(word) > 118 {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", start)
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
}
