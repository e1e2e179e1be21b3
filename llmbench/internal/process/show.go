package process

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
)

// Show adds a -count sample of a benchmark to the table of results.
func Show(e screen.Entry) {
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	p.table.Add(e)
	p.tellRow(e)
}

// AfterRun makes Ended call f after each load, when the load's records are complete. It must be called before Main.
func AfterRun(f func()) { current.afterRun = f }

// Ended says that the records of a load are complete.
func Ended() {
	if f := current.afterRun; f != nil {
		f()
	}
}

// ShowPass shows the progress of a pass until stop is called. It shows it on the terminal, if there is one,
// and otherwise in the log.
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

// SetLast stores the throughput of a benchmark, for the progress line of the next benchmark.
func SetLast(throughput string) {
	current.mu.Lock()
	defer current.mu.Unlock()
	current.last = throughput
}

// Skipped counts a skipped benchmark.
func Skipped() {
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	p.table.Skipped++
}
