package send

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// fast returns a pass of n posts and the client that sends it. The server answers at once, so that no time
// passes during a request.
func fast(t *testing.T, o Options, workers, n int, all *[]sample.Sample) (*Client, *Pass) {
	w, p := newTestWorker(t, answerer(content+finish+done), o)
	p.MaxTokens = 1
	return w.client, passOf(*w.options, workers, all, same(p, n)...)
}

// slow is a tokenizer that takes a millisecond for a text.
type slow struct{}

func (slow) Count(string) int {
	time.Sleep(ms)
	return 1
}

// TestTakeIsNoWait checks that samples of other processes that wait for the recorder do not count as
// waiting requests of this process.
func TestTakeIsNoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{pass: &Pass{Classes: make([]Class, 1)}, clock: conn.NewClock(conn.WallClock), ended: make(chan Finished)}
		for _, hand := range []func(*sample.Sample){r.take, func(s *sample.Sample) { r.add(s, nil) }} {
			go hand(new(sample.Sample))
			time.Sleep(ms)
			<-r.ended
			synctest.Wait()
		}
		assert.Equal(t, time.Duration(r.waited.Load()), ms) // the wait in add
	})
}

// TestSlowRecorder checks that the time for which requests wait for the recorder is measured, and that an
// open loop does not count it as a wait for the server.
func TestSlowRecorder(t *testing.T) {
	const more = 20 // number of requests that wait
	for _, open := range []bool{false, true} {
		for _, n := range []int{waiting, waiting + 1 + more} {
			synctest.Test(t, func(t *testing.T) {
				var all []sample.Sample
				c, p := fast(t, Options{Stream: true, Tokenizer: slow{}}, 1, n, &all)
				if open {
					c := &p.Classes[0]
					c.Stays, c.MaxInFlight, c.Due = nil, 1, make([]time.Duration, n)
					for i := range c.Due {
						c.Due[i] = time.Duration(i) * time.Microsecond
					}
				}
				r, _, err := c.Pass(t.Context(), p)
				assert.NilError(t, err)
				late := time.Duration(0)
				for _, s := range all {
					late = max(late, s.Late())
				}
				if n == waiting {
					assert.Equal(t, r.RecorderWait, time.Duration(0))
					return
				}
				assert.Assert(t, r.RecorderWait > (more-2)*ms && r.RecorderWait <= (more+1)*ms, "%v", r.RecorderWait)
				assert.Equal(t, late >= ms/2, open, "%v", late)
			})
		}
	}
}

// TestLateTurns checks the wait of a session for the recorder. It is part of the pause before the next
// turn. If it is longer than the pause, the turn counts as late.
func TestLateTurns(t *testing.T) {
	for _, think := range []time.Duration{0, 2 * ms} {
		synctest.Test(t, func(t *testing.T) {
			var all []sample.Sample
			c, p := fast(t, Options{Stream: true, Tokenizer: slow{}}, 1, waiting, &all)
			first := p.Classes[0].Posts.Build
			p.Classes[0].Posts.Build = func(k int) Post {
				one := first(k)
				one.Turns = []Turn{{After: []int{0}, Think: think}}
				one.Next = func(int, func(int) string) (Post, error) { return first(k), nil }
				return one
			}
			r, _, err := c.Pass(t.Context(), p)
			assert.NilError(t, err)
			var late, end time.Duration
			for _, d := range r.LateTurns {
				late += d
			}
			for _, s := range all {
				if s.Turn > 0 && think > 0 {
					assert.Equal(t, s.Start-end, think)
				}
				end = s.End
			}
			if think > 0 {
				assert.Equal(t, late, time.Duration(0))
				return
			}
			// Half of the waits are between two sessions.
			assert.Assert(t, r.RecorderWait > 1000*ms && late > r.RecorderWait/2-2*ms && late < r.RecorderWait/2+2*ms, "%v of %v", late, r.RecorderWait)
		})
	}
}

// exiting is a tokenizer that ends its goroutine.
type exiting struct{}

func (exiting) Count(string) int { runtime.Goexit(); return 0 }

// TestExitingTokenizer checks that a tokenizer which ends its goroutine ends the pass with an error.
func TestExitingTokenizer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []sample.Sample
		c, p := fast(t, Options{Stream: true, Tokenizer: exiting{}}, 2, 2*waiting, &all)
		_, _, err := c.Pass(t.Context(), p)
		assert.ErrorIs(t, err, errNoRecorder)
	})
}

// TestNotKept checks a sample that cannot be kept: the error ends the pass, and earlier samples remain.
func TestNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []sample.Sample
		c, p := fast(t, Options{Stream: true}, 2, 2*waiting, &all)
		full := errors.New("the disk is full")
		keep := p.Keep
		p.Keep = func(s *sample.Sample, idle bool) error {
			if len(all) == 5 {
				return full
			}
			return keep(s, idle)
		}
		_, began, err := c.Pass(t.Context(), p)
		assert.Assert(t, began)
		assert.ErrorIs(t, err, full)
		assert.Equal(t, len(all), 5)
	})
}
