package mockserver

import (
	"net/http"
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// whole answers a request that is not streamed, when its last token is due or
// its fault strikes.
func (x *exchange) whole() {
	if x.fault.Kind == fault.Stall {
		<-x.ctx.Done()
	}
	if x.turn.token(x.ctx, len(x.turn.timetable())-1) != nil {
		x.abort()
		return
	}
	x.out.bare = true
	x.held = x.req.output
	half := 0
	switch x.fault.Kind {
	case fault.Reset:
		x.rec.finish(x.clock.now())
		hangUp(x.w, true)
		return
	case fault.Empty:
		x.held = 0
	case fault.ErrorEvent, fault.NamedError:
		x.held = 0
		x.out.add(x.dialect.errorBody(errInjected))
	case fault.ErrorString:
		x.held = 0
		x.out.add(plainError(errInjected))
	case fault.Truncate, fault.Malformed, fault.FIN:
		x.enc.whole()
		half = len(x.out.buf) - len(x.out.buf)/2
		x.out.buf = x.out.buf[:len(x.out.buf)/2]
	case fault.LongLine:
		// The answer follows in the same object, so that it is still one.
		if x.out.doc = 0; !x.long(`{"pad":"`) {
			return
		}
		x.enc.whole()
		x.out.buf[0] = ','
		x.out.buf = append([]byte(`"`), x.out.buf...)
		x.flush(true)
		return
	default:
		x.enc.whole()
	}
	if x.fault.Kind == fault.FIN {
		x.w.Header().Set("Content-Length", strconv.Itoa(len(x.out.buf)+half))
		if x.flush(false) {
			x.rec.finish(x.clock.now())
			hangUp(x.w, false)
		}
		return
	}
	if x.fault.Kind != fault.Gzip {
		x.w.Header().Set("Content-Length", strconv.Itoa(len(x.out.buf)))
	}
	x.w.WriteHeader(http.StatusOK)
	x.flush(true)
}
