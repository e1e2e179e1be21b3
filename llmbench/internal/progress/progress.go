// Package progress shows how many requests of a pass have ended.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A Place is where progress is shown.
type Place string

// The places.
const (
	// None shows no bar.
	None Place = "none"
	// TTY draws a bar on the terminal that controls the process, /dev/tty, whatever
	// stdout and stderr are. It is for results that go to a file. If the screen also
	// shows the results, the bar overwrites the name of the current benchmark. Output on
	// stdout or stderr would end up within the line of a result.
	TTY Place = "tty"
)

// A Pass is a pass whose progress is shown.
type Pass struct {
	Benchmark string     // the benchmark's name
	Number    int        // of the pass, from 0
	Last      string     // the last throughput, or ""
	Requests  int        // in the pass
	Ended     func() int // returns how many requests have ended
}

// Show shows the progress of p at a place until stop is called. With verbose it also logs it
// every ten seconds. Errors are logged.
func (p Pass) Show(where Place, verbose bool, logf func(format string, args ...any)) (stop func()) {
	quit := make(chan struct{})
	var wg sync.WaitGroup
	if verbose {
		wg.Go(func() {
			began := time.Now()
			every(10*time.Second, quit, func() {
				logf("pass %d: %d of %d requests ended after %v", p.Number, p.Ended(), p.Requests, time.Since(began).Round(time.Second))
			})
		})
	}
	if where == TTY {
		tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
		if err != nil {
			logf("LLMBENCH_PROGRESS: %v", err)
		} else {
			wg.Go(func() {
				defer tty.Close()
				p.draw(tty, quit)
			})
		}
	}
	return func() { close(quit); wg.Wait() }
}

// label returns a name for the bar that is short enough for most screens: the two ends of the
// benchmark's name, the number of the pass and the last throughput.
func (p Pass) label() string {
	name := strings.TrimPrefix(p.Benchmark, "Benchmark")
	if first, rest, has := strings.Cut(name, "/"); has {
		name = first + " " + rest[strings.LastIndexByte(rest, '/')+1:]
	}
	if p.Number > 0 {
		name += fmt.Sprintf(" pass %d", p.Number)
	}
	if p.Last != "" {
		name += ", last " + p.Last
	}
	return name
}

// draw draws a bar with the number of requests that have ended, their rate and the time left.
// It removes the bar when quit is closed.
func (p Pass) draw(w io.Writer, quit <-chan struct{}) {
	bar := progressbar.NewOptions(p.Requests,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(p.label()),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("req"),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(10), progressbar.OptionThrottle(0),
		progressbar.OptionSetTheme(progressbar.ThemeASCII), progressbar.OptionSetMaxDetailRow(0))
	bar.RenderBlank()
	every(200*time.Millisecond, quit, func() { bar.Set(p.Ended()) }) // errors mean that the terminal is gone
	bar.Clear()
}

// every calls f at an interval until quit is closed.
func every(interval time.Duration, quit <-chan struct{}, f func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
			f()
		}
	}
}
