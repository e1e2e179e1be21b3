package mockserver

import (
	"bytes"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// cutStream ends a stream with a fault after which no more output is sent. The fault
// occurs when token k is due.
func (x *exchange) cutStream(k int) {
	if x.pending > 0 && !x.flush(false) { // send the tokens before the fault
		return
	}
	if x.fault.Kind == fault.Stall {
		<-x.ctx.Done()
	}
	if x.place.WaitToken(x.ctx, k) != nil {
		x.abort()
		return
	}
	switch x.fault.Kind {
	case fault.ErrorEvent, fault.NamedError, fault.ErrorString:
		x.renderError()
		x.send(0, true)
	case fault.Truncate:
		x.send(0, true) // writes at least the header, so that the body is chunked
	case fault.Empty:
		x.rec.Status = http.StatusOK
		x.rec.finish(x.clock.Now())
		x.w.WriteHeader(http.StatusOK)
	case fault.FIN:
		if x.flush(false) { // writes at least the header
			x.rec.finish(x.clock.Now())
			hangUp(x.w, false)
		}
	case fault.Reset, fault.Die:
		x.reset()
	}
}

// reset resets the connection before the end of the answer. With the fault die, the server dies first.
func (x *exchange) reset() {
	if x.fault.Kind == fault.Die {
		x.die()
	}
	x.rec.finish(x.clock.Now())
	hangUp(x.w, true)
}

// renderError renders the events that a server sends when it fails in the middle of a
// stream, after status 200.
func (x *exchange) renderError() {
	named := x.fault.Kind == fault.NamedError
	if enc, ok := x.enc.(wire.Failer); ok && x.fault.Kind != fault.ErrorString {
		enc.Failed(wire.Injected, named)
		return
	}
	body := x.dialect.ErrorBody
	switch {
	case x.fault.Kind == fault.ErrorString:
		body = wire.PlainError
	case x.dialect.StreamErrorBody != nil:
		body = x.dialect.StreamErrorBody
	}
	event := ""
	if named {
		event = "error"
	}
	x.out.Document(event, body(wire.Injected))
	if x.fault.Kind == fault.ErrorEvent && x.dialect.HasDone {
		x.out.Done()
	}
}

// insertFault renders or sends the event that a fault inserts into a stream. The stream
// continues after it. insertFault reports whether the client is still connected.
func (x *exchange) insertFault() bool {
	switch x.fault.Kind {
	case fault.Malformed: // an unfinished object
		x.out.Document("", `{"choices":[{"index":0,`)
	case fault.LongLine:
		if x.pending > 0 && !x.flush(false) {
			return false
		}
		x.out.Begin("")
		if x.out.Binary() {
			x.out.Add(`{"pad":"`)
			x.out.Buf = append(x.out.Buf, bytes.Repeat([]byte("m"), max(int(x.fault.LineSize())-x.out.LineLength()-len(`"}`), 0))...)
		} else if !x.sendLongString() {
			return false
		}
		x.out.Add(`"}`)
		x.out.EndVerbatim()
	}
	return true
}

// sendLongString sends the beginning of a JSON object with one long string, without the
// closing quote and brace. The caller adds these two; then the line has exactly the size
// that the fault prescribes. The object is in the current event or is the whole answer.
// sendLongString reports whether the client is still connected.
func (x *exchange) sendLongString() bool {
	x.out.Add(`{"pad":"`)
	x.rec.Status = http.StatusOK
	left := max(x.fault.LineSize()-int64(x.out.LineLength()+len(`"}`)), 0)
	ok := x.push(x.out.Buf, false)
	x.out.Clear()
	block := bytes.Repeat([]byte("mock"), 16<<10)
	for ; ok && left > 0; left -= int64(len(block)) {
		ok = x.ctx.Err() == nil && x.push(block[:min(left, int64(len(block)))], false)
	}
	if !ok {
		x.abort()
	}
	return ok
}
