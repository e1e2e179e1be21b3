package historycmd

import (
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history"
)

const historyChangesUsage = "usage: benchgate history changes [flags]\n" +
	"\n" +
	"Changes prints all changes of gated units that check finds in any run of the history, also for the better, with the commits\n" +
	"between which each change began.\n"

// historyChanges runs "benchgate history changes".
func historyChanges(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	fs, at := historyFlags("changes")
	defer at.close()
	o := history.CheckOptions{}
	units, ignore := commonFlags(fs, &o.Min, &o.MaxFail)
	fs.Float64Var(&o.Nights, "nights", 100, "allow one run with a false alarm in this `number` of runs")
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
