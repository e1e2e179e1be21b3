package resultfile

import (
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
)

// A File holds the results of one file.
type File struct {
	Path    string
	Tool    string   // the tool that wrote the file, such as "vLLM"; "" means Go benchmark format
	Results []Result // one for each load, or for each run of a load; none for Go benchmark format
	Notes   []string // limitations of the file; the texts do not contain the path
	size    int64    // size on disk, in bytes, or 0 if not known
	text    []byte   // the contents of a file in Go benchmark format
	sources []string // base names of the files that the results were computed from
}

// A Result is what a file reports about one load.
type Result struct {
	Name     string              // name of the benchmark, without "Benchmark": the tool and the load
	Config   []benchfile.Setting // what was measured, such as the model
	Settings []benchfile.Setting // everything else that the file states and that is neither a result nor an identity
	Load     []benchfile.Setting // the load, which is also in Name
	Values   []Value             // in the order of the tool's table
	Time     time.Time           // when the run took place, if the file says so; otherwise zero
	At       string              // where in the file the result is, such as "benchmarks[1]"; "" means the whole file

	apart []benchfile.Setting // the settings that Distinguish added to Name
}

// A Value is one metric of a result.
type Value struct {
	Unit   string  // unit of llmbench, such as "p50-ttft-ns"
	Value  float64 // in Unit, finite and 0 or more
	Source Source
}

// A Source says where a value is in the tool's file.
type Source struct {
	Tool   string
	Key    string  // key, including the keys of the enclosing objects: "metrics.ttft.p50"
	Unit   string  // unit in the tool's file, such as "ms"
	Factor float64 // a value in llmbench's unit / the same value in Unit
}

// Options control how files are read. The zero value selects the defaults.
type Options struct {
	// MaxFail is the tolerated share of failed requests, 0 to 1. A run with a larger share is an error.
	MaxFail float64
	// Ignore lists the keys of configuration and settings that may differ between samples of one benchmark.
	Ignore []string
}

// An Error says why a file cannot be used as a sample.
type Error struct {
	Path string
	Key  string // key of the wrong value, as in the tool's file; "" means the whole file
	Text string

	cause error
}

// Error names the file, the key and what is wrong.
func (e *Error) Error() string {
	if e.Key == "" {
		return e.Path + ": " + e.Text
	}
	return fmt.Sprintf("%s: %s %s", e.Path, e.Key, e.Text)
}

// Unwrap returns the error that prevented the file from being read, or nil.
func (e *Error) Unwrap() error { return e.cause }

// A besideError says that a file is not a result, but belongs to results in the same folder.
type besideError struct{ why string }

func (e besideError) Error() string { return e.why }
