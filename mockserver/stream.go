package mockserver

import (
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// stream sends each chunk of a streamed answer when it is due.
func (x *exchange) stream() {
	x.w.Header().Set("Cache-Control", "no-cache")
	endless := x.fault.Kind == fault.Endless
	faultAt, end := x.fault.Token(x.req.Output), x.req.Output
	if x.fault.Cuts() {
		end = faultAt
	}
	opened := x.fault.Kind == fault.Empty // an empty stream has no opening
	if x.out.Shape.RoleFirst && !opened {
		x.beginOutput()
		if x.enc.Opening(); len(x.out.Buf) > 0 {
			if !x.flush(false) {
				return
			}
			opened = true
		}
	}
	for from, last := 0, false; !last; {
		if x.fault.Cuts() && from == end {
			x.cutStream(faultAt)
			return
		}
		to, ok := x.awaitChunk(from, end, endless)
		if !ok {
			return
		}
		last = !endless && to == x.req.Output
		x.beginOutput()
		if !opened {
			x.enc.Opening()
			opened = true
		}
		if from <= faultAt && (faultAt < to || last) && !x.insertFault() {
			return
		}
		if last {
			x.enc.Last(from, to)
			x.endMarker()
		} else {
			x.enc.Tokens(from, to)
		}
		if !x.send(to-from, last) {
			return
		}
		from = to
	}
}

// awaitChunk waits until the next chunk is due. The chunk's tokens have the indices from to to-1.
// Unless the stream is endless, to is at most end. ok is false if the client is no longer
// connected.
func (x *exchange) awaitChunk(from, end int, endless bool) (to int, ok bool) {
	sh := x.out.Shape
	to = from + sh.ChunkTokens()
	if !endless {
		to = min(end, to)
	}
	if x.place.WaitToken(x.ctx, max(to, 1)-1) != nil {
		x.abort()
		return 0, false
	}
	if sh.StepChunks && to > from {
		to = max(to, x.place.Step(from))
		if !endless {
			to = min(end, to)
		}
	}
	return to, true
}

// endMarker renders [DONE] if the dialect has it, and then what the shape
// adds after the end of the stream.
func (x *exchange) endMarker() {
	sh := x.out.Shape
	if x.dialect.HasDone && x.fault.Kind != fault.NoDone && sh.Done != shape.DoneNever {
		x.out.Done()
		if sh.Done == shape.DoneTwice {
			x.out.Done()
		}
	}
	if sh.AfterDone && !x.dialect.Unmarked {
		n := x.req.Output
		x.enc.Tokens(n, n+1)
		start := len(x.out.Buf)
		x.enc.Tokens(n+1, n+2)
		x.out.Buf = x.out.Buf[:start+(len(x.out.Buf)-start)/2]
	}
}
