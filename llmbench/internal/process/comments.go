package process

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// Configure prints the configuration lines that change with config. If another process prints the results,
// it prints a comment about this instead.
func Configure(benchmark string, config map[string]string) error {
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.follows() {
		p.preamble.Comment(benchmark, fmt.Sprintf("%s: the result of all %d shards is that of shard 0; this is shard %d", benchmark, p.group.Count, p.group.Index))
	}
	return p.preamble.Configure(benchmark, config, p.follows())
}

// Speed prints a comment with the speed of a simulated server. It prints nothing if the last server had the
// same speed, or if speed is "", which means that the server is not simulated.
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

// AtEnd stores a text, which is printed once after the results. If Main was not called, AtEnd logs the
// text.
func AtEnd(b *testing.B, text string) {
	b.Helper()
	text = redact.Known().Hide(text)
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keep(text) && p.preamble.Out == nil {
		b.Log(text)
	}
}

// keep stores a text, which is printed after the results. It returns false if the text is already stored. The caller
// must hold p.mu.
func (p *process) keep(text string) bool {
	if slices.Contains(p.atEnd, text) {
		return false
	}
	p.atEnd = append(p.atEnd, text)
	return true
}

// Skip skips b, and prints the reason as a comment among the results.
func Skip(b *testing.B, reason string) {
	b.Helper()
	reason = redact.Known().Hide(reason)
	current.say(b.Name(), b.Name()+" is skipped: "+reason)
	Skipped()
	b.Skip(reason)
}

// CannotJudge skips b because what it measured does not decide its question. It prints the reason as a comment among
// the results, and in the table. If LLMBENCH_CLIENT_BOUND is fail, b fails instead.
func CannotJudge(b *testing.B, reason string) {
	b.Helper()
	reason = screen.Undecided + reason
	if cfg, err := ReadConfig(); err == nil && cfg.ClientBound == "fail" {
		Show(screen.Entry{Benchmark: b.Name(), Notes: []string{"failed: " + reason}})
		b.Fatal(reason)
	}
	current.say(b.Name(), b.Name()+": "+reason)
	Show(screen.Entry{Benchmark: b.Name(), Notes: []string{reason}})
	current.mu.Lock()
	current.undecided = true
	current.mu.Unlock()
	b.Skip(reason)
}

// Note prints a text at once, as a comment among the results of a benchmark. If nothing can be printed
// there, Note logs the text.
func Note(tb testing.TB, text string) {
	tb.Helper()
	text = redact.Known().Hide(text)
	if !current.comment(tb.Name(), tb.Name()+": "+text) {
		tb.Log(text)
	}
}

// say prints a text as a comment among the results, or after them if the line of a result has already begun.
func (p *process) say(benchmark, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.preamble.Comment(benchmark, text) {
		p.keep(text)
	}
}

// comment prints a text as a comment, unless the line of a result has already begun. It reports whether it
// printed the text.
func (p *process) comment(benchmark, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.preamble.Comment(benchmark, text)
}
