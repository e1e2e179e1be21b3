package mockserver

import (
	"net/http"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// answer waits for a slot and then sends the answer.
func (x *exchange) answer() {
	defer x.place.Leave()
	admitted, err := x.place.WaitAdmission(x.ctx)
	if err != nil {
		x.abort()
		return
	}
	x.admitted()
	x.rec.Admitted, x.rec.CachedTokens = admitted, x.place.Cached()
	x.queued = max(admitted-x.arrived, 0) // an engine's rounding may put the admission just before the arrival
	x.rec.Tokens = make([]time.Duration, 0, x.req.Output)
	contentType := "application/json"
	if x.req.Stream {
		contentType = x.dialect.ContentType
	}
	if x.fault.Kind == fault.WrongType {
		contentType = "text/html; charset=utf-8"
	}
	x.w.Header().Set("Content-Type", contentType)
	defer x.wrap()()
	if x.req.Stream {
		x.stream()
	} else {
		x.whole()
	}
}

// whole sends an answer that is not streamed. It waits until the last token is due, or
// until the token at which the fault occurs.
func (x *exchange) whole() {
	if x.fault.Kind == fault.Stall {
		<-x.ctx.Done()
	}
	if x.place.WaitToken(x.ctx, len(x.place.Timetable())-1) != nil {
		x.abort()
		return
	}
	x.beginOutput()
	x.out.Unframed = true
	x.pending = x.req.Output
	switch x.fault.Kind {
	case fault.Reset, fault.Die:
		x.reset()
		return
	case fault.FIN:
		x.halfOfWhole()
		return
	case fault.LongLine:
		x.longWhole()
		return
	case fault.Empty:
		x.pending = 0
	case fault.ErrorEvent, fault.NamedError:
		x.pending = 0
		x.out.Add(x.dialect.ErrorBody(wire.Injected))
	case fault.ErrorString:
		x.pending = 0
		x.out.Add(wire.PlainError(wire.Injected))
	case fault.Truncate, fault.Malformed:
		x.enc.Whole()
		x.out.Buf = x.out.Buf[:len(x.out.Buf)/2]
	default:
		x.enc.Whole()
	}
	if x.fault.Kind != fault.Gzip {
		x.w.Header().Set("Content-Length", strconv.Itoa(len(x.out.Buf)))
	}
	x.w.WriteHeader(http.StatusOK)
	x.flush(true)
}

// halfOfWhole sends a Content-Length for the whole answer but only half of the body, and
// hangs up.
func (x *exchange) halfOfWhole() {
	x.enc.Whole()
	x.w.Header().Set("Content-Length", strconv.Itoa(len(x.out.Buf)))
	x.out.Buf = x.out.Buf[:len(x.out.Buf)/2]
	if x.flush(false) {
		x.rec.finish(x.clock.Now())
		hangUp(x.w, false)
	}
}

// longWhole sends the answer with a long string as its first member.
func (x *exchange) longWhole() {
	x.out.Begin("")
	if !x.sendLongString() {
		return
	}
	x.enc.Whole()
	x.out.Buf[0] = ',' // replaces the brace that opens the object
	x.out.Buf = append([]byte(`"`), x.out.Buf...)
	x.flush(true)
}
