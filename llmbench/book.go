package llmbench

import (
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A book writes the records of samples to a file. A nil book writes nothing.
type book struct{ to recordWriter }

// A recordWriter has the methods of [records.Writer] that a book uses.
type recordWriter interface {
	Name() string
	Write(*sample.Sample) error
	Flush() error
	Close(records.End) error
}

// where returns a line that names the file of records, to be appended to an error. Without a file it
// returns "".
func (b *book) where() string {
	if b == nil {
		return ""
	}
	return "\n  records: " + b.to.Name()
}

// write writes the record of a sample. If flush is set, it also hands all buffered records to the operating
// system.
func (b *book) write(s *sample.Sample, flush bool) error {
	if b == nil {
		return nil
	}
	err := b.to.Write(s)
	if err == nil && flush {
		err = b.to.Flush()
	}
	return err
}

// close writes how the benchmark ended, and closes the file.
func (b *book) close(end records.End) error {
	if b == nil {
		return nil
	}
	return b.to.Close(end)
}

// newBook creates the file of records for a benchmark. It returns nil if cfg has no folder for records.
func newBook(cfg process.Config, benchmark string, t Target, l Load) (*book, error) {
	if cfg.Out == "" {
		return nil, nil
	}
	config := t.settings(cfg)
	delete(config, "dialect")
	head := records.Head{
		Benchmark: benchmark, Config: config, Dialect: t.dialect().Name(), Model: t.Model,
		Stream: !l.NoStream, Concurrency: l.Concurrency, Users: l.Users.String(), Classes: l.classes(), Duration: l.Duration, Shards: shards(), Warmup: len(l.Warmup), WarmupFor: l.WarmupFor,
		Timeout: l.Timeout, IdleTimeout: l.IdleTimeout, SLO: l.SLO.String(), Cancel: l.Cancel.String(), Start: time.Now(),
		Host: records.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0), Go: runtime.Version()},
	}
	if salt := promptSalt(cfg, t); salt != 0 && salt == usedSalt.Load() {
		head.Salt = strconv.FormatUint(salt, 10)
	}
	if l.Arrivals != nil {
		head.Arrivals = &records.Arrivals{Process: l.Arrivals.Name(), Parameters: l.Arrivals.Parameters()}
	}
	w, err := records.Create(cfg.Out, head)
	if err != nil {
		return nil, fmt.Errorf("LLMBENCH_OUT: %w", err)
	}
	return &book{w}, nil
}
