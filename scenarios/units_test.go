package scenarios

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestUnits compares two lists of all units with the code: the table in llmbench/UNITS.md, and
// benchdata/units.txt, in which users can edit the margins. The flag -update writes both.
func TestUnits(t *testing.T) {
	const begin, end = "<!-- units -->\n", "<!-- /units -->\n"
	text := document(t, "llmbench/UNITS.md")
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	assert.Assert(t, found && closed, "llmbench/UNITS.md has no section between %q and %q", begin, end)
	want := before + begin + unitTable(llmbench.Units()) + end + after
	if golden.FlagUpdate() {
		assert.NilError(t, os.WriteFile("../llmbench/UNITS.md", []byte(want), 0o666))
	} else {
		assert.Equal(t, text, want, "run: go test ./scenarios -run='Units$' -update")
	}

	var b strings.Builder
	b.WriteString("# The units of llmbench, by how much each may get worse before benchgate calls the\n" +
		"# change a regression (gate=), and by how much two sides may differ before benchgate cannot judge them (same=).\n" +
		"# For \"benchgate -units\"; a copy may have other margins. Written by: go test ./scenarios -run='Units$' -update\n\n")
	for _, u := range llmbench.Units() {
		if line := u.Line(); line != "" {
			b.WriteString(line + "\n")
		}
	}
	golden.Assert(t, b.String(), "../../benchdata/units.txt")
}

// statisticOf matches the beginning of the definition of a unit that is a statistic.
var statisticOf = regexp.MustCompile(`^(Mean|Median|(?:Upper 95 % confidence bound of the )?\d+th percentile|Maximum) of (.)`)

// turnOf matches the number of a turn in the definition of a unit, and numbered the name of a unit of one turn
// or of one replica.
var (
	turnOf   = regexp.MustCompile(`\bturn ?\d+`)
	numbered = regexp.MustCompile(`\b(turn|replica)\d+`)
)

// unitTable returns a Markdown table of units. Successive units that differ only in their statistic
// share a row. The same holds for units that differ only in the number of the turn or of the replica.
func unitTable(units []sample.Unit) string {
	type row struct{ names, better, means, last string }
	var rows []row
	for _, u := range units {
		name := "`" + u.Name + "`"
		if !u.Core {
			name += " ○"
		}
		better := u.Better
		if better == "" {
			better = "-"
		}
		means := statisticOf.ReplaceAllStringFunc(u.Means, func(s string) string { return strings.ToUpper(s[len(s)-1:]) })
		if u.Parts != "" {
			means += " Withheld with `" + strings.ReplaceAll(u.Parts, " ", "` or `") + "`."
		}
		isNumbered := numbered.MatchString(u.Name)
		means = turnOf.ReplaceAllString(means, "that turn")
		if n := len(rows); n == 0 || rows[n-1].means != means || rows[n-1].better != better {
			rows = append(rows, row{name, better, means, ""})
		} else if isNumbered {
			rows[n-1].last = " to " + name
		} else {
			rows[n-1].names += ", " + name
		}
	}
	var b strings.Builder
	b.WriteString("| unit | better | meaning |\n| --- | --- | --- |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s%s | %s | %s |\n", r.names, r.last, r.better, r.means)
	}
	return b.String()
}

// TestMeans checks that the definition of every unit consists of whole sentences.
func TestMeans(t *testing.T) {
	for _, u := range llmbench.Units() {
		assert.Assert(t, len(u.Means) > 20 && strings.HasSuffix(u.Means, ".") && !strings.Contains(u.Means, "\n"), "%s: %q", u.Name, u.Means)
		assert.NilError(t, u.Check())
	}
}
