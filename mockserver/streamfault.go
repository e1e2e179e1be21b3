package mockserver

import (
	"bytes"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// cutStream ends a stream with a fault after which nothing of the output follows.
// The fault occurs when token k is due.
func (x *exchange) cutStream(k int) {
	if x.pending > 0 && !x.flush(false) { // the tokens before the fault are sent
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
	case fault.Reset:
		x.rec.finish(x.clock.Now())
		hangUp(x.w, true)
	}
}

// renderError renders the events of a server that fails after it has sent status
// 200.
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
	x.out.Begin(event)
	x.out.Add(body(wire.Injected))
	x.out.End()
	if x.dialect.HasDone && x.fault.Kind == fault.ErrorEvent {
		x.out.Done()
	}
}

// insertFault renders or sends what a fault inserts before a token that is sent
// all the same. It reports whether the client is still there.
func (x *exchange) insertFault() bool {
	switch x.fault.Kind {
	case fault.Malformed: // an object that breaks off
		x.out.Begin("")
		x.out.Add(`{"choices":[{"index":0,`)
		x.out.End()
	case fault.LongLine:
		if x.pending > 0 && !x.flush(false) {
			return false
		}
		x.out.Begin("")
		if !x.sendLongString() {
			return false
		}
		x.out.Add(`"}`)
		x.out.EndVerbatim()
	}
	return true
}

// sendLongString begins an object in the current event, or in the answer, with a
// string member and sends all but the end of the string. With a quote and a brace
// after it the line has the size of the fault. It reports whether the client is
// still there.
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
