package measure

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/source"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// AA runs "benchgate aa", which compares the working tree with itself.
func AA(args []string, stdout, stderr io.Writer) int {
	c := newCollector("aa", "", "Benchgate aa measures how much the working tree differs from itself on this machine, and prints\n"+
		"a file for -units: margins that are wider than this noise. Exit status: 0 if the samples pass with these\n"+
		"margins, otherwise 1 or 2, as of benchgate ab. For example:\n\n"+
		"  benchgate aa -- -bench=Chat -benchtime=1x ./scenarios >units.txt\n", stdout, stderr)
	c.build = func(ctx context.Context, s suite) (sides [2]side, clean func(), err error) {
		fmt.Fprintf(stderr, "building the working tree in %s\n", c.folder.path)
		bin := c.folder.join("bin")
		clean = func() { os.RemoveAll(bin) }
		c.Versions = [2]string{"the working tree", "the working tree"}
		binaries, err := s.compileHead(ctx, bin)
		if err != nil {
			return sides, clean, err
		}
		source, err := source.SourceState(ctx, c.folder.path)
		return [2]side{{name: "a", source: source, binaries: binaries}, {name: "b", source: source, binaries: binaries}}, clean, err
	}
	c.show = func(r *gate.Report, stdout io.Writer) int {
		noise := r.Noise()
		if !slices.ContainsFunc(noise, func(u gate.UnitNoise) bool { return u.None == "" }) {
			return c.Print(r, stdout, stderr) // nothing could be compared; the report says why
		}
		units := noiseText(noise, r.Rows[0].Old.N)
		if _, err := io.WriteString(stdout, units); err != nil {
			return command.Fail(stderr, err)
		}
		// The proposed margins are only right if the samples pass with them.
		c.Units = c.folder.join("units.txt")
		err := os.WriteFile(c.Units, []byte(units), 0o666)
		if err == nil {
			r, err = c.Compare(c.folder.join("a.txt"), c.folder.join("b.txt"))
		}
		if err != nil {
			return command.Fail(stderr, err)
		}
		if r.Verdict == gate.Pass {
			return 0
		}
		fmt.Fprintln(stdout)
		return c.Print(r, stdout, stderr)
	}
	return c.run(args)
}

// noiseText returns the text of a file for -units: Unit lines with the proposed margins, and comments that give
// the noise of each unit.
func noiseText(noise []gate.UnitNoise, samples int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# With %d samples a side, two equal versions differ by more than the noise in one of 20 comparisons.\n", samples)
	b.WriteString("#   noise  rows  unit\n")
	for _, u := range noise {
		if u.None == "" {
			fmt.Fprintf(&b, "# %7s %5d  %s\n", u.Text(), u.Rows, u.Unit)
		} else {
			fmt.Fprintf(&b, "# %7s %5d  %s: no margin, because %s\n", "-", u.Rows, u.Unit, u.None)
		}
	}
	b.WriteString("# The margins are wider than the noise. Gate few units: each further unit reduces the power of the others.\n")
	for _, u := range noise {
		if u.None != "" {
			continue
		}
		fmt.Fprintf(&b, "Unit %s better=%s gate=%s\n", u.Unit, u.Better, u.Gate())
	}
	return b.String()
}
