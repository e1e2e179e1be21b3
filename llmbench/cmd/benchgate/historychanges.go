package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
	"github.com/seed-2b9cec6d/llmbench/llmbench/history"
)

const historyChangesUsage = "usage: benchgate history changes [flags]\n" +
	"\n" +
	"Changes prints where the gated units of the whole history changed, with the commits between which each change began.\n"

// historyChanges runs "benchgate history changes".
func historyChanges(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	fs, at := historyFlags("changes")
	defer at.close()
	o := history.ChangeOptions{}
	units, ignore := commonFlags(fs, &o.Min, &o.MaxFail)
	fs.Float64Var(&o.P, "p", 0.0005, "the largest `p-value` of a change point")
	json := fs.Bool("json", false, "print JSON")
	rest, err := cli.Parse(fs, historyChangesUsage, args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err == nil && len(rest) > 0:
		err = fmt.Errorf("history changes: %q: want no arguments", rest[0])
	case err == nil && *units != "":
		o.Units, err = os.ReadFile(*units)
	}
	var causes []history.Cause
	if err == nil {
		var r *history.Reader
		var runs []*history.Run
		if r, runs, err = readHistory(at, *ignore); err == nil {
			causes, err = r.Changes(runs, o)
		}
	}
	write := history.WriteChanges
	if *json {
		write = history.WriteChangesJSON
	}
	if err == nil {
		err = write(stdout, causes)
	}
	if err != nil {
		return fail(stderr, err)
	}
	return 0
}
