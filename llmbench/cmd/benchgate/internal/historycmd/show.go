package historycmd

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history"
)

const historyShowUsage = "usage: benchgate history show [flags]\n" +
	"\n" +
	"Show shows all series of the gated units, first the open changes and what was found in the last seven days: as text, or with -o\n" +
	"as a page.\n"

// historyShow runs "benchgate history show".
func historyShow(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	fs, at := historyFlags("show")
	defer at.close()
	o := history.CheckOptions{}
	var opts history.PageOptions
	units, ignore := commonFlags(fs, &o.Min, &o.MaxFail)
	fs.Float64Var(&o.Nights, "nights", 100, "allow one run with a false alarm in this `number` of runs")
	out := fs.String("o", "", "write an HTML page to this `file`")
	atom := fs.String("atom", "", "write a feed of the changes for the worse to this `file`, in Atom format")
	fs.StringVar(&opts.Title, "title", "Benchmark history", "the `title` of the page and the feed")
	fs.Func("commits", "link commits to this `URL`, in which {commit} stands for the hash", func(v string) error {
		if !strings.Contains(v, "{commit}") || !strings.HasPrefix(v, "https://") && !strings.HasPrefix(v, "http://") {
			return errors.New("want a URL that begins with https:// or http:// and has {commit}")
		}
		opts.Commits = v
		return nil
	})
	var err error
	if o.Units, err = parseFlags(fs, historyShowUsage, args, units, stdout, stderr); err != nil {
		return command.Ended(stderr, err)
	}
	r, runs, err := readHistory(at, *ignore)
	if err != nil {
		return command.Fail(stderr, err)
	}
	o.Place = at.said()
	all, err := r.Overview(runs, o, time.Now())
	if err != nil {
		return command.Fail(stderr, err)
	}
	return command.Ended(stderr, writeOverview(all, opts, *out, *atom, stdout))
}

// writeOverview writes the files out and atom, unless their names are "". Without out, it writes text to stdout.
func writeOverview(all *history.Overview, opts history.PageOptions, out, atom string, stdout io.Writer) error {
	for _, f := range []struct {
		path  string
		write func(io.Writer, history.PageOptions) error
	}{{out, all.HTML}, {atom, all.Atom}} {
		if f.path == "" {
			continue
		}
		var b bytes.Buffer
		if err := f.write(&b, opts); err != nil {
			return err
		}
		if err := command.WriteFile(f.path, b.Bytes()); err != nil {
			return err
		}
	}
	if out != "" {
		return nil
	}
	return command.Show(stdout, false, all.Text)
}
