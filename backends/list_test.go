package backends

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestReadmeServers checks that the table of servers in README.md shows the default image and the
// units of each server.
func TestReadmeServers(t *testing.T) {
	text, err := os.ReadFile("README.md")
	assert.NilError(t, err)
	rows := map[string][]string{} // the cells of each server, by its name
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|.*$").FindAllStringSubmatch(string(text), -1) {
		if rows[row[1]] == nil { // only the first table counts
			rows[row[1]] = strings.Split(strings.Trim(row[0], "|"), "|")
		}
	}
	for name, server := range servers {
		cells := rows[name]
		assert.Equal(t, len(cells), 6, "the row of %s in README.md: %q", name, cells)
		for _, image := range defaultImages(server) {
			image, _, _ = strings.Cut(image, " with ")
			if strings.Contains(image, "none") || strings.Contains(image, "from source") {
				continue
			}
			last, tag := image[strings.LastIndex(image, "/")+1:], image[strings.LastIndex(image, ":")+1:]
			named := strings.Contains(cells[2], last+"`") || strings.Contains(cells[2], "`"+tag+"`")
			assert.Check(t, named, "README.md names other images of %s than %s: %s", name, image, cells[2])
		}
		var named []string
		for _, unit := range regexp.MustCompile("`(srv-[^`]+)`").FindAllStringSubmatch(cells[5], -1) {
			named = append(named, unit[1])
		}
		assert.Check(t, strings.Join(named, " ") == strings.Join(units(server), " "), "README.md names other units of %s than %q: %q", name, units(server), named)
	}
}
