package process

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
)

// Show adds a -count sample of a benchmark to the table.
func Show(e screen.Entry) {
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	p.table.Add(e)
}

// ShowPass shows the progress of a pass until stop is called, on a terminal or in the log.
func ShowPass(pass screen.Pass, logf func(string, ...any)) (stop func()) {
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	pass.Last = p.last
	var on screen.Canvas
	if p.screen != nil {
		on = p.screen
		pass.Place, pass.Left = p.job.Place(pass.Benchmark)
	}
	return pass.Show(on, testing.Verbose(), logf)
}

// SetLast keeps the throughput of a benchmark, for the progress of the next one.
func SetLast(throughput string) {
	current.mu.Lock()
	defer current.mu.Unlock()
	current.last = throughput
}

// Skipped counts a benchmark that is skipped.
func Skipped() {
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	p.table.Skipped++
}
