package historycmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile"
)

const historyAddUsage = "usage: benchgate history add [flags] [file...]\n" +
	"\n" +
	"Add keeps the results of one run in the folder of a history, and prints the name of the new file. Each file is in\n" +
	"Go benchmark format or of another tool, a pattern or a folder; without files, add reads standard input. What the\n" +
	"flags and the results do not say of the commit comes from git: HEAD of the working directory.\n"

// historyAdd runs "benchgate history add".
func historyAdd(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fs, at := historyFlags("add")
	defer at.close()
	var about history.About
	var o resultfile.Options
	fs.StringVar(&about.Commit, "commit", "", "the `version` that was measured")
	fs.Func("commit-time", "the `time` of that commit, such as 2026-11-26T21:17:16Z", func(v string) (err error) {
		about.Time, err = time.Parse(time.RFC3339, v)
		return err
	})
	fs.StringVar(&about.Machine, "machine", "", "the `name` of the machine, or of a kind of equal machines")
	fs.StringVar(&about.Server, "server", "", "the server and its `flags`, without its version")
	fs.StringVar(&about.RerunOf, "rerun-of", "", "the `name` of the run that this run repeats, as history log prints it")
	fs.Func("max-fail", command.MaxFailUsage, command.Share(&o.MaxFail))
	paths, err := cli.Parse(fs, historyAddUsage, args, stdout, stderr)
	var text []byte
	if err == nil {
		text, err = resultsOf(paths, stdin, o, stderr)
	}
	if err == nil {
		about, err = fromGit(about, text, stderr)
	}
	if err != nil {
		return command.Ended(stderr, err)
	}
	d, err := at.open()
	if err != nil {
		return command.Fail(stderr, err)
	}
	name, err := d.Add(text, about, time.Now())
	if err != nil && !errors.Is(err, os.ErrExist) {
		return command.Fail(stderr, err)
	}
	if err != nil {
		fmt.Fprintln(stderr, "benchgate: note:", err)
	}
	if err := at.publish(); err != nil {
		return command.Fail(stderr, err)
	}
	fmt.Fprintln(stdout, name)
	return 0
}

// resultsOf reads result files, or standard input if paths is empty, and returns the results in Go benchmark
// format. It prints notes on the files to stderr.
func resultsOf(paths []string, stdin io.Reader, o resultfile.Options, stderr io.Writer) ([]byte, error) {
	if len(paths) == 0 {
		temporary, err := os.CreateTemp("", "benchgate-stdin-*")
		if err != nil {
			return nil, err
		}
		defer os.Remove(temporary.Name())
		_, err = io.Copy(temporary, stdin)
		if err := errors.Join(err, temporary.Close()); err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		paths = []string{temporary.Name()}
	}
	o.Ignore = gate.Ignored()
	text, notes, err := resultfile.ReadTogether(paths, o)
	for _, note := range notes {
		fmt.Fprintln(stderr, "benchgate: note:", note)
	}
	return text, err
}

// fromGit asks git for the commit or the commit time if neither about nor the text gives it. An unknown commit
// becomes the HEAD of the working directory.
func fromGit(about history.About, text []byte, stderr io.Writer) (history.About, error) {
	stated, err := history.Stated(text)
	if err != nil {
		return about, err
	}
	commit := cmp.Or(about.Commit, stated.Commit)
	if commit != "" && !(about.Time.IsZero() && stated.Time.IsZero()) {
		return about, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ref := cmp.Or(commit, "HEAD")
	out, err := proc.Command(ctx, "", "git", "log", "-1", "--format=%H %cI", "--end-of-options", ref, "--")
	if err != nil {
		return about, fmt.Errorf("commit and commit-time: want them in the results or as -commit and -commit-time, or a git repository that has %s: %w", ref, err)
	}
	hash, written, _ := strings.Cut(strings.TrimSpace(out), " ")
	if commit == "" {
		about.Commit = hash
		if changes, err := proc.Command(ctx, "", "git", "status", "--porcelain", "--untracked-files=no"); err != nil {
			return about, err
		} else if changes != "" {
			fmt.Fprintf(stderr, "benchgate: note: the working tree has changes since commit %.12s\n", hash)
		}
	}
	if about.Time.IsZero() && stated.Time.IsZero() {
		about.Time, err = time.Parse(time.RFC3339, written)
	}
	return about, err
}
