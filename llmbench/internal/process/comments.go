package process

import (
	"fmt"
	"slices"
	"testing"
)

// Configure prints the configuration lines that change with config, or that another process prints
// the results.
func Configure(benchmark string, config map[string]string) error {
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.follows() {
		p.preamble.Comment(benchmark, fmt.Sprintf("%s: the result of all %d shards is that of shard 0; this is shard %d", benchmark, p.group.Count, p.group.Index))
	}
	return p.preamble.Configure(benchmark, config, p.follows())
}

// Speed prints a comment with the speed of a simulated server, or nothing for another server (""), unless the
// server before had the same.
func Speed(benchmark, speed string) {
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	if speed == p.speed || p.preamble.InLine(benchmark) {
		return
	}
	if p.speed = speed; speed != "" {
		p.preamble.Comment(benchmark, "the server is simulated: "+speed)
	}
}

// AtEnd keeps a text that is printed once, after the results. Without Main it is logged.
func AtEnd(b *testing.B, text string) {
	b.Helper()
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.atEnd, text) {
		return
	}
	p.atEnd = append(p.atEnd, text)
	if p.preamble.Out == nil {
		b.Log(text)
	}
}

// Skip skips b, and prints the reason as a comment among the results.
func Skip(b *testing.B, reason string) {
	b.Helper()
	current.comment(b.Name(), b.Name()+" is skipped: "+reason)
	Skipped()
	b.Skip(reason)
}

// Note prints a text at once, as a comment among the results of a benchmark, or logs it where nothing can be printed.
func Note(tb testing.TB, text string) {
	tb.Helper()
	if !current.comment(tb.Name(), tb.Name()+": "+text) {
		tb.Log(text)
	}
}

// comment prints a text as a comment, unless the line of a result has begun. It reports whether
// it has printed the text.
func (p *process) comment(benchmark, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.preamble.Comment(benchmark, text)
}
