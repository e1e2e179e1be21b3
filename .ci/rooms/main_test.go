package main

import (
	"bytes"
	"os"
	"testing"

	"gotest.tools/v3/assert"
)

// TestCheck checks the table and the problems that break the rules of stages. It uses a module with
// one package of each part, of which one has several files.
func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	write := func(name, text string) { assert.NilError(t, os.WriteFile(name, []byte(text), 0o666)) }
	write("go.mod", "module example.com/m\n\ngo 1.26.0\n")
	assert.NilError(t, os.MkdirAll("p", 0o777))
	assert.NilError(t, os.MkdirAll(".ci/rooms", 0o777))
	// The files a to e use each other in a circle, through names of the package and a method.
	write("p/a.go", "package p\n\nfunc A() { B() }\n")
	write("p/b.go", "package p\n\nfunc B() {\n\tT{}.C()\n}\n\ntype T struct{}\n")
	write("p/c.go", "package p\n\nfunc (T) C() { _ = D }\n")
	write("p/d.go", "package p\n\nvar D = func() int { var e E; return int(e) }\n")
	write("p/e.go", "package p\n\ntype E int\n\nfunc _() { A() }\n")
	write("p/f_plan9.go", "// Comments and blank lines do not count.\n\npackage p /* here\nneither */\n")
	// A package of the test kit, one of the laboratories, and one with tests alone.
	for _, folder := range []string{"p/internal/testkit/k", ".ci/lab", ".ci/tests"} {
		assert.NilError(t, os.MkdirAll(folder, 0o777))
	}
	write("p/internal/testkit/k/k.go", "package k\n\nfunc F() {}\n")
	write(".ci/lab/main.go", "package main\n\nfunc main() {\n}\n")
	write(".ci/tests/tests_test.go", "package tests\n")
	check := func() (string, []string) {
		t.Helper()
		var table bytes.Buffer
		problems, err := check(&table, append(own(), "./..."), true)
		assert.NilError(t, err)
		return table.String(), problems
	}

	table, problems := check()
	assert.Equal(t, table, `package               files  lines  exported  arrows  in circles  largest  longest  stages
.ci/lab               1      3      0         0       0           0        2        0
p                     6      15     5         6       5           5        3        0
p/internal/testkit/k  1      2      0         0       0           0        1        0
product               6      15     5         6       5           5        3        0
test kit              1      2      0         0       0           0        1        0
laboratories          1      3      0         0       0           0        2        0
total                 8      20     5         6       5           5        3        0
p: a.go uses b.go: B
p: b.go uses c.go: C
p: c.go uses b.go: T
p: c.go uses d.go: D
p: d.go uses e.go: E
p: e.go uses a.go: A
`)
	assert.DeepEqual(t, problems, []string(nil))

	write(".ci/rooms/stages.txt", "# About stages: more.\np\n\ttop: a.go b.go c.go\n\tfacts: e.go d.go gone.go\n")
	_, problems = check()
	assert.DeepEqual(t, problems, []string{
		"p: stage facts has no file gone.go",
		"p: e.go (facts) uses a.go (top), a stage above: A",
		"p: f_plan9.go is in no stage; add it to .ci/rooms/stages.txt",
	})

	write("p/e.go", "package p\n\ntype E int\n")
	write(".ci/rooms/stages.txt", "p\n\ttop: a.go b.go c.go f_plan9.go\n\tfacts: e.go d.go\n")
	_, problems = check()
	assert.DeepEqual(t, problems, []string(nil))

	write(".ci/rooms/stages.txt", "\ttop: a.go\n")
	_, err := readStages(".ci/rooms/stages.txt")
	assert.ErrorContains(t, err, "stage top is below no package")
}

// TestLaboratories checks that each laboratory exists, so that none is counted as part of the product after a move.
func TestLaboratories(t *testing.T) {
	for _, folder := range laboratories {
		_, err := os.Stat("../../" + folder)
		assert.NilError(t, err)
	}
}
