package mockserver

import (
	"context"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// A death is the end of a server by the fault die. The listener stays open, so that the log also has the
// requests that come later.
type death struct {
	ctx    context.Context // ends when the server dies; nil if it cannot die
	happen context.CancelFunc
}

// newDeath returns the death of a server with the given faults.
func newDeath(faults []fault.Fault) *death {
	if !slices.ContainsFunc(faults, func(f fault.Fault) bool { return f.Kind == fault.Die }) {
		return &death{happen: func() {}}
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &death{ctx, cancel}
}

// happened reports whether the server is dead.
func (d *death) happened() bool { return d.ctx != nil && d.ctx.Err() != nil }

// during returns a context that ends with ctx or when the server dies. The caller must call release.
func (d *death) during(ctx context.Context) (_ context.Context, release func()) {
	if d.ctx == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(d.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// hangUpDead reads a request to the dead server and resets its connection. It logs the request if the
// request is for a completion.
func (s *Server) hangUpDead(w http.ResponseWriter, r *http.Request, accepted time.Duration) {
	io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxBody))
	if _, completion := wire.RouteFor(r.URL.Path, s.cfg.Flavor); completion {
		rec := s.log.open(Entry{
			ID: r.Header.Get("X-Request-Id"), Path: r.URL.Path, Accepted: accepted, Admitted: -1, Fault: fault.Die, Dead: true,
		})
		rec.finish(s.clock.Now())
	}
	hangUp(w, true)
}
