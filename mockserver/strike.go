package mockserver

import (
	"bytes"
	"net"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// strike does what the fault does to a stream that it cuts, when token k is due.
func (x *exchange) strike(k int) {
	if x.held > 0 && !x.flush(false) { // what was sent before is sent
		return
	}
	if x.fault.Kind == fault.Stall {
		<-x.ctx.Done()
	}
	if x.turn.token(x.ctx, k) != nil {
		x.abort()
		return
	}
	switch x.fault.Kind {
	case fault.ErrorEvent, fault.NamedError, fault.ErrorString:
		x.streamError()
		x.send(0, true)
	case fault.Truncate:
		x.send(0, true) // at least the header, so that the body is chunked
	case fault.Empty:
		x.rec.Status = http.StatusOK
		x.rec.finish(x.clock.now())
		x.w.WriteHeader(http.StatusOK)
	case fault.FIN:
		if x.flush(false) { // at least the header
			x.rec.finish(x.clock.now())
			hangUp(x.w, false)
		}
	case fault.Reset:
		x.rec.finish(x.clock.now())
		hangUp(x.w, true)
	}
}

// streamError adds the events of a server that failed after its status was sent.
func (x *exchange) streamError() {
	named := x.fault.Kind == fault.NamedError
	if enc, ok := x.enc.(failer); ok && x.fault.Kind != fault.ErrorString {
		enc.failed(errInjected, named)
		return
	}
	body, name := x.dialect.errorBody, ""
	if x.dialect.streamError != nil {
		body = x.dialect.streamError
	}
	if x.fault.Kind == fault.ErrorString {
		body = plainError
	}
	if named {
		name = "error"
	}
	x.out.begin(name)
	x.out.add(body(errInjected))
	x.out.end()
	if x.dialect.done && x.fault.Kind == fault.ErrorEvent {
		x.out.done()
	}
}

// interrupt does what a fault does before the struck token, which is sent all
// the same. It reports whether the client is still there.
func (x *exchange) interrupt() bool {
	switch x.fault.Kind {
	case fault.Malformed:
		x.malformed()
	case fault.LongLine:
		if x.held > 0 && !x.flush(false) {
			return false
		}
		x.out.begin("")
		return x.long(`{"pad":"`) && x.pad(`"}`)
	}
	return true
}

// malformed adds an event whose data is an object that breaks off.
func (x *exchange) malformed() {
	x.out.begin("")
	x.out.add(`{"choices":[{"index":0,`)
	x.out.end()
}

// long writes what has been rendered, the beginning of a JSON document and a
// string of such a length that the line is as long as the fault says, so far.
func (x *exchange) long(head string) bool {
	x.out.add(head)
	x.rec.Status = http.StatusOK
	left := x.fault.LineSize()
	line := len(x.out.buf) - x.out.doc + len(x.out.data) + len(`"}`)
	left = max(left-int64(line), 0)
	ok := x.push(x.out.buf, false)
	x.out.written()
	block := bytes.Repeat([]byte("mock"), 16<<10)
	for ; ok && left > 0; left -= int64(len(block)) {
		ok = x.ctx.Err() == nil && x.push(block[:min(left, int64(len(block)))], false)
	}
	if !ok {
		x.abort()
	}
	return ok
}

// pad ends such a document, without a spelling.
func (x *exchange) pad(tail string) bool {
	x.out.add(tail, x.out.eol)
	if !x.out.lines {
		x.out.add(x.out.eol)
	}
	return true
}

// hangUp closes the connection under an answer, so that the client sees the body
// cut off: by a TCP reset, or just closed.
func hangUp(w http.ResponseWriter, rst bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the server's way to do it
	}
	if w, ok := conn.(*wire); ok {
		conn = w.Conn
	}
	if tcp, ok := conn.(*net.TCPConn); ok && rst {
		tcp.SetLinger(0)
	}
	conn.Close()
}
