package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// ab is "benchgate ab": a commit against the working tree.
func ab(args []string, stdout, stderr io.Writer) int {
	c := newCollecting("ab", "-base commit ", stdout, stderr)
	base := c.fs.String("base", "", "compare the working tree with this `commit`")
	c.Quiet = true
	c.build = func(ctx context.Context, s suite) (sides [2]side, clean func(), err error) {
		if *base == "" {
			return sides, nil, errors.New("-base: none, want the commit to compare the working tree with")
		}
		c.Planned = c.n
		tree, err := checkOut(ctx, *base, filepath.Join(c.out, "base-src"))
		if err != nil {
			return sides, nil, err
		}
		fmt.Fprintf(stderr, "building %.12s and the working tree in %s\n", tree.commit, c.out)
		sides[0].name, sides[1].name = "base", "head"
		sides[0].binaries, err = s.compile(ctx, tree.dir, filepath.Join(c.out, "base-bin"))
		if err == nil {
			sides[1].binaries, err = s.compile(ctx, "", filepath.Join(c.out, "head-bin"))
		}
		return sides, tree.remove, err
	}
	c.show = func(r *gate.Report) int { return c.print(r, stdout, stderr) }
	return c.run(args)
}
