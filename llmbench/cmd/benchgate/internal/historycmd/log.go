package historycmd

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history"
)

const historyLogUsage = "usage: benchgate history log [-dir folder]\n" +
	"\n" +
	"Log prints a line for each run, in the order of commits; the runs of a machine are in the order in which they ran.\n"

// historyLog runs "benchgate history log".
func historyLog(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	fs, at := historyFlags("log")
	defer at.close()
	if _, err := parseFlags(fs, historyLogUsage, args, nil, stdout, stderr); err != nil {
		return command.Ended(stderr, err)
	}
	d, err := at.open()
	if err != nil {
		return command.Fail(stderr, err)
	}
	_, runs, err := readRuns(at, d, nil)
	if err != nil {
		return command.Fail(stderr, err)
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "commit time\tcommit\tmachine\tseries\t\tname")
	for _, run := range runs {
		fmt.Fprintf(w, "%s\t%.12s\t%s\t%d\t%s\t%s\n", run.Time.UTC().Format(time.RFC3339), run.Commit, cmp.Or(run.Machine, "-"),
			len(run.Cells), remark(run), run.Name)
	}
	if err := w.Flush(); err != nil {
		return command.Fail(stderr, err)
	}
	l, err := d.List()
	if err != nil {
		return command.Fail(stderr, err)
	}
	for _, name := range l.Unfinished {
		fmt.Fprintf(stderr, "benchgate: note: %s: unfinished: an add still writes it or was killed; history prune lists it\n", name)
	}
	for _, name := range l.Others {
		fmt.Fprintf(stderr, "benchgate: note: %s: left out: its name is not one that history add writes\n", name)
	}
	return 0
}

// remark says whether a run failed, is a rerun, or is accepted. It is "" if none of these is true.
func remark(run *history.Run) string {
	var all []string
	if run.Failed {
		all = append(all, "failed")
	}
	if run.RerunOf != "" {
		all = append(all, "rerun")
	}
	if run.Accepted {
		all = append(all, "accepted")
	}
	return strings.Join(all, ", ")
}

const historyPruneUsage = "usage: benchgate history prune [-dir folder] [-keep count] [-before date]\n" +
	"       benchgate history prune [-dir folder] -f name...\n" +
	"\n" +
	"Prune prints the names of runs that may be deleted, with what accepts them: all but the newest -keep, runs of commits\n" +
	"before -before, and files that no add has finished. It deletes nothing. With -f it deletes the named files; \"-f -\" reads the names from\n" +
	"standard input:\n" +
	"\n" +
	"\tbenchgate history prune -keep=400 | benchgate history prune -f -\n"

// historyPrune runs "benchgate history prune".
func historyPrune(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fs, at := historyFlags("prune")
	defer at.close()
	keep := fs.Int("keep", -1, "list all runs but the newest `count`")
	force := fs.Bool("f", false, "delete the files whose names are given")
	var before time.Time
	fs.Func("before", "list runs of commits before this `date`, such as 2026-01-31", func(v string) (err error) {
		before, err = time.Parse(time.DateOnly, v)
		return err
	})
	names, err := cli.Parse(fs, historyPruneUsage, args, stdout, stderr)
	var d history.Dir
	switch {
	case err != nil:
	case *force && (*keep >= 0 || !before.IsZero()):
		err = errors.New("history prune: -f with -keep or -before: want names and none of these flags with -f")
	case *force && len(names) == 0:
		err = errors.New("history prune: -f without names: want a list, as history prune prints it, or -")
	case *force:
		if slices.Equal(names, []string{"-"}) {
			names, err = readLines(stdin)
		}
		if err == nil {
			d, err = at.open()
		}
		if err == nil {
			err = d.Remove(names)
		}
		if err == nil {
			err = at.publish()
		}
	case len(names) > 0:
		err = fmt.Errorf("history prune: %q without -f: want -keep, -before, or names with -f", names[0])
	default:
		err = list(at, *keep, before, stdout)
	}
	return command.Ended(stderr, err)
}

// list prints the names of runs that may be deleted.
func list(at *place, keep int, before time.Time, stdout io.Writer) error {
	d, err := at.open()
	if err != nil {
		return err
	}
	_, runs, err := readRuns(at, d, nil)
	if err != nil {
		return err
	}
	l, err := d.List()
	if err != nil {
		return err
	}
	for i, run := range runs {
		if keep >= 0 && i < len(runs)-keep || run.Time.Before(before) {
			fmt.Fprintln(stdout, run.Name)
			if run.Accepted {
				fmt.Fprintln(stdout, history.AckName(run.Name))
			}
		}
	}
	for _, name := range l.Unfinished {
		fmt.Fprintln(stdout, name)
	}
	return nil
}

// readLines returns the lines of r that are not empty.
func readLines(r io.Reader) (lines []string, err error) {
	s := bufio.NewScanner(r)
	for s.Scan() {
		if line := strings.TrimSpace(s.Text()); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, s.Err()
}
