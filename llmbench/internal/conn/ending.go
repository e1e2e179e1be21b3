package conn

import "time"

// A loss says what happened to a request that got no byte of an answer.
type loss int

const (
	// The server may have processed the request.
	worked loss = iota
	// The request reached the server, but the server closed the connection too soon to have processed the
	// request. It may have refused the request.
	unread
	// The server had closed the connection before the request reached it.
	unreached
)

const (
	// If a server closes the connection within the time soon after a request has arrived, it cannot have
	// processed the request. An example is llama-server (cpp-httplib), which closes each connection after
	// its first streamed answer without announcing it. The next request may arrive just before that. In
	// measurements, llama-server closed the connection at most 0.25 ms after such a request had arrived.
	soon = 2 * time.Millisecond
	// If a server closes the connection within the time soonAfterAnswer after the end of an answer, it may
	// have done so because the answer had ended. This time is much longer than soon, because a busy machine
	// may run other threads in between.
	soonAfterAnswer = 100 * time.Millisecond
)

// An ending describes how a connection ended on which a request got no byte of an answer. The connection
// had been used before.
type ending struct {
	took        int64         // bytes of the request that were written to the connection
	whole       bool          // the whole request was written
	reset       bool          // the connection was reset, or failed in another way than by a FIN
	acked       int64         // bytes of the request that were acknowledged before the end; -1 means unknown
	after       time.Duration // time from the instant at which the request was written
	afterAnswer time.Duration // time from the end of the answer before
	rtt         time.Duration // an upper bound of the round-trip time
}

// loss returns what happened to the request. The argument keeps says whether the server is known to keep
// connections open after answers.
//
// The segment that closes a connection acknowledges what has arrived before it (RFC 9293, 3.4). So if a
// server closes a connection while it processes a request, it has acknowledged the request. A reset is less
// informative, because the kernel ignores what a reset acknowledges. But an acknowledgment is always sent
// within 0.5 s (RFC 9293, 3.8.6.3), and by Linux within 40 ms. If a server had not acknowledged a request
// when the connection was reset, it is therefore unlikely to have processed the request. Most such resets
// come from gateways that have forgotten the connection.
//
// A server that has not kept a connection yet may close every connection after its answer. If such a server
// closed the connection soon after an answer, the reason was this answer, and not the request that came
// next.
func (e ending) loss(keeps bool) loss {
	switch {
	case e.took == 0, e.acked == 0 && !e.reset:
		return unreached
	case e.acked == 0, !e.whole, e.after <= e.rtt+soon, !keeps && e.afterAnswer <= soonAfterAnswer:
		return unread
	}
	return worked
}

// A lookBack is the kernel's information about a connection that the peer has ended and that this side has
// not closed yet.
type lookBack struct {
	acked int64 // bytes that the peer has acknowledged since the connection was opened
	// fin is an upper bound of the time from the last data that this side sent to the peer's last
	// acknowledgment. A FIN of the peer counts as an acknowledgment, but a reset does not.
	fin    time.Duration
	minRTT time.Duration // 0 means unknown
}
