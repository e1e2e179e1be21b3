package mockserver

import (
	"context"
	"net/http"
	"time"
)

// errInjected is what a fault of the server says.
var errInjected = &apiError{
	status: http.StatusInternalServerError, kind: "InternalServerError", message: "mockserver: injected fault",
}

// An exchange is one request that has been read, and its answer.
type exchange struct {
	clock clock
	req   request
	fault Fault
	rec   *record
	turn  *turn
	out   *renderer
	ctx   context.Context // ends with the client or the server
	w     http.ResponseWriter
	rc    *http.ResponseController
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
	x.rec.Tokens = make([]time.Duration, 0, x.req.output)
	if x.req.stream {
		x.stream()
	} else {
		x.whole()
	}
}

// stream sends each chunk when it is due.
func (x *exchange) stream() {
	header := x.w.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("Cache-Control", "no-cache")

	struck, until := -1, x.req.output
	if x.fault.Kind != "" {
		struck = x.fault.strike(x.req.output)
	}
	if x.fault.cuts() {
		until = struck
	}
	role := x.req.chat
	if role && x.out.shape.RoleFirst && x.fault.Kind != FaultEmpty {
		x.out.role()
		if !x.send(0, false) {
			return
		}
		role = false
	}
	step := x.out.shape.tokensPerChunk()
	for from, last := 0, false; !last; {
		if x.fault.cuts() && from == until {
			x.strike(struck)
			return
		}
		to := min(until, from+step)
		last = to == x.req.output
		if x.turn.token(x.ctx, max(to, 1)-1) != nil {
			x.abort()
			return
		}
		if role {
			x.out.role()
			role = false
		}
		if x.fault.Kind == FaultMalformed && from <= struck && (struck < to || last) {
			x.out.malformed()
		}
		if last {
			x.out.last(from, to, x.fault.Kind != FaultNoDone)
		} else {
			x.out.tokens(from, to)
		}
		if !x.send(to-from, last) {
			return
		}
		from = to
	}
}

// strike does what the fault does to a stream, when token k is due.
func (x *exchange) strike(k int) {
	if x.fault.Kind == FaultStall {
		<-x.ctx.Done()
	}
	if x.turn.token(x.ctx, k) != nil {
		x.abort()
		return
	}
	switch x.fault.Kind {
	case FaultErrorEvent:
		x.out.errorEvent()
		x.send(0, true)
	case FaultTruncate:
		x.send(0, true) // at least the header, so that the body is chunked
	case FaultEmpty:
		x.rec.Status = http.StatusOK
		x.rec.finish(x.clock.now())
		x.w.WriteHeader(http.StatusOK)
	case FaultReset:
		x.rec.finish(x.clock.now())
		reset(x.w)
	}
}

// send writes and flushes what has been rendered, which carries that many
// tokens. After the last it completes the record, before the client can see it.
// It reports whether the client is still there.
func (x *exchange) send(tokens int, last bool) bool {
	x.rec.Status = http.StatusOK
	now := x.clock.now()
	for range tokens {
		x.rec.Tokens = append(x.rec.Tokens, now)
	}
	if last {
		x.rec.finish(now)
	}
	_, err := x.w.Write(x.out.buf)
	if err == nil {
		err = x.rc.Flush()
	}
	x.out.buf = x.out.buf[:0]
	if err != nil {
		x.abort()
	}
	return err == nil
}

// abort ends an answer whose client is gone.
func (x *exchange) abort() { x.rec.abort(x.clock.now()) }

// reset closes the connection under an answer, so that the client sees an error:
// a TCP connection is reset, any other just closed.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the server's way to do it
	}
	if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}
