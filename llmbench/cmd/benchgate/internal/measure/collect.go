package measure

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/files"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
)

// A collector is a command that runs benchmarks itself and compares the results: ab or aa. It takes samples of
// two sides, which are the two versions or servers to compare.
type collector struct {
	files.Comparison
	fs             *flag.FlagSet
	usage          string
	stdout, stderr io.Writer

	n       int
	most    int    // if above n: go on up to this number of samples while rows are undecided
	seed    uint64 // 0 if not set
	out     string
	timeout time.Duration
	folder  folder

	shards   shard.Config
	team     *team // the commands of the other shards; nil if there is only one shard
	followed int   // the exit status of shard 0, if this command is another shard

	// build builds both sides. The function clean removes the built files, and may be nil.
	build func(context.Context, suite) (sides [2]side, clean func(), err error)
	// measured describes what the results of both sides measure, for the last line of the report. It returns an
	// error if they measure something other than what was asked for. It may be nil.
	measured func(texts [2][]byte) (string, error)
	// show writes the result to stdout and returns the exit status.
	show func(r *gate.Report, stdout io.Writer) int
}

// newCollector returns the command "benchgate name", whose help begins with about.
func newCollector(name, arguments, about string, stdout, stderr io.Writer) *collector {
	c := &collector{stdout: stdout, stderr: stderr}
	c.usage = fmt.Sprintf("usage: benchgate %s %s[flags] -- -bench regexp [go test flags] [packages]\n\n%s", name, arguments, about)
	c.fs = flag.NewFlagSet("benchgate "+name, flag.ContinueOnError)
	c.Flags(c.fs)
	c.fs.IntVar(&c.n, "n", 10, "the `count` of samples of each side, unless the verdict is known earlier")
	c.fs.Uint64Var(&c.seed, "seed", 0, "the `number` that determines the random order of the sides in each round (default random, or the number that the samples in the folder have)")
	c.fs.StringVar(&c.out, "out", "", "keep the samples in this `folder`, and continue with the samples in it (default a new temporary folder)")
	c.fs.DurationVar(&c.timeout, "timeout", time.Hour, "the maximum `time` of one process")
	return c
}

// run runs the command and returns the exit status. It also writes the report to the folder of samples in every
// format, or the reason why there is no report.
func (c *collector) run(args []string) int {
	rest, err := cli.ParseFirst(c.fs, c.usage, args, c.stdout, c.stderr)
	var s suite
	if err == nil {
		s, err = c.check(rest)
	} else {
		err = Hint(err, c.fs.Name())
	}
	if err != nil {
		return command.Ended(c.stderr, err)
	}
	if c.shards, err = readShards(); err != nil {
		return command.Fail(c.stderr, err)
	}
	if !c.shards.Alone() {
		s.build = append(s.build, "-trimpath") // without folder names in them, the binaries of all shards are equal
	}
	if c.shards.Index > 0 {
		c.out = "" // shard 0 keeps the samples
	}
	if c.folder, err = openFolder(c.out); err != nil {
		return command.Fail(c.stderr, err)
	}
	defer c.folder.close()
	if c.shards.Index > 0 {
		defer os.RemoveAll(c.folder.path)
	}
	r, err := c.collect(s)
	defer func() { c.team.leave(err) }()
	if err == errFollowed {
		err = nil
		return c.followed
	}
	var shown bytes.Buffer
	status := command.CannotJudge
	if err == nil {
		if err = c.write(r); err == nil {
			// No shard prints a verdict that another one does not have.
			status, err = c.team.finish(c.show(r, &shown))
		}
	}
	if errors.Is(err, proc.ErrInterrupted) {
		err = fmt.Errorf("%w; the same command with -out=%q continues with these samples", err, c.folder.path)
	}
	if err != nil {
		// The error of a lost shard says "cannot judge" too, after the round.
		text := "cannot judge: " + strings.ReplaceAll(err.Error(), shard.ErrLost.Error()+": ", "")
		command.WriteFile(c.folder.join("report.txt"), []byte(text+"\n"))
		command.WriteFile(c.folder.join("report.md"), []byte("### ⚠️ benchgate: cannot judge\n\n    "+strings.ReplaceAll(text, "\n", "\n    ")+"\n"))
		os.Remove(c.folder.join("report.json"))        // of an earlier run, or of a run that could not finish
		if c.Format == "text" && c.shards.Index == 0 { // the last line is the verdict, as in a report
			reason, _, _ := strings.Cut(text, "\n")
			fmt.Fprintln(c.stdout, reason)
		}
		return command.Fail(c.stderr, err)
	}
	if _, err := c.stdout.Write(shown.Bytes()); err != nil {
		return command.Fail(c.stderr, err)
	}
	return status
}

// write writes the report to the folder of samples, in every format.
func (c *collector) write(r *gate.Report) error {
	for format, render := range files.Renderings {
		var b strings.Builder
		if err := render(r, &b); err != nil {
			return err
		}
		if err := command.WriteFile(c.folder.join("report."+strings.Replace(format, "text", "txt", 1)), []byte(b.String())); err != nil {
			return err
		}
	}
	return nil
}

// check checks the flags and arguments before anything is built.
func (c *collector) check(args []string) (suite, error) {
	switch {
	case c.n < 1:
		return suite{}, fmt.Errorf("-n: %d: want at least 1", c.n)
	case c.most < 0:
		return suite{}, fmt.Errorf("-max: %d: want at least 0", c.most)
	case c.timeout <= 0:
		return suite{}, fmt.Errorf("-timeout: %v: want more than 0", c.timeout)
	}
	r, err := c.Compare(os.DevNull, os.DevNull) // checks the flags
	if err != nil {
		return suite{}, err
	}
	for _, p := range r.Problems {
		if c.Units != "" && p.File == c.Units {
			return suite{}, fmt.Errorf("-units=%s: %s", p.Position(), p.Message)
		}
	}
	s, err := parseSuite(args)
	if want := gate.MinSamples(c.Alpha); err == nil && max(c.n, c.most) < want {
		err = fmt.Errorf("-n: %d samples of each side: want at least %d for -alpha=%v", max(c.n, c.most), want, c.Alpha)
	}
	return s, err
}

// collect builds both sides, takes the samples and compares them.
func (c *collector) collect(s suite) (*gate.Report, error) {
	signals := proc.NewInterrupt(c.stderr)
	defer signals.Stop()
	var err error
	if c.team, err = join(signals.Gentle, c.shards, c.timeout, c.stderr); err != nil {
		return nil, err
	}
	ctx, cancel := c.team.within(signals.Gentle)
	defer cancel()
	sides, clean, err := c.build(ctx, s)
	if clean != nil {
		defer clean()
	}
	if err != nil {
		return nil, err
	}
	if c.seed == 0 {
		if c.seed, err = c.folder.seed(); err != nil {
			return nil, err
		}
	}
	rs := &rounds{folder: c.folder, sides: sides, seed: c.seed, run: s.run, timeout: c.timeout, progress: c.stderr, hard: signals.Hard, team: c.team}
	id, err := rs.identity()
	if err != nil {
		return nil, err
	}
	rules := rs.built()
	if err := c.addRules(rules); err != nil {
		return nil, err
	}
	maps.Copy(id, rules)
	if err := c.team.agree(rules); err != nil {
		return nil, err
	}
	if c.shards.Index > 0 {
		if c.followed, err = c.team.follow(ctx, rs); err != nil {
			return nil, err
		}
		return nil, errFollowed
	}
	if err := c.folder.claim(id); err != nil {
		return nil, err
	}
	c.announce(rs)
	var report *gate.Report
	err = rs.do(ctx, max(c.n, c.most), func(round int) (bool, error) {
		var err error
		if report, err = c.compareRounds(rs, round); err != nil {
			return false, err
		}
		if report.Samples > round {
			return false, fmt.Errorf("%d results of one benchmark in %d processes: want one of each; does -cpu name a number twice?", report.Samples, round)
		}
		return c.Planned > 0 && report.Settled, nil
	})
	if err == nil && !report.Settled {
		err = errors.New("the verdict is not settled after the last sample")
	}
	return report, err
}

// compareRounds compares the samples of rounds 1 to last.
func (c *collector) compareRounds(rs *rounds, last int) (*gate.Report, error) {
	var paths [2]string
	var texts [2][]byte
	for i, s := range rs.sides {
		var err error
		if texts[i], err = rs.text(s, last); err != nil {
			return nil, err
		}
		paths[i] = rs.folder.join(s.name + ".txt")
		if err := command.WriteFile(paths[i], texts[i]); err != nil {
			return nil, err
		}
	}
	c.NewFirst = rs.secondFirst(last)
	report, err := c.Compare(paths[0], paths[1])
	if err == nil && c.measured != nil {
		report.Sides, err = c.measured(texts)
	}
	return report, err
}

// addRules adds to id everything that decides when ab ends and with which verdict. ab judges the samples
// several times, in so-called looks, and divides alpha among the planned looks. Continuing a comparison under
// other rules would add looks that alpha does not cover.
func (c *collector) addRules(id identity) error {
	if c.Planned == 0 {
		return nil // aa judges once, at the end
	}
	id["-n"], id["-max"], id["-alpha"] = fmt.Sprint(c.Planned), fmt.Sprint(c.Max), fmt.Sprint(c.Alpha)
	if c.RequireNoWorse {
		id["-require"] = "no-worse"
	}
	if len(c.Ignore) > 0 {
		ignored := slices.Clone(c.Ignore)
		slices.Sort(ignored)
		id["-ignore"] = strings.Join(slices.Compact(ignored), ",")
	}
	if c.Units != "" {
		text, err := os.ReadFile(c.Units)
		if err != nil {
			return err
		}
		id["-units"] = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	return nil
}

// announce prints the seed of the random order, and how long the rounds may take.
func (c *collector) announce(rs *rounds) {
	fmt.Fprintf(c.stderr, "-seed=%d: the order of %s and %s in each round is random, and this seed repeats it\n", c.seed, rs.sides[0].name, rs.sides[1].name)
	most := max(c.n, c.most)
	count := fmt.Sprint(c.n)
	if most > c.n {
		count += fmt.Sprintf(" to %d", most)
	}
	processes := len(rs.sides[0].binaries) + len(rs.sides[1].binaries) // per round
	var looks []string
	for _, l := range c.Looks() {
		looks = append(looks, fmt.Sprintf("%d (alpha %.3g)", l.Samples, l.Alpha))
	}
	if len(looks) > 0 {
		fmt.Fprintf(c.stderr, "a regression may be found after this many rounds: %s\n", strings.Join(looks, ", "))
	}
	fmt.Fprintf(c.stderr, "%s rounds of %d processes; each process may take %v (-timeout), all together at most %v; the first round shows how long they take\n",
		count, processes, c.timeout, time.Duration(most*processes)*c.timeout)
}
