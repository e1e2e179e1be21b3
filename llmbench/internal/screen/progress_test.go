package screen

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

func TestLabel(t *testing.T) {
	assert.Equal(t, Pass{Benchmark: "BenchmarkServe/backend=mock/model=m/concurrency=4"}.label(19), "Serve concurrency=4")
	assert.Equal(t, Pass{Benchmark: "BenchmarkServe/concurrency=4", Last: "7 tok/s"}.label(8), "Serve co")
	assert.Equal(t, Pass{Benchmark: "BenchmarkServe", Number: Warmup}.label(80), "Serve warm-up")
	assert.Equal(t, Pass{Benchmark: "BenchmarkServe", Number: 2, Last: "1064 tok/s"}.label(80), "Serve pass 2, last 1064 tok/s")
}

// A canvas is a terminal with a given width. It may be in the background.
type canvas struct {
	bytes.Buffer
	width      int
	background bool
}

func (s *canvas) Width() int  { return s.width }
func (s *canvas) Draws() bool { return !s.background }
func (s *canvas) Logs() bool  { return s.width == 0 }

// TestLog checks what a screen that is no terminal says of a pass that takes long.
func TestLog(t *testing.T) {
	for _, c := range []struct {
		pass Pass
		want string
	}{
		{Pass{Benchmark: "BenchmarkA/concurrency=8", Number: Warmup, Requests: 90}, "A concurrency=8 warm-up: 30 of 90 requests have ended after 30s\n" +
			"A concurrency=8 warm-up: 60 of 90 requests have ended after 1m0s\n" +
			"A concurrency=8 warm-up: 63 of 90 requests have ended after 2m0s\n" +
			"A concurrency=8 warm-up: 63 of 90 requests have ended after 4m0s, none in the last 2m0s: LLMBENCH_TIMEOUT limits the time of a request\n"},
		{Pass{Benchmark: "BenchmarkA", Requests: 90, For: time.Hour}, "A pass 0: 30 requests have ended after 30s of 1h0m0s\n" +
			"A pass 0: 60 requests have ended after 1m0s of 1h0m0s\n" +
			"A pass 0: 63 requests have ended after 2m0s of 1h0m0s\n" +
			"A pass 0: 63 requests have ended after 4m0s of 1h0m0s, none in the last 2m0s: LLMBENCH_TIMEOUT limits the time of a request\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, out := time.Now(), &canvas{}
			c.pass.Ended = func() int { return min(63, int(time.Since(began)/time.Second)) }
			stop := c.pass.Show(out, false, nil)
			time.Sleep(5 * time.Minute)
			stop()
			assert.Equal(t, out.String(), c.want)
		})
	}
}

// TestDraw draws a bar for 40 requests, of which ten end each second.
func TestDraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		quit := make(chan struct{})
		time.AfterFunc(3100*time.Millisecond, func() { close(quit) })
		canvas := &canvas{width: 80}
		Pass{
			Benchmark: "BenchmarkA/concurrency=8",
			Number:    2,
			Requests:  40,
			Ended:     func() int { return int(time.Since(began) / (100 * time.Millisecond)) },
		}.draw(canvas, quit)
		drawn := strings.Split(canvas.String(), "\r")
		var last string
		for _, line := range drawn {
			if strings.TrimSpace(line) != "" {
				last = line
			}
		}
		for _, want := range []string{"A concurrency=8 pass 2", "30/40", " req/s", "[3s:"} {
			assert.Check(t, strings.Contains(last, want), "%q has no %q", last, want)
		}
		assert.Equal(t, strings.TrimSpace(drawn[len(drawn)-1]), "", "the bar stays")
		assert.Assert(t, !strings.Contains(canvas.String(), "\n"))
	})
}

// TestDrawTogether draws a bar for requests that all end at the same time as the pass.
func TestDrawTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		quit := make(chan struct{})
		time.AfterFunc(2010*time.Millisecond, func() { close(quit) })
		canvas := &canvas{width: 80}
		Pass{Benchmark: "BenchmarkA", Requests: 8, Ended: func() int { return int(time.Since(began)/(2*time.Second)) * 8 }}.draw(canvas, quit)
		drawn := strings.Split(canvas.String(), "\r")
		assert.Assert(t, strings.Contains(canvas.String(), "(8/8"), "%q", drawn)
		assert.Equal(t, strings.TrimSpace(drawn[len(drawn)-1]), "", "the bar stays: %q", drawn)
		assert.Equal(t, len(drawn[len(drawn)-2]), 79, "%q", drawn)
	})
}

// TestDrawNarrow checks that no line is longer than the canvas, and that nothing is drawn in the
// background.
func TestDrawNarrow(t *testing.T) {
	for _, s := range []*canvas{{width: 1}, {width: 40}, {width: 59}, {width: 60}, {width: 61}, {width: 70}, {width: 80}, {width: 200}, {width: 80, background: true}} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			quit := make(chan struct{})
			time.AfterFunc(12*time.Minute, func() { close(quit) })
			Pass{
				Benchmark: "BenchmarkServe/concurrency=1024",
				Number:    100,
				Last:      "1064000 tok/s",
				Requests:  10000,
				Ended:     func() int { return int(time.Since(began) / (100 * time.Millisecond)) },
			}.draw(s, quit)
		})
		for line := range strings.SplitSeq(s.String(), "\r") {
			assert.Assert(t, len(line) < max(2, s.width), "%d of %d columns: %q", len(line), s.width, line)
		}
		assert.Equal(t, s.Len() > 0, s.width >= 60 && !s.background, "width %d", s.width)
	}
}

// TestShow checks that a verbose pass is logged until it ends.
func TestShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged []string
		stop := Pass{Number: 1, Requests: 40, Ended: func() int { return 7 }}.Show(nil, true, func(format string, args ...any) {
			logged = append(logged, fmt.Sprintf(format, args...))
		})
		time.Sleep(25 * time.Second)
		stop()
		time.Sleep(time.Minute)
		assert.DeepEqual(t, logged, []string{"pass 1: 7 of 40 requests ended after 10s", "pass 1: 7 of 40 requests ended after 20s"})
	})
}

// TestDrawTime draws a bar for a pass of 20 seconds, and logs another one.
func TestDrawTime(t *testing.T) {
	for _, width := range []int{40, 80} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			quit := make(chan struct{})
			time.AfterFunc(5100*time.Millisecond, func() { close(quit) })
			canvas := &canvas{width: width}
			Pass{Benchmark: "BenchmarkA", Requests: 8, For: 20 * time.Second, Ended: func() int { return int(time.Since(began) / (100 * time.Millisecond)) }}.draw(canvas, quit)
			drawn := strings.Split(canvas.String(), "\r")
			if width == 40 { // too narrow
				assert.Equal(t, canvas.Len(), 0)
				return
			}
			assert.Equal(t, drawn[len(drawn)-3], "A  25% [==>.......] (50 requests) [5s:15s]")
			assert.Equal(t, strings.TrimSpace(drawn[len(drawn)-1]), "", "the bar stays: %q", drawn)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		var logged []string
		stop := Pass{Number: 1, For: time.Minute, Ended: func() int { return 7 }}.Show(nil, true, func(format string, args ...any) {
			logged = append(logged, fmt.Sprintf(format, args...))
		})
		time.Sleep(15 * time.Second)
		stop()
		assert.DeepEqual(t, logged, []string{"pass 1: 7 requests ended after 10s of 1m0s"})
	})
}
