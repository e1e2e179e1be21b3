package conn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// muxes holds the connections of HTTP/2 to one server. As clients of HTTP/2 do, a request uses the oldest connection on
// which the server allows a further stream, so that there is one connection up to the server's limit
// (SETTINGS_MAX_CONCURRENT_STREAMS), and then a further one. It is safe for concurrent use.
type muxes struct {
	connect func(ctx context.Context) (*Conn, error)

	mu      sync.Mutex
	all     []*mux
	dialing *dialing // the connection that is being opened for waiting requests, or nil
}

// A dialing is an attempt to open a connection.
type dialing struct {
	done chan struct{} // closed at the end
	err  error
	own  bool // the error is about the request that opened it, and not about the server
}

// mostTries is how often a request is tried that the server has not seen, because its connection ended at the same time.
const mostTries = 4

// send is like [Pool.Send]. It sends a request again, once, if the server says that it has not processed it: by GOAWAY, or
// by RST_STREAM with REFUSED_STREAM (RFC 9113, 8.7). It does so on another connection.
func (p *muxes) send(req *http.Request, t *Trace) (*http.Response, error) {
	ctx := req.Context()
	var not *mux
	for try := 1; ; try++ {
		m, err := p.get(ctx, t, not)
		if err != nil {
			return nil, err
		}
		resp, err := m.exchange(req, t)
		refused, ok := errors.AsType[notProcessed](err)
		if !ok || t.Attempts > 1 || try == mostTries || ctx.Err() != nil {
			return resp, err
		}
		not, t.Unread = m, refused.reached
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// get returns a connection other than not, with a reserved place. It opens one if all others are full.
func (p *muxes) get(ctx context.Context, t *Trace, not *mux) (*mux, error) {
	before := t.Clock.Now()
	for waited := false; ; waited = true {
		if waited {
			t.Connect = t.Clock.Now() - before
		}
		p.mu.Lock()
		for _, m := range p.all {
			if m != not && m.reserve() {
				p.mu.Unlock()
				return m, nil
			}
		}
		d := p.dialing
		own := d == nil
		if own {
			d = &dialing{done: make(chan struct{})}
			p.dialing = d
		}
		p.mu.Unlock()
		if own {
			var m *mux
			Apart(func() { m = p.dial(ctx, d) })
			if m != nil {
				t.Connect = t.Clock.Now() - before
				return m, nil
			}
		}
		select {
		case <-d.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if d.err != nil && (own || !d.own) {
			return nil, d.err
		}
	}
}

// dial opens a connection, on which it reserves a place, and ends d. After an error, it returns nil.
func (p *muxes) dial(ctx context.Context, d *dialing) *mux {
	m, err := p.open(ctx, true)
	d.err, d.own = err, ctx.Err() != nil
	p.mu.Lock()
	p.dialing = nil
	p.mu.Unlock()
	close(d.done)
	return m
}

// open opens a connection, and reserves a place on it if reserve is true.
func (p *muxes) open(ctx context.Context, reserve bool) (*mux, error) {
	c, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	m, err := newMux(ctx, c)
	if err != nil {
		return nil, err
	}
	if !m.reserve() {
		m.mu.Lock()
		err, limit := m.err, m.limit
		m.mu.Unlock()
		m.close()
		if err == nil {
			err = fmt.Errorf("the server allows %d streams at the same time on a connection (SETTINGS_MAX_CONCURRENT_STREAMS): want 1 or more", limit)
		}
		return nil, err
	}
	if !reserve {
		m.leave()
	}
	p.mu.Lock()
	var over []*mux
	p.all = append(slices.DeleteFunc(p.all, func(m *mux) bool {
		if m.over() {
			over = append(over, m)
			return true
		}
		return false
	}), m)
	p.mu.Unlock()
	for _, m := range over {
		m.close()
	}
	return m, nil
}

// lacking returns how many connections have to be opened so that n requests can be sent at the same time. Before the first
// connection, the server's limit is unknown, and lacking returns 1.
func (p *muxes) lacking(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := maxStreams
	for _, m := range p.all {
		room, most := m.room()
		n -= room
		limit = most
	}
	if n <= 0 {
		return 0
	}
	if len(p.all) == 0 || limit == 0 {
		return 1
	}
	return (n + limit - 1) / limit
}

// prepare is like [Pool.Prepare], for n requests at the same time.
func (p *muxes) prepare(ctx context.Context, n int) {
	for range 2 { // the first connection tells the limit of the server
		lacking := p.lacking(n)
		if lacking == 0 {
			return
		}
		var all sync.WaitGroup
		errs := make([]error, lacking)
		for i := range lacking {
			all.Go(func() { _, errs[i] = p.open(ctx, false) })
		}
		all.Wait()
		if errors.Join(errs...) != nil {
			return
		}
	}
}

// stamped reports whether the kernel has accepted the request for timestamps on a connection.
func (p *muxes) stamped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.all, func(m *mux) bool { return m.conn.kernel != nil })
}

// closeIdle closes the connections without a request for which keep returns false, and those that have ended.
func (p *muxes) closeIdle(keep func(used bool, idle time.Duration) bool) {
	p.mu.Lock()
	var over []*mux
	p.all = slices.DeleteFunc(p.all, func(m *mux) bool {
		if !m.unused(keep) {
			return false
		}
		over = append(over, m)
		return true
	})
	p.mu.Unlock()
	for _, m := range over {
		m.close()
	}
}

// young reports whether an idle connection may be used again.
func young(_ bool, idle time.Duration) bool { return idle <= maxIdle }
