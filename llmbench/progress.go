package llmbench

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A Progress says where a pass shows how far it has come.
type Progress string

// Where it may show it.
const (
	// ProgressNone: nowhere, but in the log with -v, every ten seconds.
	ProgressNone Progress = "none"
	// ProgressTTY: on the terminal that controls the process, /dev/tty, whatever
	// stdout and stderr are. It is for results that go to a file: on a screen that
	// shows them too, a bar would be drawn over the name of the benchmark that stands
	// there until its result does, and only go test knows whether there is one.
	// What is written to stdout or stderr would end up within a result's line.
	ProgressTTY Progress = "tty"
)

// progress shows how far a pass has come; the function it returns ends that.
func (c *client) progress(b *testing.B, where Progress, pass, requests int) (done func()) {
	before := c.ended.Load()
	ended := func() int { return int(c.ended.Load() - before) }
	quit := make(chan struct{})
	var wg sync.WaitGroup
	if testing.Verbose() {
		wg.Go(func() {
			began := time.Now()
			every(10*time.Second, quit, func() {
				b.Logf("pass %d: %d of %d requests ended after %v", pass, ended(), requests, time.Since(began).Round(time.Second))
			})
		})
	}
	if where == ProgressTTY {
		tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
		if err != nil {
			b.Logf("LLMBENCH_PROGRESS: %v", err)
		} else {
			wg.Go(func() {
				defer tty.Close()
				showProgress(tty, label(b.Name(), pass, process.lastFigure()), requests, ended, quit)
			})
		}
	}
	return func() { close(quit); wg.Wait() }
}

// label is what a bar is called, short enough for most screens: the ends of the
// benchmark's name, and the last throughput.
func label(benchmark string, pass int, last string) string {
	name := strings.TrimPrefix(benchmark, "Benchmark")
	if first, rest, has := strings.Cut(name, "/"); has {
		name = first + " " + rest[strings.LastIndexByte(rest, '/')+1:]
	}
	if pass > 0 {
		name += fmt.Sprintf(" pass %d", pass)
	}
	if last != "" {
		name += ", last " + last
	}
	return name
}

// showProgress draws a bar of requests that ended, their rate and the time left,
// and takes it away when quit is closed.
func showProgress(w io.Writer, name string, requests int, ended func() int, quit <-chan struct{}) {
	bar := progressbar.NewOptions(requests,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(name),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("req"),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(10), progressbar.OptionThrottle(0),
		progressbar.OptionSetTheme(progressbar.ThemeASCII), progressbar.OptionSetMaxDetailRow(0))
	bar.RenderBlank()
	every(200*time.Millisecond, quit, func() { bar.Set(ended()) }) // a terminal that is gone shows nothing
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
