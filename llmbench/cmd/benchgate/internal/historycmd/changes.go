package historycmd

import (
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history"
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
	var err error
	if o.Units, err = parseFlags(fs, historyChangesUsage, args, units, stdout, stderr); err != nil {
		return command.Ended(stderr, err)
	}
	r, runs, err := readHistory(at, *ignore)
	if err != nil {
		return command.Fail(stderr, err)
	}
	causes, err := r.Changes(runs, o)
	if err != nil {
		return command.Fail(stderr, err)
	}
	if *json {
		return command.Ended(stderr, history.WriteChangesJSON(stdout, causes))
	}
	return command.Ended(stderr, history.WriteChanges(stdout, causes))
}
