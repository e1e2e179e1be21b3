package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// collecting is a command that takes the samples of two sides itself.
type collecting struct {
	judging
	fs             *flag.FlagSet
	usage          string
	stdout, stderr io.Writer

	n       int
	out     string
	timeout time.Duration

	// build makes both sides from the sources, and what cleans up after it.
	build func(context.Context, suite) (sides [2]side, clean func(), err error)
	// show prints what came out and returns the exit status.
	show func(*gate.Report) int
}

func newCollecting(name, arguments string, stdout, stderr io.Writer) *collecting {
	c := &collecting{stdout: stdout, stderr: stderr}
	c.usage = fmt.Sprintf("usage: benchgate %s %s[flags] -- -bench regexp [go test flags] [packages]", name, arguments)
	c.fs = flag.NewFlagSet("benchgate "+name, flag.ContinueOnError)
	c.flags(c.fs)
	c.fs.IntVar(&c.n, "n", 10, "take this `many` samples of each side, at most")
	c.fs.StringVar(&c.out, "out", "", "keep the samples in this `folder`, and go on with those that are there (default a temporary one)")
	c.fs.DurationVar(&c.timeout, "timeout", time.Hour, "give up a process after this `time`")
	return c
}

// run is the command; it returns the exit status.
func (c *collecting) run(args []string) int {
	rest, err := parse(c.fs, c.usage, args, c.stdout, c.stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var r *gate.Report
	if err == nil {
		r, err = c.collect(rest)
	}
	if errors.Is(err, errInterrupted) {
		err = fmt.Errorf("%w; the same command with -out %s goes on with the samples that are there", err, c.out)
	}
	if err != nil {
		return fail(c.stderr, err)
	}
	return c.show(r)
}

// collect builds, takes samples and judges them.
func (c *collecting) collect(args []string) (*gate.Report, error) {
	s, err := parseSuite(args)
	switch {
	case err != nil:
		return nil, err
	case c.n < 1:
		return nil, fmt.Errorf("-n: %d, want at least 1", c.n)
	case c.timeout <= 0:
		return nil, fmt.Errorf("-timeout: %v, want more than 0", c.timeout)
	}
	if c.out == "" {
		c.out, err = os.MkdirTemp("", "benchgate-")
	} else if c.out, err = filepath.Abs(c.out); err == nil {
		err = os.MkdirAll(c.out, 0o777)
	}
	if err != nil {
		return nil, err
	}
	ctx, stop := interruptible()
	defer stop()
	sides, clean, err := c.build(ctx, s)
	if clean != nil {
		defer clean()
	}
	if err != nil {
		return nil, err
	}
	var report *gate.Report
	rs := &rounds{folder: c.out, sides: sides, run: s.run, timeout: c.timeout, progress: c.stderr}
	err = rs.do(ctx, c.n, func(round int) (bool, error) {
		var paths [2]string
		for i, s := range sides {
			text, err := rs.text(s, round)
			if err != nil {
				return false, err
			}
			paths[i] = filepath.Join(c.out, s.name+".txt")
			if err := os.WriteFile(paths[i], text, 0o666); err != nil {
				return false, err
			}
		}
		var err error
		report, err = c.compare(paths[0], paths[1])
		return err == nil && c.Planned > 0 && report.Settled, err
	})
	return report, err
}

// errInterrupted is why a command ends when the user asked for it.
var errInterrupted = errors.New("interrupted")

// interruptible returns a context that a Ctrl-C or a SIGTERM ends. A second one
// has its usual effect.
func interruptible() (context.Context, context.CancelFunc) {
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	context.AfterFunc(signals, func() { stop(); cancel(errInterrupted) })
	return ctx, func() { stop(); cancel(nil) }
}
