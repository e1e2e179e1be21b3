package llmbench

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// slow is a tokenizer that takes a millisecond for a text.
type slow struct{}

func (slow) Count(string) int {
	time.Sleep(ms)
	return 1
}

// TestSlowRecorder checks that the time for which requests wait for the recorder is known, and that
// an open loop does not take it for a wait for the server.
func TestSlowRecorder(t *testing.T) {
	const more = 20 // requests that wait
	for _, l := range []Load{{Concurrency: 1}, {Arrivals: arrivals.Constant{Rate: 1e6}, MaxInFlight: 1}} {
		for _, n := range []int{waiting, waiting + 1 + more} {
			synctest.Test(t, func(t *testing.T) {
				l.Tokenizer, l.Requests = slow{}, words(n, 1)
				none := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no server") }
				c, checked, pl, err := prepared(Target{URL: "http://server", Dial: none}, l)
				assert.NilError(t, err)
				defer c.close()
				c.sender = roundTripSender{answerer(content + finish + done)}
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
