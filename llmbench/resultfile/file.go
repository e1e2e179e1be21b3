package resultfile

import (
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
)

// A File holds the results of one file.
type File struct {
	Path    string
	Tool    string   // the tool that wrote the file, such as "vLLM"; "" for Go benchmark format
	Results []Result // one for each load, or for each run of a load; none for Go benchmark format
	Notes   []string // what the file admits, without the path
	text    []byte   // a file in Go benchmark format
	sources []string // base names of the files that the results were computed from
}

// A Result is what a file says of one load.
type Result struct {
	Name   string              // of the benchmark, without "Benchmark": the tool and the load
	Config []benchfile.Setting // what was measured, such as the model
	Load   []benchfile.Setting // the load, which is also in Name
	Values []Value             // in the order of the tool's table
	Time   time.Time           // when the run was, as far as the file says; or zero
	At     string              // where the file has the result, such as "benchmarks[1]"; "" is the whole file
}

// A Value is a figure of a result.
type Value struct {
	Unit   string  // as in llmbench, such as "p50-ttft-ns"
	Value  float64 // in Unit, finite and 0 or more
	Source Source
}

// A Source is where a tool's file has a figure.
type Source struct {
	Tool   string
	Key    string  // with the keys of the objects around it: "metrics.ttft.p50"
	Unit   string  // in which the tool has the figure, such as "ms"
	Factor float64 // a value in our unit / the same value in Unit
}

// Options control how files are read. The zero value selects the defaults.
type Options struct {
	// MaxFail is the tolerated share of failed requests, 0 to 1. A run in which more failed is an error.
	MaxFail float64
}

// An Error says why a file is no sample.
type Error struct {
	Path string
	Key  string // of the figure that is wrong, as the tool's file has it; "" is the whole file
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

// Unwrap returns the error that kept the file from being read, or nil.
func (e *Error) Unwrap() error { return e.cause }

// A besideError says that a file stands beside results and is none.
type besideError struct{ why string }

func (e besideError) Error() string { return e.why }

// An unknownError says that a file is of no known format.
type unknownError struct{}

func (unknownError) Error() string {
	return "no result file that is known: want Go benchmark format, or a file of " + knownTools()
}
