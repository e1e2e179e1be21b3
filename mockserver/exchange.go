package mockserver

import (
	"context"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/frame"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/pace"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// An exchange is one accepted request together with its answer.
type exchange struct {
	clock   pace.Clock
	alarm   pace.Alarm // for waits other than the waits for tokens
	place   pace.Place
	dialect *wire.Dialect
	req     wire.Request
	fault   fault.Fault
	rec     *record
	arrived time.Duration
	queued  time.Duration // time from arrival to admission
	enc     wire.Encoder
	out     *frame.Framer
	pending int           // tokens rendered and not yet written
	swaps   *swaps        // nil unless the request has the fault swap
	events  int           // events that carry the pending tokens
	last    bool          // the current write ends the answer
	began   time.Duration // when the last observed write began
	carries bool          // the last observed write has tokens

	admitted func() // called when the request has its slot
	die      func() // ends the server

	ctx  context.Context // ends with the client's connection or the server
	w    http.ResponseWriter
	rc   *http.ResponseController
	conn *sendConn // w's connection, nil if the connection is not a sendConn, or if the client speaks HTTP/2

	tap      *tap   // of the connection; nil unless the client speaks HTTP/2 and the stream is known
	streamID uint32 // w's stream of HTTP/2
	pushed   int    // number of bytes that were given to w
}

// A bodyCloser is a ResponseWriter that must write the end of the body itself, because
// net/http does not.
type bodyCloser interface{ closeBody() error }

// beginOutput must be called before any part of the output is rendered.
func (x *exchange) beginOutput() {
	if x.swaps != nil {
		x.swaps.settle(x)
		x.swaps = nil
	}
}

// send is called after one event has been rendered, which carries the given number of
// tokens. When there are enough pending events for a write, or the event is the last one,
// send writes them. It reports whether the client is still connected.
func (x *exchange) send(tokens int, last bool) bool {
	x.pending += tokens
	x.events++
	if !last && (x.events < x.out.Shape.WriteEvents() || len(x.out.Buf) == 0) {
		return true
	}
	return x.flush(last)
}

// flush writes the rendered events, in one or two parts. The last flush completes the log's
// record before it writes, so that the record is complete when the client sees the end. It
// reports whether the client is still connected.
func (x *exchange) flush(last bool) bool {
	x.rec.Status = http.StatusOK
	b := x.out.Buf
	if at := x.out.SplitAt(); at > 0 && x.pending > 0 {
		if !x.push(b[:at], false) {
			return false
		}
		b = b[at:]
		if x.alarm.Wait(x.ctx, x.clock.Now()+x.out.Shape.Pause()) != nil {
			x.abort()
			return false
		}
	}
	x.last = last
	if x.tap != nil && len(b) > 0 {
		return x.flushFrame(b, last)
	}
	if x.conn == nil {
		x.writing()
	} else {
		x.conn.observer = x
	}
	ok := x.push(b, last)
	x.out.Clear()
	if x.conn != nil && x.conn.observer != nil { // the connection had nothing to write
		x.conn.observer = nil
		if ok {
			x.writing()
		}
	}
	return ok
}

// flushFrame writes b with HTTP/2, and returns when b has been written to the network. It reports whether the client is
// still connected.
func (x *exchange) flushFrame(b []byte, last bool) bool {
	n := x.tap.expect(x.streamID, x.pushed, x.pushed+len(b), x)
	err := x.put(b, last)
	x.out.Clear()
	if n == nil || err != nil {
		if n != nil {
			x.tap.forget(x.streamID, n)
		}
		x.abort()
		return false
	}
	select {
	case <-n.done:
		return true
	case <-x.ctx.Done():
		x.tap.forget(x.streamID, n)
		x.abort()
		return false
	}
}

// writing records the instant just before the pending tokens are written.
func (x *exchange) writing() {
	now := x.clock.Now()
	x.began, x.carries = now, x.pending > 0
	for range x.pending {
		x.rec.Tokens = append(x.rec.Tokens, now)
	}
	x.pending, x.events = 0, 0
	if x.last {
		x.rec.finish(now)
	}
}

// wrote is called when a write has ended. It records the write's duration if the write has tokens and
// took at least slowWrite.
func (x *exchange) wrote() {
	if took := x.clock.Now() - x.began; x.carries && took >= slowWrite {
		x.rec.slow(took, x.last)
	}
}

// push writes and flushes b. It reports whether the client is still connected.
func (x *exchange) push(b []byte, last bool) bool {
	err := x.put(b, last)
	if err != nil {
		x.abort()
	}
	return err == nil
}

// put writes and flushes b.
func (x *exchange) put(b []byte, last bool) error {
	_, err := x.w.Write(b)
	x.pushed += len(b)
	if closer, ok := x.w.(bodyCloser); ok && last && err == nil {
		err = closer.closeBody()
	}
	if err == nil {
		err = x.rc.Flush()
	}
	return err
}

// abort ends an answer whose client is gone.
func (x *exchange) abort() {
	x.beginOutput() // so that no other request can swap answers and change the record
	x.rec.abort(x.clock.Now())
}
