package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// ab runs "benchgate ab", which compares the working tree with a commit.
func ab(args []string, stdout, stderr io.Writer) int {
	c := newCollector("ab", "-base commit ", stdout, stderr)
	base := c.fs.String("base", "", "compare the working tree with this `commit`")
	c.RequireQuiet = true
	c.build = func(ctx context.Context, s suite) (sides [2]side, clean func(), err error) {
		if *base == "" {
			return sides, nil, errors.New("-base: not set, want the commit to compare the working tree with")
		}
		c.Planned = c.n
		// The pattern "./..." skips folders whose names begin with an underscore.
		tree, err := checkOut(ctx, *base, c.folder.join("_base-src"))
		if err != nil {
			return sides, nil, err
		}
		clean = func() {
			tree.remove()
			os.RemoveAll(c.folder.join("base-bin"))
			os.RemoveAll(c.folder.join("head-bin"))
		}
		fmt.Fprintf(stderr, "building %.12s and the working tree in %s\n", tree.commit, c.folder.path)
		sides = [2]side{{name: "base", source: tree.commit}, {name: "head"}}
		if err = s.checkSources(ctx, tree.dir, tree.root); err == nil {
			sides[0].binaries, err = s.compile(ctx, tree.dir, c.folder.join("base-bin"))
		}
		if err == nil {
			sides[1].binaries, err = s.compile(ctx, "", c.folder.join("head-bin"))
		}
		if err == nil {
			sides[1].source, err = sourceState(ctx, c.folder.path)
		}
		return sides, clean, err
	}
	c.show = func(r *gate.Report) int { return c.print(r, stdout, stderr) }
	return c.run(args)
}
