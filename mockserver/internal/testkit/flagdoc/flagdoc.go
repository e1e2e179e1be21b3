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

// Test checks that the documentation in main.go lists the same flags as the output of
// -help. run executes the command.
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

// flags returns a sorted list of flag names. The regular expression line matches the parts of
// text that contain flags, and the first group of each matches the names in such a part.
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
