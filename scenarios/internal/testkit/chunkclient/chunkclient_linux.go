// Package chunkclient is the client that BenchmarkChunk measures. It makes one pass of llmbench,
// and measures what the process used for it.
package chunkclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Prompt is the prompt of each request.
var Prompt = strings.Repeat("word ", 32)

// A Load is what a client sends: each of Streams streams sends Waves requests, each for Output
// tokens.
type Load struct {
	URL                    string
	HTTP                   string // version of HTTP, as in [llmbench.Target]
	Streams, Waves, Output int
}

// A Result is what a client used.
type Result struct {
	Chunks  int
	CPU     time.Duration
	Memory  int // peak resident set size in KiB
	Program int // the part of Memory that is pages of files, at the end of the pass, in KiB
}

// Send sends l as a benchmark does, and returns the number of chunks with text.
func Send(l Load) (chunks int, err error) {
	result, err := llmbench.Pass(context.Background(), "chunk", llmbench.Target{URL: l.URL, Model: "mock", HTTP: l.HTTP}, llmbench.Load{
		Requests:    slices.Repeat([]llmbench.Request{{Prompt: Prompt, MaxTokens: l.Output, FixedOutput: true}}, l.Streams*l.Waves),
		Concurrency: l.Streams,
		ClientBound: llmbench.BoundFails, // so that the distortion by the client is measured
	})
	// Neither distortion nor bursts, which the server causes if it has too little CPU, matter here.
	if err != nil && !errors.Is(err, llmbench.ErrClientBound) && !errors.Is(err, llmbench.ErrBursts) && !errors.Is(err, llmbench.ErrUnread) {
		return 0, err
	}
	defer result.Close()
	for s := range result.All() {
		if s.Err != nil {
			return 0, s.Err
		}
		chunks += s.Deltas
	}
	sample.Summarize(result.All(), result.Elapsed, sample.SLO{})
	return chunks, nil
}

// Measure sends l with a client in this process.
func Measure(l Load, send func(Load) (chunks int, err error)) (r Result, err error) {
	before, err := cpuTime()
	if err != nil {
		return r, err
	}
	if r.Chunks, err = send(l); err != nil {
		return r, err
	}
	after, err := cpuTime()
	if err != nil {
		return r, err
	}
	r.CPU = after - before
	if r.Memory, err = resident("VmHWM"); err == nil {
		r.Program, err = resident("RssFile")
	}
	if want := l.Streams * l.Waves * l.Output; err == nil && r.Chunks != want {
		err = fmt.Errorf("%d chunks with text: want %d", r.Chunks, want)
	}
	return r, err
}

// cpuTime returns the CPU time that the process has used.
func cpuTime() (time.Duration, error) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// resident returns a value of the process in /proc/self/status, in KiB. VmHWM is the largest
// resident set size so far, and RssFile is the size of the pages of files that are in RAM. The peak
// that getrusage returns is not used, because it would include the parent process
// (https://man7.org/linux/man-pages/man5/proc_pid_status.5.html).
func resident(name string) (int, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(text), name+":")
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		return 0, fmt.Errorf("/proc/self/status has no %s", name)
	}
	return strconv.Atoi(fields[0])
}
