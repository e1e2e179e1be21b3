package send

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestPresign checks at which instants requests are signed and sent. A signature takes a second, which must
// not delay the requests of an open loop.
func TestPresign(t *testing.T) {
	const second = time.Second
	for _, tt := range []struct {
		name        string
		due         []time.Duration // nil for a closed loop of one worker
		maxInFlight int
		sent        []time.Duration // when the requests reach the server, and the instants of their signatures
		signed      []time.Duration
	}{
		// All posts are built, and signed, before the pass begins: in 3 s.
		{"open loop", []time.Duration{0, 5 * second, 5 * second}, 0, []time.Duration{0, 5 * second, 5 * second}, []time.Duration{-3 * second, 2 * second, 2 * second}},
		// The second request is held back for 100 s, and its signature becomes too old.
		{"held back", []time.Duration{0, 0}, 1, []time.Duration{0, 101 * second}, []time.Duration{-2 * second, 100 * second}},
		{"closed loop", nil, 0, []time.Duration{1 * second, 102 * second}, []time.Duration{0, 101 * second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var began time.Time
				var sent, signed []time.Duration
				rt := roundTrip(func(r *http.Request) (*http.Response, error) {
					mu.Lock()
					at, err := strconv.ParseInt(r.Header.Get("X-Amz-Date"), 10, 64)
					assert.NilError(t, err)
					sent, signed = append(sent, time.Since(began)), append(signed, time.Unix(0, at).Sub(began))
					mu.Unlock()
					time.Sleep(100 * second)
					return nil, http.ErrHandlerTimeout
				})
				w, post := newTestWorker(t, rt, Options{Timeout: time.Hour})
				w.client.server.Sign = func(r *http.Request, body []byte, at time.Time) error {
					assert.DeepEqual(t, body, post.Body)
					time.Sleep(second)
					r.Header.Set("X-Amz-Date", strconv.FormatInt(at.UnixNano(), 10))
					return nil
				}
				var all []sample.Sample
				p := passOf(*w.options, 1, &all, same(post, len(tt.sent))...)
				if tt.due != nil {
					c := &p.Classes[0]
					c.Stays, c.Due, c.MaxInFlight = nil, tt.due, tt.maxInFlight
				}
				p.With = startAt{at: &began}
				_, _, err := w.client.Pass(t.Context(), p)
				assert.NilError(t, err)
				assert.DeepEqual(t, sent, tt.sent)
				assert.DeepEqual(t, signed, tt.signed)
			})
		})
	}
}

// A startAt is a process that notes when a pass starts.
type startAt struct {
	solo
	at *time.Time
}

func (s startAt) Start() (time.Time, error) {
	*s.at = time.Now()
	return *s.at, nil
}
