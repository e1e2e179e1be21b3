package llmbench

import (
	"context"
	"errors"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// fast is a server that answers at once: no time passes in a request.
func fast(t *testing.T, l Load) (*client, *Load, *plan) {
	none := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no server") }
	c, checked, pl, err := prepared(Target{URL: "http://server", Dial: none}, l)
	assert.NilError(t, err)
	t.Cleanup(c.close)
	c.sender = roundTripSender{answerer(content + finish + done)}
	return c, checked, pl
}

// slow is a tokenizer that takes a millisecond for a text.
type slow struct{}

func (slow) Count(string) int {
	time.Sleep(ms)
	return 1
}

// TestTakeIsNoWait checks that samples of other processes, which wait for the recorder, are not
// counted as requests of this process that wait.
func TestTakeIsNoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{clock: conn.NewClock(conn.WallClock), ended: make(chan finished)}
		for _, hand := range []func(*sample.Sample){r.take, func(s *sample.Sample) { r.add(s, nil) }} {
			go hand(new(sample.Sample))
			time.Sleep(ms)
			<-r.ended
			synctest.Wait()
		}
		assert.Equal(t, time.Duration(r.waited.Load()), ms) // of add
	})
}

// TestSlowRecorder checks that the time for which requests wait for the recorder is known, and that
// an open loop does not take it for a wait for the server.
func TestSlowRecorder(t *testing.T) {
	const more = 20 // requests that wait
	for _, l := range []Load{{Concurrency: 1}, {Arrivals: arrivals.Constant{Rate: 1e6}, MaxInFlight: 1}} {
		for _, n := range []int{waiting, waiting + 1 + more} {
			synctest.Test(t, func(t *testing.T) {
				l.Tokenizer, l.Requests = slow{}, words(n, 1)
				c, checked, pl := fast(t, l)
				r, err := c.pass(t.Context(), checked, pl, nil, inMemoryOnly())
				assert.NilError(t, err)
				late := time.Duration(0)
				for s := range r.Samples {
					late = max(late, s.Late())
				}
				if n == waiting {
					assert.Equal(t, r.recorderWait, time.Duration(0))
					return
				}
				assert.Assert(t, r.recorderWait > (more-2)*ms && r.recorderWait <= (more+1)*ms, "%v", r.recorderWait)
				assert.Equal(t, late >= ms/2, l.Arrivals != nil, "%v", late)
			})
		}
	}
}

// TestLateTurns checks that a turn of a session which waits for the recorder counts as late, unless the
// user thinks as long, and that the wait is part of the time to think.
func TestLateTurns(t *testing.T) {
	for _, think := range []time.Duration{0, 2 * ms} {
		synctest.Test(t, func(t *testing.T) {
			l := Load{Concurrency: 1, Tokenizer: slow{}, Requests: words(waiting, 1)}
			for i := range l.Requests {
				l.Requests[i].Then = []Turn{{Prompt: "and", MaxTokens: 1, Think: think}}
			}
			c, checked, pl := fast(t, l)
			r, err := c.pass(t.Context(), checked, pl, nil, inMemoryOnly())
			assert.NilError(t, err)
			var late, end time.Duration
			for _, d := range r.LateTurns {
				late += d
			}
			for s := range r.Samples {
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
			assert.Assert(t, r.recorderWait > 1000*ms && late > r.recorderWait/2-2*ms && late < r.recorderWait/2+2*ms, "%v of %v", late, r.recorderWait)
		})
	}
}

// A stuckWriter writes records to a disk that hangs after some of them.
type stuckWriter struct {
	left int
	free chan struct{} // closed when the disk works again
}

func (w *stuckWriter) Name() string            { return "x.jsonl" }
func (w *stuckWriter) Flush() error            { return nil }
func (w *stuckWriter) Close(records.End) error { return errors.New("closed while a write hangs") }
func (w *stuckWriter) Write(*sample.Sample) error {
	if w.left--; w.left < 0 {
		<-w.free
	}
	return nil
}

// TestHangingDisk checks that a disk which hangs ends a pass with an error, that the samples before
// remain, and that the file is not touched any more.
func TestHangingDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l, pl := fast(t, Load{Concurrency: 2, Requests: words(2*waiting, 1)})
		begin, o := time.Now(), inMemoryOnly()
		stuck := &stuckWriter{left: 5, free: make(chan struct{})}
		o.records = &book{to: stuck}
		r, err := c.pass(t.Context(), l, pl, nil, o)
		assert.Error(t, err, "records: x.jsonl: a write has not ended after 1m0s: the disk hangs")
		assert.Equal(t, time.Since(begin), store.WriteLimit)
		assert.Equal(t, len(ordered(r.Samples)), 5)
		assert.NilError(t, o.records.close(records.End{}))
		close(stuck.free)
	})
}

// exiting is a tokenizer that ends its goroutine.
type exiting struct{}

func (exiting) Count(string) int { runtime.Goexit(); return 0 }

// TestExitingTokenizer checks that a tokenizer which ends its goroutine ends the pass with an error.
func TestExitingTokenizer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l, pl := fast(t, Load{Concurrency: 2, Tokenizer: exiting{}, Requests: words(2*waiting, 1)})
		_, err := c.pass(t.Context(), l, pl, nil, inMemoryOnly())
		assert.ErrorIs(t, err, errNoRecorder)
	})
}

// TestUnreadSamples checks that a pass whose samples cannot be read again fails for that, and not
// for what the samples that were read say.
func TestUnreadSamples(t *testing.T) {
	samples := store.New(0, t.TempDir())
	for range 1000 {
		assert.NilError(t, samples.Add(&sample.Sample{Outcome: sample.OK}))
	}
	assert.NilError(t, samples.Close())
	r := &run{measurement: &measurement{samples: samples}}
	assert.Error(t, r.check(t.Context(), 0, r.all()), "samples that were kept in a file: file already closed")
}
