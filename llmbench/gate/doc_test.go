package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestDocTables checks that the doc comment contains the tables that the tests of package decide
// make.
func TestDocTables(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	assert.NilError(t, err)
	tables, err := filepath.Glob("internal/decide/testdata/*.golden")
	assert.NilError(t, err)
	assert.Assert(t, len(tables) > 0)
	for _, path := range tables {
		table, err := os.ReadFile(path)
		assert.NilError(t, err)
		want := "//\t" + strings.ReplaceAll(strings.TrimSuffix(string(table), "\n"), "\n", "\n//\t") + "\n"
		assert.Assert(t, strings.Contains(string(doc), want), "doc.go lacks the table of %s:\n%s", path, want)
	}
}
