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
	c := newCollector("ab", "-base commit ", "Benchgate ab compiles the tests of a commit and of the working tree, and runs the benchmarks of\n"+
		"both in turn, each sample in a fresh process. Then it decides whether the working tree is worse than\n"+
		"its margins allow. Exit status: 0 pass, 1 regression, 2 cannot judge. For example:\n\n"+
		"  benchgate ab -base main -- -bench=Chat -benchtime=1x ./scenarios\n", stdout, stderr)
	base := c.fs.String("base", "", "compare the working tree with this `commit`")
	c.fs.IntVar(&c.most, "max", 0, "the largest `count` of samples of each side, to which it goes on after -n while rows are undecided (default -n)")
	c.RequireQuiet, c.EmptyOld = true, true
	c.build = func(ctx context.Context, s suite) (sides [2]side, clean func(), err error) {
		if *base == "" {
			return sides, nil, errors.New("-base: not set, want the commit to compare the working tree with")
		}
		c.Planned, c.Max = c.n, c.most
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
		c.versions[0] = fmt.Sprintf("the base, %.12s", tree.commit)
		head, equal, err := headVersion(ctx, tree.commit, c.folder.path)
		if err != nil {
			return sides, clean, err
		}
		c.versions[1] = head
		fmt.Fprintf(stderr, "building %s and %s in %s\n", c.versions[0], head, c.folder.path)
		if equal {
			fmt.Fprintln(stderr, "both are the same: any difference is noise, which benchgate aa measures")
		}
		for _, path := range tree.empty {
			fmt.Fprintf(stderr, "the submodule %s is not checked out in the working tree, so it is empty in the base\n", path)
		}
		sides = [2]side{{name: "base", source: tree.commit}, {name: "head"}}
		// A mistake in the arguments shows in the working tree.
		if sides[1].binaries, err = s.compileHead(ctx, c.folder.join("head-bin")); err == nil {
			sides[0].binaries, err = s.compileBase(ctx, tree, c.folder.join("base-bin"))
		}
		if err == nil && len(sides[0].binaries) == 0 {
			fmt.Fprintln(stderr, "the base has no tests in these packages, so all benchmarks are new")
		}
		if err == nil {
			sides[1].source, err = sourceState(ctx, c.folder.path)
		}
		return sides, clean, err
	}
	c.show = func(r *gate.Report) int { return c.print(r, stdout, stderr) }
	return c.run(args)
}
