package historycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile"
)

const historyCheckUsage = "usage: benchgate history check [flags]\n" +
	"\n" +
	"Check judges the newest run of each machine against the runs before it, in all units that are gated; with -run only\n" +
	"that run, which add has just added. A change that was found stays in the last line until it is gone, or until\n" +
	"history ack accepts it.\n" +
	"Exit status: 0 nothing new, 1 alarm, 2 cannot judge.\n"

// A historyChecker runs "benchgate history check".
type historyChecker struct {
	place          *place
	dir            history.Dir
	ignore         []string
	options        history.CheckOptions
	markdown, json bool
	rerun          string        // a shell command, or ""
	timeout        time.Duration // the longest that one rerun may take
	stderr         io.Writer
}

// historyCheck runs "benchgate history check".
func historyCheck(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	c := historyChecker{stderr: stderr}
	fs, at := historyFlags("check")
	defer at.close()
	units, ignore := commonFlags(fs, &c.options.Min, &c.options.MaxFail)
	fs.Float64Var(&c.options.Nights, "nights", 100, "allow one run with a false alarm in this `number` of runs")
	fs.StringVar(&c.options.Run, "run", "", "judge only the run with this `name`, as history add prints it, as the newest run of its machine")
	fs.BoolVar(&c.markdown, "markdown", false, "print the text of an issue")
	fs.BoolVar(&c.json, "json", false, "print JSON")
	fs.StringVar(&c.rerun, "rerun", "", "rerun benchmarks that are out of line by this shell `command`, which prints results; $BENCH is a pattern for -bench")
	fs.DurationVar(&c.timeout, "timeout", time.Hour, "the maximum `time` of one rerun")
	var err error
	if c.options.Units, err = parseFlags(fs, historyCheckUsage, args, units, stdout, stderr); err != nil {
		return command.Ended(stderr, err)
	}
	if c.markdown && c.json {
		return command.Fail(stderr, errors.New("history check: -markdown and -json: want one of them"))
	}
	c.place, c.ignore, c.options.Place = at, *ignore, at.said()
	var r *history.Report
	if c.dir, err = at.open(); err == nil {
		r, err = c.check()
	}
	if err == nil && c.rerun != "" {
		if patterns, reruns := r.Patterns(); len(patterns) > 0 && len(r.Others) > 0 {
			fmt.Fprintf(stderr, "benchgate: note: -rerun: several machines are judged, and a rerun needs its machine: want -run=NAME, the run that this machine added\n")
		} else if len(patterns) > 0 {
			// Also what was measured before an error or Ctrl-C is published.
			if err = errors.Join(c.repeat(r, patterns, reruns), at.publish()); err == nil {
				r, err = c.check()
			}
		}
	}
	if err == nil {
		err = command.Show(stdout, c.json, func(w io.Writer) error { return c.print(r, w) })
	}
	if err != nil {
		return command.Fail(stderr, err)
	}
	switch r.Verdict {
	case history.Nothing:
		return 0
	case history.Alarm:
		return command.Regression
	}
	return command.CannotJudge
}

func (c historyChecker) check() (*history.Report, error) {
	r, runs, err := readRuns(c.place, c.dir, c.ignore)
	if err != nil {
		return nil, err
	}
	return r.Check(runs, c.options)
}

func (c historyChecker) print(r *history.Report, w io.Writer) error {
	switch {
	case c.markdown:
		return r.Markdown(w)
	case c.json:
		return r.JSON(w)
	}
	return r.Text(w)
}

// repeat reruns each of the benchmarks as often as it needs, and adds the results to the history.
func (c historyChecker) repeat(r *history.Report, patterns []string, reruns []int) error {
	in := proc.NewInterrupt(c.stderr)
	defer in.Stop()
	about := history.About{Commit: r.Commit, Time: r.Time, Machine: r.Machine, Server: r.Server, RerunOf: r.Run}
	for i, pattern := range patterns {
		for n := range reruns[i] {
			fmt.Fprintf(c.stderr, "benchgate: rerun %d of %d: %s\n", n+1, reruns[i], pattern)
			text, err := c.run(in, pattern)
			if err == nil {
				_, err = c.dir.Add(text, about, time.Now())
			}
			if err != nil && !errors.Is(err, os.ErrExist) {
				return fmt.Errorf("-rerun: %s: %w", pattern, err)
			}
		}
	}
	return nil
}

// run runs the shell command of -rerun once and returns the results that it prints.
func (c historyChecker) run(in proc.Interrupt, pattern string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(in.Gentle, c.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", c.rerun)
	cmd.Env = append(os.Environ(), "BENCH="+pattern)
	var stdout strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, c.stderr
	if err := proc.RunGroup(in.Hard, cmd, 10*time.Second); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return resultsOf(nil, strings.NewReader(stdout.String()), resultfile.Options{}, c.stderr)
}
