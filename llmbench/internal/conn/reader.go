package conn

import (
	"io"
	"time"
)

// A Reader reads the body of a response, and keeps the instants of its Reads.
type Reader struct {
	body   io.Reader
	clock  Clock
	conn   *Conn         // connection from which body reads, or nil
	stream *muxBody      // body, if it is a stream that shares the connection; else nil
	sent   time.Duration // when the request was sent
	// Data is the arrival of the bytes that were read last. End is the arrival of whatever was read last,
	// which may be the end of the body.
	Data, End Arrival
	// Batch is the number of the batch to which Data belongs. A batch consists of bytes with the same
	// timestamp. All of them arrived at Since or later.
	Batch uint32
	Since time.Duration
}

// Reset makes r read body, which must be the body of the response to the request that t traces. It is not
// inlined, so that it adds nothing to the stack of a stream that waits.
//
//go:noinline
func (r *Reader) Reset(body io.Reader, t *Trace) {
	*r = Reader{body: body, clock: t.Clock, conn: t.conn, End: t.FirstByte, Since: t.Sent}
	if r.stream, _ = body.(*muxBody); r.stream != nil {
		r.sent = t.Sent
		r.noteMoment()
		return
	}
	if t.conn != nil {
		if r.Batch = t.conn.batch.number; r.Batch > 1 { // the head came in several batches
			r.Since, _ = t.FirstByte.On(t.Clock)
		}
	}
}

// noteMoment takes over what the connection knew when it read the bytes that the stream returned last.
func (r *Reader) noteMoment() {
	at := &r.stream.at
	r.End.Stamp, r.Batch = at.stamp, at.batch
	if r.Since = r.clock.FromWall(at.afterStamp); at.afterStamp == 0 {
		r.Since = r.stream.mux.from.base.Add(at.after).Sub(r.clock.Start())
	}
	r.Since = max(r.Since, r.sent)
}

// Read reads from the body. Bytes from a buffer have the timestamp of the earlier read that filled the
// buffer, because the connection is read again only when the buffer is empty. The end of a chunked body has
// a timestamp, too: it consists of bytes of the connection, although the caller does not see them.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	before := r.End
	r.End.User = r.clock.Now()
	if r.stream != nil {
		r.noteMoment()
	} else if r.conn != nil {
		r.End.Stamp = r.conn.stamp
		if b := &r.conn.batch; b.number != r.Batch {
			r.Batch = b.number
			if r.Since = before.User; !b.waited {
				r.Since, _ = before.On(r.clock)
			}
		}
	}
	if n > 0 {
		r.Data = r.End
	}
	return n, err
}

// fastGap is the maximum time between two batches of a fast stream, and the maximum time after which they are read.
const fastGap = 100 * time.Microsecond

// Fast reports whether bytes come in quick succession and are read as quickly: the last batch came fastGap after the one
// before or sooner, and was read fastGap later or sooner, with everything else that is known to have arrived. It is false
// without timestamps, and for streams that share a connection.
func (r *Reader) Fast() bool {
	if r.stream != nil || r.conn == nil || r.Data.Stamp == 0 || r.conn.kernel.waits() {
		return false
	}
	at, lag := r.Data.On(r.clock)
	return at-r.Since < fastGap && lag < fastGap
}

// Await waits until there is something to read, or until the connection ends. It may return earlier. A
// connection needs less memory while it waits in Await than while it waits in Read.
func (r *Reader) Await() {
	if b, ok := r.body.(awaiter); ok {
		b.await()
	}
}

// CanAwait reports whether Await waits. If not, Read waits.
func (r *Reader) CanAwait() bool {
	b, ok := r.body.(awaiter)
	return ok && b.canAwait()
}

// An awaiter is a body that may be able to wait without being read.
type awaiter interface {
	await()
	canAwait() bool
}

// Merged reports whether the last batch arrived, or may have arrived, in more than one TCP segment. If so,
// only the last of its bytes arrived at the instant of Data; the others arrived between Since and this
// instant. Merged returns false for a connection without timestamps.
func (r *Reader) Merged() bool {
	if r.stream != nil {
		return r.stream.at.several
	}
	return r.conn != nil && r.conn.kernel != nil && r.conn.batch.several
}

// Follows reports whether there are more bytes of the last batch after the bytes that were read last. They may belong to
// another stream of the connection.
func (r *Reader) Follows() bool {
	if r.stream != nil {
		return r.stream.at.follows
	}
	return r.conn != nil && (r.conn.holds() || r.conn.batch.open)
}
