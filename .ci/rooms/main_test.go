package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestCheck checks a module whose files break each rule once, and again with
// what CONTRIBUTING.md and a comment allow.
func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	write := func(name, text string) { assert.NilError(t, os.WriteFile(name, []byte(text), 0o666)) }
	write("go.mod", "module example.com/m\n\ngo 1.26.0\n")
	assert.NilError(t, os.Mkdir("p", 0o777))
	// a to e use each other in a circle: names of packages, and a method.
	write("p/a.go", "package p\n\nfunc A() { B() }\n")
	write("p/b.go", "package p\n\nfunc B() { T{}.C() }\n\ntype T struct{}\n")
	write("p/c.go", "package p\n\nfunc (T) C() { _ = D }\n")
	write("p/d.go", "package p\n\nvar D = func() int { var e E; return int(e) }\n")
	write("p/e.go", "package p\n\ntype E int\n\nfunc _() { A() }\n")
	long := "func Long() {\n" + strings.Repeat("\tD()\n", 79) + "}\n"
	write("p/long.go", "package p\n\n"+long)
	for c := 'f'; c <= 'z'; c++ {
		write("p/"+string(c)+".go", "package p\n")
	}

	var table bytes.Buffer
	problems, err := check(&table, []string{"./..."}, false)
	assert.NilError(t, err)
	assert.DeepEqual(t, problems, []string{
		"p: a circle of 5 files, at most 4 are allowed: a.go b.go c.go d.go e.go",
		"p: 27 files, at most 25 are allowed",
		`p: long.go: Long has 81 lines; more than 80 need a comment with "long because"`,
	})
	assert.Equal(t, table.String(), "package  files  in circles  largest  long\np        27     5           5        1\n")

	write("CONTRIBUTING.md", "# Rooms\n\n- `p` may have 27 files: it is a catalogue.\n")
	write("p/c.go", "package p\n\nfunc (T) C() {}\n")
	write("p/long.go", "package p\n\n// Long is long\n// because it is a table.\n"+long)
	problems, err = check(&table, []string{"./..."}, false)
	assert.NilError(t, err)
	assert.DeepEqual(t, problems, []string(nil))
}
