package measure

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

const bisectUsage = "usage: benchgate bisect -good commit -bad commit -build command -command command [flags] -- -bench regexp [go test flags] [packages]\n" +
	"\n" +
	"Benchgate bisect finds the first commit whose server is worse than allowed. It compares the bad commit with the\n" +
	"good one as benchgate ab does, and then measures commits between them in pairs, each commit in turn with the good\n" +
	"one, until one commit is probable. It names that commit if the commit is also worse than its parent by more than\n" +
	"its margin. Exit status: 0 a commit is named, 2 cannot judge. For example:\n" +
	"\n" +
	"  benchgate bisect -good v1.4.0 -bad main -build 'go build -o {out}/server ./cmd/server' -command '{out}/server -port {port}' -- -bench=Chat -benchtime=1x ./scenarios\n"

// Bisect runs "benchgate bisect" and returns the exit status.
func Bisect(args []string, stdout, stderr io.Writer) int {
	b := &bisection{outs: map[int]string{}}
	c := &collector{stdout: stdout, stderr: stderr}
	c.fs = flag.NewFlagSet("benchgate bisect", flag.ContinueOnError)
	b.servers = servers{collector: c}
	b.flags(c.fs)
	rest, err := cli.ParseFirst(c.fs, bisectUsage, args, stdout, stderr)
	if err == nil {
		b.suite, err = b.check(rest)
	} else {
		err = Hint(err, "benchgate bisect")
	}
	if err == nil {
		b.folder, err = openFolder(b.out)
	}
	if err != nil {
		return command.Ended(stderr, err)
	}
	defer b.folder.close()
	r, err := b.run()
	if err == nil {
		err = b.print(r)
	}
	if err != nil {
		return command.Fail(stderr, err)
	}
	if r.Verdict != bisectFound {
		return command.CannotJudge
	}
	return 0
}

// flags adds the flags of the command.
func (b *bisection) flags(fs *flag.FlagSet) {
	b.ReportFlags(fs)
	fs.StringVar(&b.good, "good", "", "a `commit` that is not worse than allowed, an ancestor of -bad")
	fs.StringVar(&b.bad, "bad", "HEAD", "a `commit` that is worse than allowed")
	fs.StringVar(&b.buildText, "build", "", "build the server of each commit with this shell `command`, in the files of the commit; {out} is the folder to build into")
	fs.StringVar(&b.command, "command", "", "start the server with this `command`, as in LLMBENCH_COMMAND; {out} is the folder with what was built, {port} the port to listen on, {data} a new folder")
	fs.StringVar(&b.from, "bench-from", "", "measure all servers with the benchmarks of this `place`: head, base (the commit of -good), a folder of another module, or a test binary (default head)")
	fs.IntVar(&b.n, "n", 10, "the `count` of pairs of the good and the bad commit, unless the verdict is known earlier")
	fs.IntVar(&b.most, "max", 50, "the largest `count` of pairs of the good and the bad commit")
	fs.IntVar(&b.limit, "pairs", 300, "the largest `count` of further pairs")
	fs.Uint64Var(&b.seed, "seed", 0, "the `number` that determines the random order in each pair (default random, or the number that the samples in the folder have)")
	fs.StringVar(&b.out, "out", "", "keep the samples in this `folder`, and continue with the samples in it (default a new temporary folder)")
	fs.DurationVar(&b.timeout, "timeout", time.Hour, "the maximum `time` of one process")
}

// check checks the flags and arguments before anything is built.
func (b *bisection) check(args []string) (suite, error) {
	switch {
	case b.good == "":
		return suite{}, errors.New("-good: not set: want a commit that is not worse than allowed")
	case b.buildText == "":
		return suite{}, errors.New("-build: not set: want the command that builds the server of a commit, such as 'go build -o {out}/server .'")
	case b.limit < 1:
		return suite{}, fmt.Errorf("-pairs: %d: want at least 1", b.limit)
	}
	b.base = b.good // for -bench-from=base
	if err := b.servers.check(); err != nil {
		return suite{}, err
	}
	shards, err := readShards()
	if err == nil && !shards.Alone() {
		err = errors.New("LLMBENCH_SHARD: bisect has no shards: want it unset")
	}
	if err != nil {
		return suite{}, err
	}
	return b.collector.check(args)
}

// print prints the report, and writes it to the folder of samples in all formats.
func (b *bisection) print(r *bisectReport) error {
	for format, render := range bisectFormats {
		var text strings.Builder
		if err := render(r, &text); err != nil {
			return err
		}
		if err := command.WriteFile(b.folder.join("report."+strings.Replace(format, "text", "txt", 1)), []byte(text.String())); err != nil {
			return err
		}
	}
	return command.Show(b.stdout, b.Format == "json", func(w io.Writer) error { return bisectFormats[b.Format](r, w) })
}

// run bisects. It returns a report also if the user interrupted the command during the search.
func (b *bisection) run() (*bisectReport, error) {
	signals := proc.NewInterrupt(b.stderr)
	defer signals.Stop()
	b.hard = signals.Hard
	ctx := signals.Gentle
	defer os.RemoveAll(b.folder.join("bench-bin"))
	defer os.RemoveAll(b.folder.join("_base-src"))
	err := b.prepare(ctx)
	var ends *gate.Report
	if err == nil {
		ends, err = b.compareEnds(ctx)
	}
	if errors.Is(err, proc.ErrInterrupted) {
		err = fmt.Errorf("%w; the same command with -out=%q continues with these samples", err, b.folder.path)
	}
	if err != nil {
		return nil, err
	}
	s, r, err := b.begin(ends)
	if s == nil || err != nil {
		return r, err
	}
	return b.look(ctx, s)
}

// prepare finds the commits and compiles the benchmarks.
func (b *bisection) prepare(ctx context.Context) (err error) {
	if err = b.findCommits(ctx); err != nil {
		return err
	}
	if b.cache, err = openBuildCache(); err != nil {
		return err
	}
	if b.prefix, err = proc.Command(ctx, "", "git", "rev-parse", "--show-prefix"); err != nil {
		return err
	}
	if b.binaries, err = b.benchmarks(ctx, b.suite, b.commits[0].hash); err != nil {
		return err
	}
	if b.seed == 0 {
		b.seed, err = b.folder.seed()
	}
	return err
}

// compareEnds compares the bad commit with the good one, as benchgate ab does.
func (b *bisection) compareEnds(ctx context.Context) (*gate.Report, error) {
	last := len(b.commits) - 1
	for _, number := range []int{last, 0} { // the bad one first, so that a wrong command is reported for it
		if err := b.build(ctx, number); err != nil {
			return nil, err
		}
	}
	b.Planned, b.Max, b.RequireQuiet = b.n, b.most, true
	b.Ignore = append(b.Ignore, "server-version")
	b.servers.Versions = [2]string{b.title(0), b.title(last)}
	b.collector.measured = b.servers.measured
	rs := b.rounds(b.folder.path, b.side(0, "good"), b.side(last, "bad"), 0)
	id, err := rs.identity()
	if err == nil {
		err = b.addRules(id)
	}
	if err == nil {
		err = b.folder.claim(id)
	}
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(b.stderr, "%d commits after the good one, %.12s\n", last, b.commits[0].hash)
	b.announce(rs)
	var r *gate.Report
	err = rs.do(ctx, max(b.n, b.most), func(round int) (bool, error) {
		var err error
		if r, err = b.compareRounds(rs, round); err != nil {
			return false, err
		}
		return r.Settled, nil
	})
	return r, err
}
