package mockserver

import (
	"net/http"
	"strconv"
)

// whole answers a request that is not streamed, when its last token is due or
// its fault strikes.
func (x *exchange) whole() {
	if x.fault.Kind == FaultStall {
		<-x.ctx.Done()
	}
	if x.turn.token(x.ctx, len(x.turn.due)-1) != nil {
		x.abort()
		return
	}
	tokens := x.req.output
	switch x.fault.Kind {
	case FaultReset:
		x.rec.finish(x.clock.now())
		reset(x.w)
		return
	case FaultEmpty:
		tokens = 0
	case FaultErrorEvent:
		tokens = 0
		x.out.add(string(errInjected.body()))
	case FaultTruncate, FaultMalformed:
		x.out.whole()
		x.out.buf = x.out.buf[:len(x.out.buf)/2]
	default:
		x.out.whole()
	}
	header := x.w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(x.out.buf)))
	x.w.WriteHeader(http.StatusOK)
	x.send(tokens, true)
}
