package cli

import (
	"bytes"
	"flag"
	"io"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestParse checks where flags may stand.
func TestParse(t *testing.T) {
	for args, want := range map[string]string{ // -n, -v and the other arguments
		"":                      "0 false",
		"-n 1 a b":              "1 false a b",
		"a -n 1 b":              "1 false a b",
		"a b -n=1 -v":           "1 true a b",
		"a -v b -n 1 -":         "1 true a b -",
		"-n 1 -- -n 2":          "1 false -n 2",
		"a -n 1 -- b -n 2 -v":   "1 false a b -n 2 -v",
		"a -- -n 1 -- b":        "0 false a -n 1 -- b",
		"a -x":                  "flag provided but not defined: -x",
		"a b -n":                "flag needs an argument: -n",
		"-n 1 a -n 2 b -v=true": "2 true a b",
	} {
		fs := flag.NewFlagSet("test", flag.ContinueOnError)
		n, v := fs.Int("n", 0, ""), fs.Bool("v", false, "")
		others, err := Parse(fs, "usage", strings.Fields(args), io.Discard, io.Discard)
		if err != nil {
			assert.Equal(t, err.Error(), want, args)
			continue
		}
		got := strings.Join(append([]string{map[int]string{0: "0", 1: "1", 2: "2"}[*n], map[bool]string{true: "true", false: "false"}[*v]}, others...), " ")
		assert.Equal(t, got, want, args)
	}
	var help bytes.Buffer
	_, err := Parse(flag.NewFlagSet("test", flag.ContinueOnError), "usage: test", []string{"a", "-help"}, &help, io.Discard)
	assert.Equal(t, err, flag.ErrHelp)
	assert.Equal(t, help.String(), "usage: test\n")

	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	n := fs.Int("n", 0, "")
	others, err := ParseFirst(fs, "usage", []string{"-n", "1", "a", "-bench=x"}, io.Discard, io.Discard)
	assert.NilError(t, err)
	assert.Equal(t, *n, 1)
	assert.DeepEqual(t, others, []string{"a", "-bench=x"})
}
