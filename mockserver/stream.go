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
	opened := x.fault.Kind == fault.Empty // such a stream has no opening
	if x.out.Shape.RoleFirst && !opened {
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
		to := from + x.out.Shape.ChunkTokens()
		if !endless {
			to = min(end, to)
			last = to == x.req.Output
		}
		if x.place.WaitToken(x.ctx, max(to, 1)-1) != nil {
			x.abort()
			return
		}
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

// endMarker renders [DONE], where the dialect has it, and what the shape adds
// after the end of the stream.
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
