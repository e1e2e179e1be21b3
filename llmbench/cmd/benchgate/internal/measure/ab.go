package measure

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/source"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// AB runs "benchgate ab", which compares the working tree with a commit, or two servers with each other.
func AB(args []string, stdout, stderr io.Writer) int {
	c := newCollector("ab", "-base commit ", "Benchgate ab compiles the tests of a commit and of the working tree, and runs the benchmarks of\n"+
		"both in turn, each sample in a fresh process. Then it decides whether the working tree is worse than\n"+
		"its margins allow. With -build it builds the servers of both, and runs the same benchmarks against each. It\n"+
		"also compares two servers that run, or two images. Exit status: 0 pass, 1 regression, 2 cannot judge. For\n"+
		"example:\n\n"+
		"  benchgate ab -base main -- -bench=Chat -benchtime=1x ./scenarios\n"+
		"  benchgate ab -base main -build 'go build -o {out}/server ./cmd/server' -command '{out}/server -port {port}' -- -bench=Chat -benchtime=1x ./scenarios\n"+
		"  benchgate ab -base-url http://10.0.0.7:8000 -head-url http://10.0.0.8:8000 -- -bench=Chat -benchtime=1x ./scenarios\n", stdout, stderr)
	o := servers{collector: c}
	o.flags(c.fs)
	c.fs.IntVar(&c.most, "max", 0, "the largest `count` of samples of each side, to which it goes on after -n while rows are undecided (default -n)")
	c.RequireQuiet, c.EmptyOld = true, true
	c.measured = o.measured
	c.build = func(ctx context.Context, s suite) (sides [2]side, clean func(), err error) {
		if err := o.check(); err != nil {
			return sides, nil, err
		}
		c.Planned, c.Max = c.n, c.most
		if o.kind() != "" {
			return o.prepare(ctx, s)
		}
		return c.buildBoth(ctx, s, o.base)
	}
	c.show = func(r *gate.Report, stdout io.Writer) int { return c.Print(r, stdout, stderr) }
	return c.run(args)
}

// buildBoth compiles the tests of the commit base and of the working tree.
func (c *collector) buildBoth(ctx context.Context, s suite, base string) (sides [2]side, clean func(), err error) {
	// The pattern "./..." skips folders whose names begin with an underscore.
	tree, err := source.CheckOut(ctx, base, c.folder.join("_base-src"))
	if err != nil {
		return sides, nil, err
	}
	clean = func() {
		tree.Remove()
		os.RemoveAll(c.folder.join("base-bin"))
		os.RemoveAll(c.folder.join("head-bin"))
	}
	c.Versions[0] = fmt.Sprintf("the base, %.12s", tree.Commit)
	head, same, err := source.HeadVersion(ctx, tree.Commit, c.folder.path)
	if err != nil {
		return sides, clean, err
	}
	c.Versions[1] = head
	fmt.Fprintf(c.stderr, "building %s and %s in %s\n", c.Versions[0], head, c.folder.path)
	if same == tree.Commit {
		fmt.Fprintln(c.stderr, sameSides)
	}
	tree.TellEmpty(c.stderr, "the base")
	sides = [2]side{{name: "base", version: c.Versions[0], source: tree.Commit}, {name: "head", version: head}}
	// The working tree is compiled first, so that a wrong argument is reported for the working tree and not for
	// the base.
	if sides[1].binaries, err = s.compileHead(ctx, c.folder.join("head-bin")); err == nil {
		sides[0].binaries, err = s.compileBase(ctx, tree, c.folder.join("base-bin"))
	}
	if err == nil && len(sides[0].binaries) == 0 {
		fmt.Fprintln(c.stderr, "the base has no tests in these packages, so all benchmarks are new")
	}
	if err == nil {
		sides[1].source, err = source.SourceState(ctx, c.folder.path)
	}
	return sides, clean, err
}

// sameSides is the message if both sides are the same version.
const sameSides = "both are the same: any difference is noise, which benchgate aa measures"
