package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
	"github.com/seed-2b9cec6d/llmbench/llmbench/resultfile"
)

const convertUsage = "usage: benchgate convert [flags] file...\n" +
	"\n" +
	"Convert writes the result files of other tools in Go benchmark format to standard output, and notes on\n" +
	"the files to standard error. Each file is a result file, a pattern such as 'old/*.json', or a folder.\n"

// convert runs "benchgate convert" and returns the exit status.
func convert(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("benchgate convert", flag.ContinueOnError)
	var o resultfile.Options
	fs.Func("max-fail", maxFailUsage, share(&o.MaxFail))
	paths, err := cli.Parse(fs, convertUsage, args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err == nil && len(paths) == 0:
		err = errors.New("no files: want the result files of a tool; benchgate convert -help has more")
	}
	all := &resultfile.Side{}
	for _, path := range paths {
		if err != nil {
			break
		}
		var s *resultfile.Side
		if s, err = resultfile.ReadSide(path, o); err == nil {
			all.Files, all.Notes = append(all.Files, s.Files...), append(all.Notes, s.Notes...)
		}
	}
	if err != nil {
		return fail(stderr, err)
	}
	resultfile.Distinguish(all)
	for _, note := range all.AllNotes() {
		fmt.Fprintln(stderr, "benchgate: note:", note)
	}
	if _, err := stdout.Write(all.Text(resultfile.UnitLines(all.Files)).Bytes); err != nil {
		return fail(stderr, err)
	}
	return 0
}
