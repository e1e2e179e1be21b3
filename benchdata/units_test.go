package benchdata

import (
	"strings"
	"testing"

	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestUnits keeps units.txt, the margins for people who edit them, as the table
// of units has them. -update writes it.
func TestUnits(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What llmbench's units are, and by how much each may get worse before benchgate says so.\n" +
		"# For \"benchgate -units\"; a copy of it may have other margins. Written by: go test ./benchdata -run=TestUnits -update\n\n")
	for _, u := range sample.Units {
		if line := u.Line(); line != "" {
			b.WriteString(line + "\n")
		}
	}
	golden.Assert(t, b.String(), "../units.txt")
}
