package conn

import "time"

// A loss is what became of a request that got no byte of an answer.
type loss int

const (
	// The server may have worked on the request.
	worked loss = iota
	// The server closed the connection so soon that it cannot have worked on the request,
	// but the request had reached it. The server may have refused the request.
	unread
	// The server had closed the connection before the request reached it.
	unreached
)

const (
	// soon is the longest time without work, from the arrival of a request at the server
	// until the server closes the connection. llama-server (cpp-httplib) closes each
	// connection after its first streamed answer without saying so. The next request may
	// arrive before that. llama-server then closed the connection at most 0.25 ms after
	// the request had arrived.
	soon = 2 * time.Millisecond
	// soonAfterAnswer is the longest time from the end of an answer until a server closes
	// the connection because of that end. It is much longer than soon, as a busy machine
	// may run other threads in between.
	soonAfterAnswer = 100 * time.Millisecond
)

// An ending is what is known of the end of a connection that was used before, on which a
// request got no byte of an answer.
type ending struct {
	took        int64         // bytes of the request that the connection took
	whole       bool          // these were all of the request
	reset       bool          // the connection was reset, or failed in another way than by a FIN
	acked       int64         // bytes of the request that were acknowledged before the end; unknown: -1
	after       time.Duration // from the instant at which the request was written
	afterAnswer time.Duration // from the end of the answer before
	rtt         time.Duration // an upper bound of the round-trip time
}

// loss judges an ending. keeps says whether the server is known to keep connections open
// after answers.
//
// The segment that closes a connection acknowledges what has arrived before it (RFC 9293,
// 3.4), so a server that closes a connection while it works on a request has acknowledged
// the request. A reset tells less, because the kernel ignores what a reset acknowledges. But
// an acknowledgment is sent within 0.5 s in any case (RFC 9293, 3.8.6.3), and within 40 ms
// by Linux. So a server has hardly worked on a request that it had not acknowledged when
// the connection was reset. Most such resets come from gateways that have forgotten the connection.
//
// A server that has not kept a connection yet may close every connection after its answer.
// If such a server ended the connection soon after an answer, it did so because of that
// answer, and not because of the request that came next.
func (e ending) loss(keeps bool) loss {
	switch {
	case e.took == 0, e.acked == 0 && !e.reset:
		return unreached
	case e.acked == 0, !e.whole, e.after <= e.rtt+soon, !keeps && e.afterAnswer <= soonAfterAnswer:
		return unread
	}
	return worked
}

// A lookBack is what the kernel knows of a connection that the peer has ended and that this
// side has not closed yet.
type lookBack struct {
	acked int64 // bytes that the peer has acknowledged since the connection was opened
	// fin is an upper bound of the time from the last data that this side sent to the last
	// acknowledgment by the peer. A FIN of the peer is an acknowledgment, a reset is not.
	fin    time.Duration
	minRTT time.Duration // 0: unknown
}
