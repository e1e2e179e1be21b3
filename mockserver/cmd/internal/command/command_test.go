package command

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestFlagsAfterFiles checks that flags may stand between and after other arguments.
func TestFlagsAfterFiles(t *testing.T) {
	for args, want := range map[string]string{
		"-n 1 a b":   "1: a b",
		"a b -n 1":   "1: a b",
		"a -n 1 b":   "1: a b",
		"a -- -n 1":  "0: a -n 1",
		"-n 1 -- -x": "1: -x",
	} {
		var n *int
		var got string
		c := Command{
			Name:  "test",
			Flags: func(fs *flag.FlagSet) { n = fs.Int("n", 0, "") },
			Check: func(fs *flag.FlagSet) error {
				if fs.NArg() == 0 {
					return errors.New("no file")
				}
				return nil
			},
			Do: func(args []string) error {
				got = map[int]string{0: "0: ", 1: "1: "}[*n] + strings.Join(args, " ")
				return nil
			},
		}
		assert.Equal(t, c.Run(strings.Fields(args), io.Discard), 0, args)
		assert.Equal(t, got, want, args)
	}
	assert.Equal(t, Command{Name: "test", Flags: func(*flag.FlagSet) {}}.Run([]string{"a", "-x"}, io.Discard), 2)
}
