package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// TestCheck checks that errors are found in the files for one system, in constants of one size, in
// the bodies of functions and in tests. No other errors may be found.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module example.org/m\n\ngo 1.26\n",
		"a.go":          "package m\n\nimport \"example.org/m/b\"\n\nvar A = b.B\n",
		"a_windows.go":  "package m\n\nfunc f() int { return missing }\n",
		"a_test.go":     "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { var _ int = 1 << 40 }\n",
		"b/b.go":        "package b\n\nconst B = 1\n",
		"b/x_test.go":   "package b_test\n\nimport \"example.org/m/b\"\n\nvar _ = b.Only\n",
		"b/b_darwin.go": "package b\n\nconst Only = 2\n",
	} {
		assert.NilError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	t.Chdir(dir)
	for _, tt := range []struct {
		system string
		want   []string
	}{
		{"darwin/arm64", nil},
		{"linux/amd64", []string{"undefined: b.Only"}},
		{"windows/amd64", []string{"undefined: missing", "undefined: missing", "undefined: b.Only"}}, // once in m, and once in m with its tests
		{"linux/386", []string{"(untyped int constant 1099511627776) ", "undefined: b.Only"}},
		{"windows", []string{"want GOOS/GOARCH"}},
		{"windows/none", []string{"want GOOS/GOARCH"}},
	} {
		_, errs := check(tt.system, "./...")
		assert.Equal(t, len(errs), len(tt.want), "%s: %v", tt.system, errs)
		for _, want := range tt.want {
			assert.ErrorContains(t, fmt.Errorf("%v", errs), want, tt.system)
		}
	}
}
