package resultline

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Printer prints what comes between the lines of results: configuration lines, the metadata of units, and
// comments. The testing package prints the name of a benchmark when the first -count sample has run, and
// each further result after that. So text that is printed during the first sample is on lines of its own,
// but text that is printed during a later sample would be in the middle of a result line.
//
// The zero Printer prints nothing. A Printer is not safe for concurrent use.
type Printer struct {
	Out io.Writer // nil means that nothing is printed

	state     map[string]string // the current configuration lines
	begun     map[string]bool   // benchmarks whose first -count sample has begun
	described map[string]bool   // units whose metadata has been printed
}

// InLine reports whether text of a benchmark cannot be printed, because it would be in the middle of a
// result line or because Out is nil.
func (p *Printer) InLine(benchmark string) bool { return p.Out == nil || p.begun[benchmark] }

// Configure prints the configuration lines that change with config, before the first sample of a benchmark.
// If quiet is true, it prints nothing. If config lacks a key of the last configuration, a line without a
// value ends this key. It is an error if the configuration changes in a later sample.
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

// Describe returns the line with the metadata of u. It returns "" if there is no metadata or if an earlier
// call has returned it.
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

// Comment prints a text as a comment, unless the text would be in the middle of a result line. It reports
// whether it printed the text.
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
