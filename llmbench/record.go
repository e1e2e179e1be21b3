package llmbench

import (
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// newRecorder begins a file of records for a benchmark. Without a folder in cfg it returns a
// nil Writer, which writes nothing.
func newRecorder(cfg config, benchmark string, t Target, l Load) (*records.Writer, error) {
	if cfg.out == "" {
		return nil, nil
	}
	head := records.Head{
		Benchmark: benchmark, Config: t.Config, Dialect: t.dialect().Name(), Model: t.Model,
		Stream: !l.NoStream, Concurrency: l.Concurrency, Warmup: len(l.Warmup),
		Timeout: l.Timeout, IdleTimeout: l.IdleTimeout, SLO: l.SLO.String(), Cancel: l.Cancel.String(), Start: time.Now(),
		Host: records.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0), Go: runtime.Version()},
	}
	if salt := cfg.promptSalt(t.outlives()); salt != 0 && salt == usedSalt.Load() {
		head.Salt = strconv.FormatUint(salt, 10)
	}
	if l.Arrivals != nil {
		head.Arrivals = &records.Arrivals{Process: l.Arrivals.Name(), Parameters: l.Arrivals.Parameters()}
	}
	w, err := records.Create(cfg.out, head)
	if err != nil {
		return nil, fmt.Errorf("LLMBENCH_OUT: %w", err)
	}
	return w, nil
}

// where names the file of records for the reader of a failure. It returns "" without a file.
func where(w *records.Writer) string {
	if w == nil {
		return ""
	}
	return "\n  records: " + w.Name()
}
