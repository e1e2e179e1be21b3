package mockserver

import (
	"context"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// An exchange is one request that has been read, and its answer.
type exchange struct {
	clock   clock
	dialect *dialect
	req     request
	fault   fault.Fault
	rec     *record
	turn    place
	alarm   alarm // for what is not a token
	arrived time.Duration
	out     *framer
	enc     encoder
	queued  time.Duration   // from arrival to admission
	ctx     context.Context // ends with the client or the server
	w       http.ResponseWriter
	rc      *http.ResponseController
	held    int // tokens rendered and not yet written
	events  int // in which they are
	last    bool
	wire    *wire // that w is on, if it tells when it is written to
}

// answer waits for a slot and answers.
func (x *exchange) answer() {
	defer x.turn.leave()
	begun, err := x.turn.admitted(x.ctx)
	if err != nil {
		x.abort()
		return
	}
	x.rec.Admitted = begun
	x.queued = max(begun-x.arrived, 0) // the engine is told when it has come to the arrival
	x.rec.Tokens = make([]time.Duration, 0, x.req.output)
	contentType := "application/json"
	if x.req.stream {
		contentType = x.dialect.stream
	}
	if x.fault.Kind == fault.WrongType {
		contentType = "text/html; charset=utf-8"
	}
	x.w.Header().Set("Content-Type", contentType)
	defer x.wrap()()
	if x.req.stream {
		x.stream()
	} else {
		x.whole()
	}
}

// stream sends each chunk when it is due.
func (x *exchange) stream() {
	x.w.Header().Set("Cache-Control", "no-cache")
	cuts, endless := x.fault.Cuts(), x.fault.Kind == fault.Endless
	struck, until := x.fault.Token(x.req.output), x.req.output
	if cuts {
		until = struck
	}
	opened := x.fault.Kind == fault.Empty
	if x.out.shape.RoleFirst && !opened {
		if x.enc.opening(); len(x.out.buf) > 0 {
			if !x.flush(false) {
				return
			}
			opened = true
		}
	}
	step := x.out.shape.ChunkTokens()
	for from, last := 0, false; !last; {
		if cuts && from == until {
			x.strike(struck)
			return
		}
		to := from + step
		if !endless {
			to = min(until, to)
			last = to == x.req.output
		}
		if x.turn.token(x.ctx, max(to, 1)-1) != nil {
			x.abort()
			return
		}
		if !opened {
			x.enc.opening()
			opened = true
		}
		if from <= struck && (struck < to || last) && !x.interrupt() {
			return
		}
		if last {
			x.enc.last(from, to)
			x.ending()
		} else {
			x.enc.tokens(from, to)
		}
		if !x.send(to-from, last) {
			return
		}
		from = to
	}
}

// ending adds what follows the last chunk.
func (x *exchange) ending() {
	sh := x.out.shape
	if x.dialect.done && x.fault.Kind != fault.NoDone && sh.Done != shape.DoneNever {
		x.out.done()
		if sh.Done == shape.DoneTwice {
			x.out.done()
		}
	}
	if sh.AfterDone && !x.dialect.unmarked {
		n := x.req.output
		x.enc.tokens(n, n+1)
		at := len(x.out.buf)
		x.enc.tokens(n+1, n+2)
		x.out.buf = x.out.buf[:at+(len(x.out.buf)-at)/2]
	}
}

// send takes what has been rendered, a chunk that carries that many tokens, and
// sends it with those it holds back, if it is time. It reports whether the client
// is still there.
func (x *exchange) send(tokens int, last bool) bool {
	x.held += tokens
	x.events++
	if !last && (x.events < x.out.shape.WriteEvents() || len(x.out.buf) == 0) {
		return true
	}
	return x.flush(last)
}

// flush writes what has been rendered, in one part or two. After the last it
// completes the record, before the client can see it. It reports whether the
// client is still there.
func (x *exchange) flush(last bool) bool {
	x.rec.Status = http.StatusOK
	b := x.out.buf
	if at := x.out.split(); at > 0 && x.held > 0 {
		if !x.push(b[:at], false) {
			return false
		}
		b = b[at:]
		if x.alarm.wait(x.ctx, x.clock.now()+x.out.shape.Pause()) != nil {
			x.abort()
			return false
		}
	}
	x.last = last
	if x.wire == nil {
		x.sent()
	} else {
		x.wire.next = x
	}
	ok := x.push(b, last)
	x.out.written()
	if x.wire != nil && x.wire.next == x { // there was nothing to write
		x.wire.next = nil
		if ok {
			x.sent()
		}
	}
	return ok
}

// sent notes that what was rendered is being written.
func (x *exchange) sent() {
	now := x.clock.now()
	for range x.held {
		x.rec.Tokens = append(x.rec.Tokens, now)
	}
	x.held, x.events = 0, 0
	if x.last {
		x.rec.finish(now)
	}
}

// push is one write.
func (x *exchange) push(b []byte, last bool) bool {
	_, err := x.w.Write(b)
	if closer, ok := x.w.(bodyCloser); ok && last && err == nil {
		err = closer.closeBody()
	}
	if err == nil {
		err = x.rc.Flush()
	}
	if err != nil {
		x.abort()
	}
	return err == nil
}

// abort ends an answer whose client is gone.
func (x *exchange) abort() { x.rec.abort(x.clock.now()) }
