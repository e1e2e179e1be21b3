package resultline

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Printer prints what stands between the lines of results: configuration lines, the metadata of units,
// and comments. The testing package prints the name of a benchmark after its first -count sample has run,
// and each result after it. So text of the first sample stands alone, and text of a later one would end up
// within the line of its result.
//
// The zero Printer prints nothing. A Printer is not
// for concurrent use.
type Printer struct {
	Out io.Writer // nil: nothing is printed

	state     map[string]string // the configuration lines in force
	begun     map[string]bool   // benchmarks that had a -count sample
	described map[string]bool   // units whose metadata is printed
}

// InLine reports whether text of a benchmark would stand within the line of a result, or there is
// nothing to print to.
func (p *Printer) InLine(benchmark string) bool { return p.Out == nil || p.begun[benchmark] }

// Configure prints the configuration lines that change with config before the first sample of a
// benchmark, unless quiet. A line without a value ends a key that config lacks. A configuration
// that changes in a later sample is an error.
func (p *Printer) Configure(benchmark string, config map[string]string, quiet bool) error {
	if p.Out == nil {
		return nil
	}
	first := !p.begun[benchmark]
	if p.begun == nil {
		p.begun = map[string]bool{}
	}
	p.begun[benchmark] = true
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(p.state)) {
		if _, kept := config[key]; !kept {
			lines = append(lines, key+":")
		}
	}
	state := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		state[key] = strings.Join(strings.Fields(config[key]), " ")
		if old, has := p.state[key]; !has || old != state[key] {
			lines = append(lines, key+": "+state[key])
		}
	}
	if !first && len(lines) > 0 {
		return fmt.Errorf("the target's configuration differs from that of the sample before: %s", strings.Join(lines, ", "))
	}
	if quiet {
		lines = nil
	}
	for _, line := range lines {
		fmt.Fprintln(p.Out, line)
	}
	p.state = state
	return nil
}

// Describe returns the line with the metadata of u, or "" if an earlier call has returned it.
func (p *Printer) Describe(u sample.Unit) string {
	line := u.Line()
	if line == "" || p.described[u.Name] {
		return ""
	}
	if p.described == nil {
		p.described = map[string]bool{}
	}
	p.described[u.Name] = true
	return line + "\n"
}

// Comment prints a text as a comment, unless it would stand within the line of a result. It reports
// whether it has printed the text.
func (p *Printer) Comment(benchmark, text string) bool {
	if p.InLine(benchmark) {
		return false
	}
	for line := range strings.Lines(text) {
		fmt.Fprintln(p.Out, "#", strings.TrimSpace(line))
	}
	return true
}

// End prints a text as a comment after all results.
func (p *Printer) End(text string) {
	if p.Out == nil {
		return
	}
	for line := range strings.Lines(text) {
		fmt.Fprintln(p.Out, strings.TrimRight("# "+line, " \n"))
	}
}
