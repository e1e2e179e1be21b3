package historycmd

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
)

const historyAckUsage = "usage: benchgate history ack [flags] run...\n" +
	"\n" +
	"Ack accepts the results of runs as they are. Check then no longer reports changes that began in such a run or before\n" +
	"it, and no longer misses what the run lacks. The names of runs are those that add, check and log print.\n" +
	"Ack adds a file for each run, and prints its name. history prune -f deletes the file.\n"

// historyAck runs "benchgate history ack".
func historyAck(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	fs, at := historyFlags("ack")
	defer at.close()
	runs, err := cli.Parse(fs, historyAckUsage, args, stdout, stderr)
	if err == nil && len(runs) == 0 {
		err = errors.New("history ack: no run: want names of runs, as history check prints them")
	}
	if err != nil {
		return command.Ended(stderr, err)
	}
	d, err := at.open()
	if err != nil {
		return command.Fail(stderr, err)
	}
	var names []string
	for _, run := range runs {
		name, err := d.Ack(run, time.Now())
		if err != nil {
			return command.Fail(stderr, fmt.Errorf("history ack: %w", err))
		}
		names = append(names, name)
	}
	if err := at.publish(); err != nil {
		return command.Fail(stderr, err)
	}
	for _, name := range names {
		fmt.Fprintln(stdout, name)
	}
	return 0
}
