// Package flagdoc compares a command's documentation with its flags.
package flagdoc

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Test checks that the documentation in main.go has the same flags as -help. run is the
// command.
func Test(t *testing.T, run func(args []string, stdout, stderr io.Writer) int) {
	t.Helper()
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, _, _ := strings.Cut(string(source), "\npackage main")
	_, doc, _ = strings.Cut(doc, "// The flags are:")
	var stdout, stderr bytes.Buffer
	run([]string{"-help"}, &stdout, &stderr)
	got, want := flags(doc, `(?m)^//\t-.*?(  |$)`, `(?:^//\t|, )-(\w+)`), flags(stderr.String(), `(?m)^  -\w+`, `-(\w+)`)
	if len(want) < 5 || !slices.Equal(got, want) {
		t.Errorf("the documentation has the flags %q, -help has %q", got, want)
	}
}

// flags returns, sorted, the names that each matches in the parts of the text that line
// matches.
func flags(text, line, each string) []string {
	var all []string
	for _, l := range regexp.MustCompile(line).FindAllString(text, -1) {
		for _, m := range regexp.MustCompile(each).FindAllStringSubmatch(l, -1) {
			all = append(all, m[1])
		}
	}
	slices.Sort(all)
	return all
}
