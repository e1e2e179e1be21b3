package gatewaytest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// An upstream is a simulated inference server at an address. The prompt of each request has a marker, by which the
// upstream finds the exchange that the request belongs to: gateways pass on prompts, but not always header fields.
type upstream struct {
	k     *kit
	index int
	url   string
	addr  string
	stop  func(time.Duration) // nil while the upstream is dead
}

// markers matches the marker of an exchange.
var markers = regexp.MustCompile(`gwt[0-9a-z]+x[0-9]+`)

// listen makes the upstream serve at its address, which is "127.0.0.1:0" for any free port at first.
func (u *upstream) listen() (err error) {
	u.url, u.stop, err = mockserver.Listen(u.addr, u)
	if err == nil {
		u.addr = u.url[len("http://"):]
	}
	return err
}

// kill makes the upstream refuse connections, and breaks those that are open.
func (u *upstream) kill() {
	if u.stop != nil {
		u.stop(0)
		u.stop = nil
	}
}

// ServeHTTP answers a request as the plan of its exchange says. A request without a marker, such as a health check, gets
// the answer of a server without faults.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const maxBody = 256 << 20
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	body, err := io.ReadAll(io.LimitReader(r.Body, headLength))
	x := u.floodOf(body)
	if x != nil {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), errReader{err}, r.Body))
	} else {
		if err == nil {
			var rest []byte
			rest, err = io.ReadAll(r.Body)
			body = append(body, rest...)
		}
		x = u.k.exchangeOf(markers.Find(body))
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), errReader{err}))
	}
	if x == nil {
		u.k.plain.ServeHTTP(w, r)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	a := &attempt{upstream: u, uri: r.URL.RequestURI(), header: r.Header.Clone(), body: body, w: w, cancel: cancel, done: make(chan struct{})}
	server := x.begin(a)
	broken := true
	defer func() { a.finish(broken, ctx.Err() != nil && !a.wroteAll(server)) }()
	r = r.WithContext(ctx)
	if f := x.plan.flood; f != nil {
		f.serve(w, r, x)
		return
	}
	r.Header = a.header.Clone()
	r.Header.Set("X-Request-Id", a.id)
	server.ServeHTTP(&recorder{ResponseWriter: w, x: x, a: a}, r)
	broken = false
}

// headLength is the number of bytes of a request by which an upstream recognizes a flood.
const headLength = 4 << 10

// floodOf returns the exchange with a flood to which a request belongs that begins with head, or nil.
func (u *upstream) floodOf(head []byte) *exchange {
	at := markers.FindIndex(head)
	if at == nil || at[1] == headLength { // the marker may go on
		return nil
	}
	if x := u.k.exchangeOf(head[at[0]:at[1]]); x != nil && x.plan.flood != nil {
		return x
	}
	return nil
}

// An errReader returns an error, or io.EOF if the error is nil.
type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) {
	if r.err == nil {
		return 0, io.EOF
	}
	return 0, r.err
}

// An attempt is one request that reached an upstream, with the bytes that the upstream wrote.
type attempt struct {
	id       string // in the server's log
	upstream *upstream
	uri      string
	header   http.Header
	body     []byte
	again    bool // the client had text of the answer before
	w        http.ResponseWriter
	cancel   context.CancelFunc // see stop
	done     chan struct{}      // closed when the upstream has ended its work

	mu     sync.Mutex
	status int
	sent   http.Header
	out    []byte
	ended  time.Time
	broken bool // the upstream broke the answer off
	gone   bool // the gateway had closed the connection when the upstream's work ended, perhaps after a complete answer
	late   bool // the upstream went on after the client's answer had ended, until the kit ended its work
}

// wroteAll reports whether the server wrote the whole answer. A gateway may close the connection as soon as it has read the
// end marker of a stream, which is before the end of the body.
func (a *attempt) wroteAll(server *mockserver.Server) bool {
	return slices.ContainsFunc(server.Log(), func(e mockserver.Entry) bool { return e.ID == a.id && !e.Aborted })
}

// stop ends the upstream's work, also a write to a gateway that keeps its connection and does not read.
func (a *attempt) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cancel()
	if a.ended.IsZero() { // afterwards, the connection may have another request
		http.NewResponseController(a.w).SetWriteDeadline(time.Now())
	}
}

// finish notes the end of the upstream's work.
func (a *attempt) finish(broken, gone bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.broken, a.gone = a.broken || broken, gone
	a.ended = time.Now()
	close(a.done)
}

// The reasons why an upstream's answer broke off.
var (
	errBroken = errors.New("the upstream broke the answer off")
	errGone   = errors.New("the gateway closed the connection")
)

// message returns what the upstream has written until now.
func (a *attempt) message(stream bool) message {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := message{status: a.status, header: a.sent, body: bytes.Clone(a.out), stream: stream}
	if a.broken {
		m.err = errBroken
	}
	return m
}

// A recorder is a ResponseWriter that keeps what is written, and writes it in the pieces that the plan asks for.
type recorder struct {
	http.ResponseWriter
	x *exchange
	a *attempt
}

func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader notes the status and the header.
func (w *recorder) WriteHeader(status int) {
	if w.x.plan.hop {
		w.Header().Set("Connection", hopField)
		w.Header().Set(hopField, "upstream")
	}
	if w.x.plan.edit != nil {
		w.Header().Del("Content-Length") // edit changes it
	}
	w.a.mu.Lock()
	w.a.status, w.a.sent = status, w.Header().Clone()
	w.a.mu.Unlock()
	w.ResponseWriter.WriteHeader(status)
}

// Write writes b in pieces.
func (w *recorder) Write(b []byte) (int, error) {
	if w.a.status == 0 { // only this goroutine sets it
		w.WriteHeader(http.StatusOK)
	}
	n, p := len(b), w.x.plan
	if p.edit != nil {
		b = p.edit(b)
	}
	from := 0
	cuts := []int(nil)
	if p.cut != nil {
		cuts = w.x.cuts(b)
	}
	for _, to := range append(cuts, len(b)) {
		if err := w.piece(b[from:to]); err != nil {
			return 0, err
		}
		if from = to; to < len(b) && p.pause > 0 {
			time.Sleep(p.pause) // so that the next piece comes in another read
		}
	}
	if p.lockstep {
		w.x.await(w.a)
	}
	return n, nil
}

// piece writes a piece.
func (w *recorder) piece(b []byte) error {
	w.a.mu.Lock()
	w.a.out = append(w.a.out, b...)
	w.a.mu.Unlock()
	_, err := w.ResponseWriter.Write(b)
	if err == nil && (w.x.plan.cut != nil || w.x.plan.lockstep) {
		err = http.NewResponseController(w.ResponseWriter).Flush()
	}
	return err
}

// Hijack notes that the upstream breaks the answer off: nothing else needs the connection.
func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.a.mu.Lock()
	w.a.broken = true
	w.a.mu.Unlock()
	return http.NewResponseController(w.ResponseWriter).Hijack()
}
