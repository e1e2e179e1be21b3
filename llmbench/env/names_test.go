package env

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// root is the module's folder.
const root = "../.."

var variable = regexp.MustCompile(`LLMBENCH_[A-Z][A-Z_]*`)

// TestDocumentedNames checks that the tables of variables have every name: VARIABLES.md the names for users and
// the old names, and CONTRIBUTING.md the names for tests. No document may have a name that does not exist, and
// only VARIABLES.md and the changelog may have an old one.
func TestDocumentedNames(t *testing.T) {
	documented := map[string][]string{} // names in tables, by document
	documents := files(t, ".md")
	for path, text := range documents {
		for line := range strings.Lines(text) {
			all := variable.FindAllString(line, -1)
			for _, name := range all {
				old := Old()[name] != "" && (path == "llmbench/VARIABLES.md" || path == "CHANGELOG.md")
				assert.Assert(t, known(name) || old, "%s has %s, which does not exist", path, name)
			}
			if strings.HasPrefix(line, "| `LLMBENCH_") {
				documented[path] = append(documented[path], all...)
			}
		}
	}
	for path, want := range map[string][]string{
		"llmbench/VARIABLES.md": slices.Concat(names, slices.Collect(maps.Keys(Old()))),
		"CONTRIBUTING.md":       testNames,
	} {
		for _, name := range want {
			assert.Assert(t, slices.Contains(documented[path], name), "no table of %s has %s", path, name)
		}
	}
}

// TestNamesAreRead checks that each variable is named in a file other than the list of names.
func TestNamesAreRead(t *testing.T) {
	read := map[string]bool{}
	for path, text := range files(t, ".go", ".sh") {
		if path == "llmbench/env/names.go" {
			continue
		}
		for _, name := range variable.FindAllString(text, -1) {
			read[name] = true
		}
	}
	for _, name := range Names() {
		assert.Assert(t, read[name], "nothing reads %s", name)
	}
}

func TestNamesAreDifferent(t *testing.T) {
	all := Names()
	assert.Equal(t, len(slices.Compact(slices.Clone(all))), len(all))
}

// files returns the text of the module's files with one of the given extensions, by path.
func files(t *testing.T, extensions ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "testdata" || name == "cache" || name == ".git") {
			return fs.SkipDir
		}
		if d.IsDir() || !slices.Contains(extensions, filepath.Ext(name)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		short, err := filepath.Rel(root, path)
		all[filepath.ToSlash(short)] = string(text)
		return err
	})
	assert.NilError(t, err)
	return all
}
