package gatewaytest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// A floodAnswer writes an answer with a flood, made of an ordinary answer. It returns false if the answer's format has no
// place for a flood.
type floodAnswer func(w http.ResponseWriter, answer []byte, x *exchange) bool

// A flood is a part of a request or of an answer that does not end by itself. Its writer gives up after [flood.limit] bytes,
// or when the time is over.
type flood struct {
	what   string
	answer floodAnswer // nil if the request is the flood
	silent bool        // the client does not read
	limit  int64
	until  time.Time

	in, out atomic.Int64 // bytes that the gateway took, and that it passed on
	unfit   atomic.Bool  // the upstream's API has no place for the flood
	refused atomic.Bool  // the gateway has answered a request before its end
}

var limitCases = []testCase{
	{class: "limits", name: "answer-header", does: "an answer whose header does not end", plan: plan{stream: true}, run: flooded("an answer's header", endlessHeader, false), alone: true},
	{class: "limits", name: "event", does: "an event that does not end", plan: plan{stream: true}, run: flooded("an event", endlessAfterMarker, false), alone: true},
	{class: "limits", name: "tool-name", does: "a tool call whose name does not end", plan: plan{stream: true, tools: true}, run: flooded("a tool's name", endlessName, false), alone: true},
	{class: "limits", name: "events", does: "a stream that does not end", plan: plan{stream: true}, run: flooded("events", endlessEvents, false), alone: true},
	{class: "limits", name: "body", does: "an answer that is not streamed and does not end", plan: plan{}, run: flooded("an answer", endlessAfterMarker, false), alone: true},
	{class: "limits", name: "silent-client", does: "a stream that does not end, and whose client does not read", plan: plan{stream: true}, run: flooded("events", endlessEvents, true), alone: true},
	{class: "limits", name: "request-header", does: "a request whose header does not end", run: floodsHeader, alone: true},
	{class: "limits", name: "request-body", does: "a request whose body does not end", run: flooded("a request's body", nil, false), alone: true},
	{class: "limits", name: "slow-requests", does: "100 clients that do not complete their requests", run: slowRequests, alone: true},
}

// flooded returns what runs a case with a flood.
func flooded(what string, answer floodAnswer, silent bool) func(*kit, testCase) Result {
	return func(k *kit, c testCase) (r Result) {
		f := &flood{what: what, answer: answer, silent: silent, limit: k.floodLimit(), until: time.Now().Add(k.wait() / 2)}
		p := c.plan
		p.flood = f
		x := k.newExchange(p, k.key(0))
		r = k.meanwhile(f.what, func() (flows func() []Finding) {
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				x.do(ctx)
			}()
			select {
			case <-x.arrived:
			case <-ended:
			case <-time.After(time.Until(f.until)):
			}
			return func() []Finding {
				defer cancel()
				if f.silent {
					f.await()
					x.leaves(cancel)
				}
				<-ended
				return f.judge(x)
			}
		})
		if f.unfit.Load() {
			return Result{Skipped: "the API of the upstream has binary messages, of a known length"}
		}
		return r
	}
}

// floodLimit returns the number of bytes after which a flood ends.
func (k *kit) floodLimit() int64 { return 2 * k.o.GrowWithin }

// meanwhile starts something, sends an ordinary request beside it, waits for the end of what was started, and sends another
// request. The gateway's memory is watched.
func (k *kit) meanwhile(what string, start func() (end func() []Finding)) (r Result) {
	if k.o.Measure == nil {
		k.unmeasured.Do(func() {
			r.Facts = append(r.Facts, unmeasured+", and the class limits checked only what clients and upstreams see")
		})
	}
	grown := k.watch()
	end := start()
	beside := k.once(plan{stream: true})
	r.Findings = end()
	grew, err := grown()
	switch {
	case err != nil:
		r.Facts = append(r.Facts, fmt.Sprintf("the gateway could not be measured: %v", err))
	case grew > k.o.GrowWithin:
		r.Findings = append(r.Findings, Finding{Rule: "memory", Says: fmt.Sprintf("the gateway grew by %s because of %s without end: want at most %s (Options.GrowWithin)", megabytes(grew), what, megabytes(k.o.GrowWithin))})
	case k.o.Measure != nil:
		r.Facts = append(r.Facts, fmt.Sprintf("the gateway grew by %s", megabytes(max(grew, 0))))
	}
	for _, other := range []struct {
		rule, when string
		x          *exchange
	}{{"serves", "meanwhile, ", beside}, {"next", "afterwards, ", k.once(plan{stream: true})}} {
		for _, f := range judgeSame(other.x) {
			f.Rule, f.Says = other.rule+"-"+f.Rule, other.when+"an ordinary request went wrong: "+f.Says
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}

// judge says what the gateway did with a flood.
func (f *flood) judge(x *exchange) []Finding {
	if x.hung > 0 && !f.silent {
		return x.reached()
	}
	in, out := f.in.Load(), f.out.Load()
	switch {
	case f.answer == nil && x.in.status >= 400: // the gateway refused the request, and what it takes afterwards, it only discards
		return nil
	case in >= f.limit && out < f.limit/2:
		passed := fmt.Sprintf("passed %s on", megabytes(out))
		if f.silent {
			passed = "the client read none of them"
		}
		return []Finding{{Rule: "unbounded", Says: fmt.Sprintf("the gateway took %s of %s without end, and %s: it has no limit, or one above that", megabytes(in), f.what, passed)}}
	case f.silent:
		return judgeLeft(x)
	case f.answer != nil && x.last() == nil:
		return x.reached()
	}
	if got := x.client(); got.status == http.StatusOK && got.err == nil && got.fault == "" && got.finish != "" {
		return []Finding{x.say("success", "%s without end broke off, and the client got a complete answer", f.what)}
	}
	return nil
}

// piece is what floods are made of.
var piece = bytes.Repeat([]byte("a"), 64<<10)

// write writes a piece over and over, until the reader gives up, or the flood ends.
func (f *flood) write(w io.Writer, piece []byte) error {
	for f.in.Load() < f.limit && time.Now().Before(f.until) && !f.refused.Load() {
		n, err := w.Write(piece)
		f.in.Add(int64(n))
		if err != nil {
			return err
		}
	}
	return errFlood
}

// errFlood reports that a flood ended because the kit ended it.
var errFlood = errors.New("the flood is over")

// await waits until the flood ends, or does not go on for a second.
func (f *flood) await() {
	for last := int64(-1); time.Now().Before(f.until) && f.in.Load() < f.limit && f.in.Load() != last; {
		last = f.in.Load()
		time.Sleep(longPause)
	}
}

// serve answers a request at an upstream.
func (f *flood) serve(w http.ResponseWriter, r *http.Request, x *exchange) {
	if f.answer == nil { // the request is the flood
		n := int64(0)
		for buf, err := make([]byte, 64<<10), error(nil); err == nil; f.out.Add(n) {
			var got int
			got, err = r.Body.Read(buf)
			n = int64(got)
		}
		panic(http.ErrAbortHandler)
	}
	whole := &kept{header: http.Header{}}
	x.sound.ServeHTTP(whole, r)
	for name, values := range whole.header {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	if !f.answer(w, whole.body.Bytes(), x) {
		f.unfit.Store(true)
		w.Write(whole.body.Bytes())
		return
	}
	panic(http.ErrAbortHandler)
}

// A kept is a ResponseWriter that keeps an answer.
type kept struct {
	header http.Header
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) WriteHeader(int)             {}
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }
func (k *kept) Flush()                      {}

// headerLines are header fields.
func headerLines() []byte {
	return bytes.Repeat([]byte("X-Gatewaytest: "+strings.Repeat("a", 1000)+"\r\n"), 64)
}

// endlessHeader writes a header that does not end.
func endlessHeader(w http.ResponseWriter, _ []byte, x *exchange) bool {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	defer c.Close()
	c.SetWriteDeadline(x.plan.flood.until)
	io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
	x.plan.flood.write(c, headerLines())
	return true
}

// endlessAfter writes an answer up to the end of a text in it, and then letters without end.
func endlessAfter(w http.ResponseWriter, answer []byte, x *exchange, text string) bool {
	before, _, found := bytes.Cut(answer, []byte(text))
	if !found || binary(w.Header()) {
		return false
	}
	w.Write(before)
	io.WriteString(w, text)
	x.plan.flood.write(w, piece)
	return true
}

// binary reports whether an answer has binary messages, each of which states its length.
func binary(h http.Header) bool { return mediaType(h) == "application/vnd.amazon.eventstream" }

// endlessAfterMarker writes a text that does not end.
func endlessAfterMarker(w http.ResponseWriter, answer []byte, x *exchange) bool {
	return endlessAfter(w, answer, x, x.marker)
}

// endlessName writes a name of a tool that does not end.
func endlessName(w http.ResponseWriter, answer []byte, x *exchange) bool {
	return endlessAfter(w, answer, x, x.query().Tools[0].Name)
}

// endlessEvents repeats the first event with text.
func endlessEvents(w http.ResponseWriter, answer []byte, x *exchange) bool {
	end := "\n\n"
	if !bytes.Contains(answer, []byte(end)) {
		end = "\n"
	}
	at := bytes.Index(answer, []byte(x.marker))
	if at < 0 || binary(w.Header()) {
		return false
	}
	from := bytes.LastIndex(answer[:at], []byte(end))
	if from >= 0 {
		from += len(end)
	}
	from = max(from, 0)
	event, _, _ := bytes.Cut(answer[from:], []byte(end))
	event = append(bytes.Clone(event), end...)
	w.Write(answer[:from])
	x.plan.flood.write(w, bytes.Repeat(event, len(piece)/len(event)+1))
	return true
}

// An endlessBody is the body of a request: some bytes, and then letters without end.
type endlessBody struct {
	head []byte
	f    *flood
}

// Read fills b.
func (e *endlessBody) Read(b []byte) (int, error) {
	if len(e.head) > 0 {
		n := copy(b, e.head)
		e.head = e.head[n:]
		return n, nil
	}
	if e.f.in.Load() >= e.f.limit || time.Now().After(e.f.until) {
		return 0, errFlood
	}
	n := copy(b, piece)
	e.f.in.Add(int64(n))
	return n, nil
}

// maxKept is how much of the end of a flood the client keeps.
const maxKept = 64 << 10

// keep returns the end of a body with more bytes, and counts the bytes.
func (f *flood) keep(body, more []byte) []byte {
	f.out.Add(int64(len(more)))
	body = append(body, more...)
	return append(body[:0], body[max(0, len(body)-maxKept):]...)
}

// dial opens a connection to the gateway.
func (k *kit) dial() (net.Conn, error) {
	u, err := url.Parse(k.url)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: k.wait()}
	port := cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme], "80")
	addr := net.JoinHostPort(u.Hostname(), port)
	if u.Scheme == "https" {
		return tls.DialWithDialer(&d, "tcp", addr, nil)
	}
	return d.Dial("tcp", addr)
}

// requestHead returns the beginning of a request's header, without the blank line at its end.
func (k *kit) requestHead() string {
	u, _ := url.Parse(k.url) // the URL was used before
	name, value := dialect.KeyHeader(k.api, k.key(0))
	path := k.api.Path(dialect.Query{Model: k.o.Model, Stream: true})
	return fmt.Sprintf("POST %s%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%s: %s\r\n", u.Path, path, u.Host, name, value)
}

// floodsHeader sends a request whose header does not end.
func floodsHeader(k *kit, _ testCase) Result {
	f := &flood{what: "a request's header", limit: k.floodLimit(), until: time.Now().Add(k.wait() / 2)}
	return k.meanwhile(f.what, func() func() []Finding {
		c, err := k.dial()
		if err != nil {
			return func() []Finding {
				return []Finding{{Rule: "connect", Says: fmt.Sprintf("the gateway took no connection: %v", err)}}
			}
		}
		ended := make(chan error, 1)
		c.SetDeadline(f.until)
		go func() {
			if n, _ := c.Read(make([]byte, 1)); n > 0 {
				f.refused.Store(true) // what it takes afterwards, it only discards
			}
		}()
		go func() {
			io.WriteString(c, k.requestHead())
			f.write(c, headerLines())
			ended <- c.Close()
		}()
		return func() []Finding {
			<-ended
			if in := f.in.Load(); in >= f.limit && !f.refused.Load() {
				return []Finding{{Rule: "unbounded", Says: fmt.Sprintf("the gateway took %s of %s without end: it has no limit, or one above that", megabytes(in), f.what)}}
			}
			return nil
		}
	})
}

// slowClients is the number of clients that do not complete their requests.
const slowClients = 100

// slowRequests opens connections whose requests stay incomplete: one half in the header, the other in the body.
func slowRequests(k *kit, _ testCase) (r Result) {
	var before Footprint
	var err error
	if k.o.Measure != nil {
		before, err = k.o.Measure()
	}
	r = k.meanwhile("requests", func() func() []Finding {
		var open []net.Conn
		var found []Finding
		for i := range slowClients {
			c, err := k.dial()
			if err != nil {
				found = []Finding{{Rule: "connect", Says: fmt.Sprintf("while %d clients had not completed their requests, the gateway took no further connection: %v", i, err)}}
				break
			}
			open = append(open, c)
			io.WriteString(c, k.requestHead())
			if i%2 == 0 {
				io.WriteString(c, "Content-Length: 1000\r\n\r\n{")
			}
		}
		return func() []Finding {
			for _, c := range open {
				c.Close()
			}
			return found
		}
	})
	if err == nil {
		r.Findings = append(r.Findings, k.leftBehind(before)...)
	}
	return r
}

// leftBehind says what the gateway still has of slow requests after their clients have left.
func (k *kit) leftBehind(before Footprint) []Finding {
	if k.o.Measure == nil {
		return nil
	}
	for deadline := time.Now().Add(k.o.LeaveWithin); ; time.Sleep(sampling) {
		now, err := k.o.Measure()
		if err != nil {
			return nil
		}
		const most = slowClients / 4
		goroutines, files := now.Goroutines-before.Goroutines, now.Files-before.Files
		if goroutines < most && files < most {
			return nil
		}
		if time.Now().After(deadline) {
			return []Finding{{Rule: "left-behind", Says: fmt.Sprintf("%v after the clients of %d incomplete requests had left, the gateway had %d goroutines and %d open files more than before", k.o.LeaveWithin, slowClients, max(goroutines, 0), max(files, 0))}}
		}
	}
}
