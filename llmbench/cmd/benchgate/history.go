package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
	"github.com/seed-2b9cec6d/llmbench/llmbench/history"
)

const historyUsage = "usage: benchgate history add [flags] [file...]\n" +
	"       benchgate history check [flags]\n" +
	"       benchgate history log [-dir folder]\n" +
	"       benchgate history prune [-dir folder] [-keep count] [-before date]\n" +
	"       benchgate history prune [-dir folder] -f name...\n" +
	"\n" +
	"History keeps the results of many runs in a folder, one file per run.\n"

// historyDir is the default of -dir.
const historyDir = "benchhistory"

// historyCommands are the subcommands of "benchgate history".
var historyCommands = map[string]func(args []string, stdin io.Reader, stdout, stderr io.Writer) int{
	"add": historyAdd, "check": historyCheck, "log": historyLog, "prune": historyPrune,
}

// historyCommand runs "benchgate history" and returns the exit status.
func historyCommand(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		if run := historyCommands[args[0]]; run != nil {
			return run(args[1:], stdin, stdout, stderr)
		}
	}
	args, err := cli.Parse(flag.NewFlagSet("benchgate history", flag.ContinueOnError), historyUsage, args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err == nil && len(args) == 0:
		err = errors.New("history: no command: want add, check, log or prune")
	case err == nil:
		err = fmt.Errorf("history: %q: want add, check, log or prune", args[0])
	}
	return fail(stderr, err)
}

// historyFlags returns the flags of a subcommand, with -dir.
func historyFlags(name string) (*flag.FlagSet, *string) {
	fs := flag.NewFlagSet("benchgate history "+name, flag.ContinueOnError)
	return fs, fs.String("dir", historyDir, "the `folder` of the history")
}

// readHistory reads all runs of a folder.
func readHistory(dir string, ignore []string) (*history.Reader, []*history.Run, error) {
	r := history.NewReader(ignore...)
	runs, err := r.ReadAll(history.Dir(dir))
	if err == nil && len(runs) == 0 {
		err = fmt.Errorf("%s: no runs: want files that benchgate history add wrote", dir)
	}
	return r, runs, err
}
