package send

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestWallClockSet checks that no timestamps are used if the wall clock was set during the pass.
func TestWallClockSet(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, content+finish+done)
	}))
	defer server.Close()
	c, err := NewClient(Server{At: endpoint.Endpoint{Base: server.URL}, Dialect: dialect.OpenAIChat{}})
	assert.NilError(t, err)
	defer c.Close()
	var calls atomic.Int64
	c.wall = func() int64 {
		if calls.Add(1) > 32 { // after the start of the clock
			return conn.WallClock() + int64(time.Minute)
		}
		return conn.WallClock()
	}
	var all []sample.Sample
	p := question(t, dialect.OpenAIChat{}, dialect.Query{Prompt: "a", MaxTokens: 3, Stream: true})
	r, _, err := c.Pass(t.Context(), passOf(Options{Stream: true, Timeout: time.Minute, IdleTimeout: time.Minute}, 1, &all, same(p, 4)...))
	assert.NilError(t, err)
	assert.Assert(t, (r.ClockChange-time.Minute).Abs() < time.Second, "set by %v", r.ClockChange)
	assert.Equal(t, len(all), 4)
	for _, s := range all {
		assert.NilError(t, s.Err)
		assert.Equal(t, s.Clock, sample.UserClock)
		assert.Assert(t, s.Lags == nil)
	}
}
