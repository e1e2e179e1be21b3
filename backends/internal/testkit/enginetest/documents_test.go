package enginetest_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/enginetest"
)

// The documents that say which engines were really run.
const (
	readme   = "../../../../README.md"
	backends = "../../../README.md"
)

// block matches what TestContract writes into a document.
var block = regexp.MustCompile(`(?s)<!-- engines -->(.*)<!-- /engines -->`)

// row is a line of the table in backends/README.md.
var row = regexp.MustCompile(`(?m)^\| (.+) \| (\S+) \| (\d{4}-\d\d-\d\d) \| (\d+) \|$`)

var documents sync.Mutex

// document writes that an engine has passed all checks, with -update.
func document(t *testing.T, e enginetest.Engine, checks int) {
	if !golden.FlagUpdate() || t.Failed() {
		return
	}
	documents.Lock()
	defer documents.Unlock()
	rows := map[string]string{} // by title
	text, err := os.ReadFile(backends)
	assert.NilError(t, err)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = m[0]
	}
	rows[e.Title] = fmt.Sprintf("| %s | %s | %s | %d |", e.Title, e.Version, time.Now().Format(time.DateOnly), checks)
	table, line := "\n| engine | version | run on | checks |\n| --- | --- | --- | --- |\n", []string{}
	for _, e := range enginetest.Engines {
		if m := row.FindStringSubmatch(rows[e.Title]); m != nil {
			table += m[0] + "\n"
			line = append(line, fmt.Sprintf("%s %s (%s)", e.Short(), m[2], m[3]))
		}
	}
	replace(t, backends, table)
	replace(t, readme, strings.Join(line, ", "))
}

// replace replaces the block of a document.
func replace(t *testing.T, file, content string) {
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
	assert.Assert(t, block.Match(text), file)
	assert.NilError(t, os.WriteFile(file, block.ReplaceAll(text, []byte("<!-- engines -->"+content+"<!-- /engines -->")), 0o644))
}

// TestDocuments checks that the documents have the versions of the engines that each run runs, and that README.md has
// what backends/README.md has.
func TestDocuments(t *testing.T) {
	long, err := os.ReadFile(backends)
	assert.NilError(t, err)
	short, err := os.ReadFile(readme)
	assert.NilError(t, err)
	inShort := block.FindString(string(short))
	versions := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(block.FindString(string(long)), -1) {
		versions[m[1]] = m[2]
		assert.Assert(t, strings.Contains(inShort, " "+m[2]+" ("+m[3]+")"), "README.md lacks %s; write it by: go run ./.ci/engines -check -update", m[0])
	}
	for _, e := range enginetest.Engines {
		if e.Each {
			assert.Equal(t, versions[e.Title], e.Version, "backends/README.md; write it by: go run ./.ci/engines -check -update %s", e.Name)
		}
	}
}
