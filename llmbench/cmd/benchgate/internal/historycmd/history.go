package historycmd

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
)

const historyUsage = "usage: benchgate history add [flags] [file...]\n" +
	"       benchgate history check [flags]\n" +
	"       benchgate history ack [flags] run...\n" +
	"       benchgate history changes [flags]\n" +
	"       benchgate history log [-dir folder]\n" +
	"       benchgate history prune [-dir folder] [-keep count] [-before date]\n" +
	"       benchgate history prune [-dir folder] -f name...\n" +
	"       benchgate history show [-o page.html] [-atom feed.xml] [flags]\n" +
	"\n" +
	"History keeps the results of many runs in a folder, one file per run.\n"

// historyCommands are the subcommands of "benchgate history".
var historyCommands = map[string]func(args []string, stdin io.Reader, stdout, stderr io.Writer) int{
	"ack": historyAck, "add": historyAdd, "changes": historyChanges, "check": historyCheck, "log": historyLog, "prune": historyPrune, "show": historyShow,
}

// Run runs "benchgate history" and returns the exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		if run := historyCommands[args[0]]; run != nil {
			return run(args[1:], stdin, stdout, stderr)
		}
	}
	args, err := cli.ParseFirst(flag.NewFlagSet("benchgate history", flag.ContinueOnError), historyUsage, args, stdout, stderr)
	switch {
	case err == nil && len(args) == 0:
		err = errors.New("history: no command: want add, ack, changes, check, log, prune or show")
	case err == nil:
		err = fmt.Errorf("history: %q: want add, ack, changes, check, log, prune or show", args[0])
	}
	return command.Ended(stderr, err)
}
