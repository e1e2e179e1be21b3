package historycmd

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history"
)

// historyFlags returns the flags of a subcommand, with those that say where the history is.
func historyFlags(name string) (*flag.FlagSet, *place) {
	fs, p := flag.NewFlagSet("benchgate history "+name, flag.ContinueOnError), &place{}
	p.flags(fs)
	return fs, p
}

// commonFlags adds the flags that check and changes share. It stores -min and -max-fail in least and maxFail,
// and returns the path of -units ("" if it is not set) and the keys of -ignore.
func commonFlags(fs *flag.FlagSet, least, maxFail *float64) (units *string, ignore *[]string) {
	*least, ignore = 0.01, new([]string)
	fs.Func("min", "the smallest change that counts, a `percentage` such as 1% (default 1%)", func(v string) error {
		percent, err := strconv.ParseFloat(strings.TrimSuffix(v, "%"), 64)
		if err != nil || !strings.HasSuffix(v, "%") || !(percent >= 0 && percent < 100) {
			return errors.New("want a percentage from 0% to less than 100%")
		}
		*least = percent / 100
		return nil
	})
	fs.Func("max-fail", "use results with at most this `share` of failed requests, 0 to 1 (default 0)", command.Share(maxFail))
	fs.Func("ignore", "let these `keys` of configuration lines differ, a comma-separated list", func(v string) error {
		for _, key := range strings.Split(v, ",") {
			if key == "" || key == "/" || strings.HasPrefix(key, ".") {
				return errors.New("want configuration keys or /keys of benchmark names")
			}
			*ignore = append(*ignore, key)
		}
		return nil
	})
	return fs.String("units", "", "also read Unit lines from this `file`; its margins override the margins in the newest run"), ignore
}

// parseFlags parses the flags of a subcommand that takes no arguments, and returns the text of the file units, or nil
// if its name is "".
func parseFlags(fs *flag.FlagSet, usage string, args []string, units *string, stdout, stderr io.Writer) ([]byte, error) {
	rest, err := cli.Parse(fs, usage, args, stdout, stderr)
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 0:
		return nil, fmt.Errorf("%s: %q: want no arguments", strings.TrimPrefix(fs.Name(), "benchgate "), rest[0])
	case units != nil && *units != "":
		return os.ReadFile(*units)
	}
	return nil, nil
}

// readHistory reads all runs of a history. It is an error if there are none.
func readHistory(p *place, ignore []string) (*history.Reader, []*history.Run, error) {
	d, err := p.open()
	if err != nil {
		return nil, nil, err
	}
	return readRuns(p, d, ignore)
}

// readRuns reads all runs of a folder, which p names in errors.
func readRuns(p *place, d history.Dir, ignore []string) (*history.Reader, []*history.Run, error) {
	r := history.NewReader(ignore...)
	runs, err := r.ReadAll(d)
	if err == nil && len(runs) == 0 {
		err = fmt.Errorf("%s: no runs: want files that benchgate history add wrote", p.dir)
	}
	return r, runs, err
}
