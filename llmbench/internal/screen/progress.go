package screen

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A Canvas shows progress. It is a [Screen], except in tests.
type Canvas interface {
	io.Writer
	Width() int  // in columns
	Draws() bool // a line can be drawn again
	Logs() bool  // it is no terminal, so that lines stay
}

// A Pass describes a pass whose progress is shown.
type Pass struct {
	Benchmark string        // the benchmark's name
	Number    int           // number of the pass, from 0, or Warmup
	Place     string        // position of the benchmark among all benchmarks of the process, or ""
	Left      string        // how long the remaining benchmarks will take, or ""
	Last      string        // throughput of the last benchmark, or ""
	Requests  int           // number of requests in the pass, or at least this number if For is set
	For       time.Duration // for how long the pass sends requests, or 0
	Ended     func() int    // returns the number of requests that have ended
}

// Warmup is the number of a warm-up, which runs before the first pass.
const Warmup = -1

// what returns the name of the pass.
func (p Pass) what() string {
	if p.Number == Warmup {
		return "warm-up"
	}
	return fmt.Sprintf("pass %d", p.Number)
}

// Show shows the progress of p on a screen until stop is called: as a bar, or in a line now and then if the screen is no
// terminal. If on is nil, it shows nothing. If verbose is true, it logs the progress every ten seconds instead.
func (p Pass) Show(on Canvas, verbose bool, logf func(format string, args ...any)) (stop func()) {
	quit := make(chan struct{})
	var wg sync.WaitGroup
	switch {
	case verbose:
		wg.Go(func() {
			began := time.Now()
			every(10*time.Second, quit, func() {
				if after := time.Since(began).Round(time.Second); p.For > 0 {
					logf("%s: %d requests ended after %v of %v", p.what(), p.Ended(), after, p.For)
				} else {
					logf("%s: %d of %d requests ended after %v", p.what(), p.Ended(), p.Requests, after)
				}
			})
		})
	case on != nil && on.Logs():
		wg.Go(func() { p.log(on, quit) })
	case on != nil:
		wg.Go(func() { p.draw(on, quit) })
	}
	return func() { close(quit); wg.Wait() }
}

// label returns a name for the progress bar, of at most room bytes. The name has the position of the
// benchmark, the two ends of the benchmark's name, and the number of the pass. If there is room, it also
// has the remaining time and the last throughput.
func (p Pass) label(room int) string {
	name := Short(p.Benchmark)
	if p.Number != 0 {
		name += " " + p.what()
	}
	if p.Place != "" {
		if place := p.Place + ", " + p.Left; p.Left != "" && len(place)+2+len(name) <= room {
			name = place + ": " + name
		} else {
			name = p.Place + " " + name
		}
	}
	if last := ", last " + p.Last; p.Last != "" && len(name)+len(last) <= room {
		return name + last
	}
	return name[:min(len(name), room)]
}

// barWidth is the number of columns of the graphical part of the progress bar.
const barWidth = 10

// draw draws a bar with the number of requests that have ended, their rate and the remaining time. Before
// the first request has ended there is no rate, so draw only draws the name and the number of requests. It
// removes the bar when quit is closed. It omits what does not fit in one line, because a line that wraps
// cannot be drawn again. If the pass is for a time, the bar shows how much of the time is over.
func (p Pass) draw(on Canvas, quit <-chan struct{}) {
	if p.For > 0 {
		p.drawTime(on, quit)
		return
	}
	digits := len(fmt.Sprint(p.Requests))
	// The parts are " 100% |==========| (8/8, 10000 req/s) [10m0s:10m0s]".
	room := on.Width() - 1 - len(" 100% || (/, 10000 req/s) [10m0s:10m0s]") - barWidth - 2*digits
	if room < 0 {
		return
	}
	label := p.label(room)
	bar := progressbar.NewOptions(p.Requests,
		progressbar.OptionSetWriter(on), progressbar.OptionSetDescription(label),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("req"),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(barWidth), progressbar.OptionThrottle(0),
		progressbar.OptionSetTheme(progressbar.ThemeASCII), progressbar.OptionSetMaxDetailRow(0))
	bar.StartWithoutRender()
	drawn := 0 // columns of the line that was drawn before the first request ended
	clear := func() {
		if drawn > 0 {
			fmt.Fprintf(on, "\r%s\r", strings.Repeat(" ", drawn))
			drawn = 0
		}
	}
	barred := false
	every(200*time.Millisecond, quit, func() {
		switch ended := p.Ended(); {
		case !on.Draws():
		case ended == 0 && !barred:
			line := fmt.Sprintf("%s (0/%d)", label, p.Requests)
			fmt.Fprint(on, "\r"+line)
			drawn = len(line)
		default:
			clear()
			barred = true
			bar.Set(ended) // errors mean that the terminal is gone
		}
	})
	if on.Draws() {
		if barred { // bar.Clear does not remove a bar that was complete when it was first drawn
			drawn = on.Width() - 1
		}
		clear()
	}
}

// drawTime is draw for a pass that is for a time.
func (p Pass) drawTime(on Canvas, quit <-chan struct{}) {
	began, drawn := time.Now(), 0
	clear := func() {
		if drawn > 0 {
			fmt.Fprintf(on, "\r%s\r", strings.Repeat(" ", drawn))
		}
		drawn = 0
	}
	every(200*time.Millisecond, quit, func() {
		if !on.Draws() {
			return
		}
		over := min(time.Since(began), p.For)
		done := int(barWidth * over / p.For)
		bar := strings.Repeat("=", done) + ">" + strings.Repeat(".", barWidth) // as ThemeASCII draws it
		line := fmt.Sprintf(" %3d%% [%s] (%d requests) [%v:%v]", 100*over/p.For, bar[:barWidth], p.Ended(), over.Truncate(time.Second), (p.For - over).Round(time.Second))
		room := on.Width() - 1 - len(line)
		if clear(); room < 0 {
			return
		}
		line = p.label(room) + line
		fmt.Fprint(on, "\r"+line)
		drawn = len(line)
	})
	if on.Draws() {
		clear()
	}
}

// firstLine is after which time log writes its first line.
const firstLine = 30 * time.Second

// log writes how many requests have ended after firstLine, and again each time that the pass has taken twice as long. It
// says so if none has ended since the line before.
func (p Pass) log(on io.Writer, quit <-chan struct{}) {
	began, last, since := time.Now(), 0, time.Duration(0)
	for at := firstLine; ; at *= 2 {
		select {
		case <-quit:
			return
		case <-time.After(time.Until(began.Add(at))):
		}
		ended, of := p.Ended(), fmt.Sprintf(" of %d", p.Requests)
		text := fmt.Sprintf(" requests have ended after %v", at)
		if p.For > 0 {
			of, text = "", text+fmt.Sprintf(" of %v", p.For)
		}
		if ended == last {
			text += fmt.Sprintf(", none in the last %v: LLMBENCH_TIMEOUT limits the time of a request", at-since)
		}
		fmt.Fprintf(on, "%s %s: %d%s%s\n", Short(p.Benchmark), p.what(), ended, of, text)
		last, since = ended, at
	}
}

// every calls f at intervals until quit is closed.
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
