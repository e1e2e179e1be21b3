package backends

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/facts"
)

// TestReadmeServers checks that the table of servers in README.md shows the default images of each
// server, and with which source its settings were compared.
func TestReadmeServers(t *testing.T) {
	text, err := os.ReadFile("README.md")
	assert.NilError(t, err)
	all, err := facts.Load("testdata/facts")
	assert.NilError(t, err)
	rows := map[string][]string{} // the cells of each server, by its name
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|.*$").FindAllStringSubmatch(string(text), -1) {
		if rows[row[1]] == nil { // only the first table counts
			rows[row[1]] = strings.Split(strings.Trim(row[0], "|"), "|")
		}
	}
	for name, server := range servers {
		cells := rows[name]
		assert.Equal(t, len(cells), 4, "the row of %s in README.md: %q", name, cells)
		images, source := defaultImages(server), "" // the simulated server has no facts
		image, _, _ := strings.Cut(images[0], " with ")
		if f, _, found := facts.For(all, name, image); found {
			source = sourceOf(f)
		}
		assert.Check(t, strings.TrimSpace(cells[3]) == source, "README.md says that %s was compared with %q, want %q", name, cells[3], source)
		for _, image := range images {
			image, _, _ = strings.Cut(image, " with ")
			if strings.Contains(image, "none") || strings.Contains(image, "from source") {
				continue
			}
			last, tag := image[strings.LastIndex(image, "/")+1:], image[strings.LastIndex(image, ":")+1:]
			named := strings.Contains(cells[2], last+"`") || strings.Contains(cells[2], "`"+tag+"`")
			assert.Check(t, named, "README.md names other images of %s than %s: %s", name, image, cells[2])
		}
	}
}

// sourceOf says, in the words of README.md, from which source facts were read.
func sourceOf(f facts.Facts) string {
	switch {
	case f.Tree.Commit == "":
		return "documents"
	case strings.TrimPrefix(f.Tree.Tag, "v") == f.Version:
		return "release"
	default:
		return "nearby commit"
	}
}
