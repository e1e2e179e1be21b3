package llmbench

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A book writes the records of samples to a disk that may hang. A nil book writes nothing.
type book struct {
	to   recordWriter
	hung bool // a write has not ended
}

// A recordWriter is a [records.Writer].
type recordWriter interface {
	Name() string
	Write(*sample.Sample) error
	Flush() error
	Close(records.End) error
}

// where names the file for the reader of a failure. It returns "" without a file.
func (b *book) where() string {
	if b == nil {
		return ""
	}
	return "\n  records: " + b.to.Name()
}

// write writes the record of a sample. The operating system has all records after a write that
// flushes.
func (b *book) write(s *sample.Sample, flush bool) error {
	if b == nil {
		return nil
	}
	return b.bound(func() error {
		err := b.to.Write(s)
		if err == nil && flush {
			err = b.to.Flush()
		}
		return err
	})
}

// close writes how the benchmark ended, and closes the file. If a write hangs, the file remains like the file
// of a process that was killed.
func (b *book) close(end records.End) error {
	if b == nil || b.hung {
		return nil
	}
	return b.bound(func() error { return b.to.Close(end) })
}

// bound calls f, and waits for the disk no longer than [store.WriteLimit].
func (b *book) bound(f func() error) error {
	err := store.Write(b.to.Name(), f)
	b.hung = errors.Is(err, store.ErrHangs)
	return err
}

// newBook begins a file of records for a benchmark. Without a folder in cfg it returns nil.
func newBook(cfg process.Config, benchmark string, t Target, l Load) (*book, error) {
	if cfg.Out == "" {
		return nil, nil
	}
	config := t.config()
	delete(config, "dialect")
	head := records.Head{
		Benchmark: benchmark, Config: config, Dialect: t.dialect().Name(), Model: t.Model,
		Stream: !l.NoStream, Concurrency: l.Concurrency, Shards: shards(), Warmup: len(l.Warmup),
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
	return &book{to: w}, nil
}
