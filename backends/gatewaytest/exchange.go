package gatewaytest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/gatewaytest/internal/ask"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// A leaving says when a client leaves.
type leaving int

const (
	stays       leaving = iota
	onArrival           // when the upstream has the request, before it answers
	afterEvents         // after the first events of the stream
)

// leaveEvents is the number of events with text after which a client leaves.
const leaveEvents = 3

// A plan is what happens to one request: what the upstreams answer, how they write it, and what the client does.
type plan struct {
	stream   bool
	tokens   int                                // of the answer; 0 means 8
	prompt   int                                // bytes that are added to the prompt
	tools    bool                               // the request has a tool that must be called
	limit    int                                // of tokens, in the request; 0 means more than the answer has
	ask      func(text string) ask.Request      // returns the request, whose user says the text; nil means an ordinary one
	config   mockserver.Config                  // of the upstreams
	server   *mockserver.Server                 // answers in place of a new server with config, if not nil
	faulty   func(upstream int) bool            // whether an attempt at an upstream gets the faults of config; nil means all do
	edit     func([]byte) []byte                // changes each write
	cut      func(b []byte, r *rand.Rand) []int // where a write is divided
	pause    time.Duration                      // between the pieces
	lockstep bool                               // the upstream writes on when the client has what was written
	hop      bool                               // requests and answers have a header field that is for one connection alone
	leave    leaving
	flood    *flood        // a part of the request or of the answer that does not end; nil means none
	wait     time.Duration // in which the request must end; 0 means Options.Wait
}

// An exchange is one request through the gateway, with all that was seen of it at both ends.
type exchange struct {
	k             *kit
	plan          plan
	marker        string
	noise         string // the beginning of the prompt, so that routers by prefixes use all upstreams
	key           string // of the tenant
	body          []byte // of the request
	uri           string // of the request
	random        *rand.Rand
	sound, faulty *mockserver.Server

	arrived chan struct{} // closed when an upstream has the request
	news    chan struct{} // has an element if the client has read something since the last look

	mu       sync.Mutex
	attempts []*attempt
	in       message       // what the client has read
	began    bool          // the client certainly has text of the answer
	left     time.Time     // when the client left
	hung     time.Duration // the time after which the client gave up, or 0
	held     *held
}

// A held is text that a gateway held back.
type held struct {
	sent, got int // bytes of generated text that the upstream had written and the client had read
	after     time.Duration
}

// hopField is a field that belongs to one connection, because the field Connection names it (RFC 9110, 7.6.1).
const hopField = "X-Gatewaytest-Hop"

// accents are the ends of words, with characters of two, three and four bytes.
var accents = [...]string{"é", "世界", "😀", "", "ß\"", "한\\", "<b>"}

// answerOf returns an answer of n words, each of which has the marker.
func answerOf(marker string, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("%s.%d%s", marker, i, accents[i%len(accents)])
	}
	return strings.Join(words, " ")
}

// leastTTFT is the time to the first token. No real server answers faster, and a gateway of Go's library may break an answer
// that begins before the gateway knows that it has sent the whole request (https://go.dev/issue/40747).
const leastTTFT = 3 * time.Millisecond

// newExchange returns an exchange that upstreams know.
func (k *kit) newExchange(p plan, key string) *exchange {
	if p.tokens == 0 {
		p.tokens = 8
	}
	n := k.count.Add(1)
	x := &exchange{
		k: k, key: key, marker: fmt.Sprintf("gwt%sx%d", k.tag, n),
		random:  rand.New(rand.NewPCG(k.o.Seed, uint64(n))),
		arrived: make(chan struct{}), news: make(chan struct{}, 1),
	}
	x.plan, x.noise = p, fmt.Sprintf("%016x %016x ", x.random.Uint64(), x.random.Uint64())
	if p.config.TTFT == 0 && p.config.Engine == nil {
		p.config.TTFT = leastTTFT
	}
	if x.faulty, x.sound = p.server, p.server; p.server == nil {
		x.faulty = newServer(p.config, p.tokens)
		p.config.Faults = nil
		x.sound = newServer(p.config, p.tokens)
	}
	k.exchanges.Store(x.marker, x)
	return x
}

// newServer returns a server whose answers have the marker of their prompt. Its configuration is part of this package.
func newServer(c mockserver.Config, tokens int) *mockserver.Server {
	c.Oracle = func(prompt string) (string, bool) {
		marker := markers.FindString(prompt)
		return answerOf(marker, tokens), marker != ""
	}
	s, err := mockserver.New(c)
	if err != nil {
		panic(err)
	}
	return s
}

// exchangeOf returns the exchange with a marker, or nil.
func (k *kit) exchangeOf(marker []byte) *exchange {
	x, _ := k.exchanges.Load(string(marker))
	found, _ := x.(*exchange)
	return found
}

// begin notes an attempt, and returns the server that answers it.
func (x *exchange) begin(a *attempt) *mockserver.Server {
	x.mu.Lock()
	defer x.mu.Unlock()
	a.id = fmt.Sprintf("%s-%d", x.marker, len(x.attempts))
	a.again = x.began
	x.attempts = append(x.attempts, a)
	if len(x.attempts) == 1 {
		close(x.arrived)
	}
	if f := x.plan.faulty; f != nil && !f(a.upstream.index) {
		return x.sound
	}
	return x.faulty
}

// cuts returns where a write is divided. A gateway may ask several upstreams at the same time.
func (x *exchange) cuts(b []byte) []int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.plan.cut(b, x.random)
}

// query returns the request.
func (x *exchange) query() dialect.Query {
	q := dialect.Query{Model: x.k.o.Model, Prompt: cmp.Or(strings.Repeat("more ", x.plan.prompt/len("more ")), x.noise) + x.marker, MaxTokens: cmp.Or(x.plan.limit, 2*x.plan.tokens+64), Stream: x.plan.stream}
	if x.plan.tools {
		q.Tools = []dialect.Tool{{
			Name: "forecast", Description: "weather of a city",
			Parameters: []byte(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city","days"]}`),
		}}
	}
	return q
}

// request returns the request of the client.
func (x *exchange) request(ctx context.Context) (*http.Request, error) {
	d, q := x.k.api, x.query()
	body, err := d.Body(q)
	if err != nil {
		return nil, err
	}
	if x.plan.ask != nil {
		r := x.plan.ask(x.noise + x.marker)
		r.Model, r.Stream, r.MaxTokens = q.Model, q.Stream, cmp.Or(r.MaxTokens, q.MaxTokens)
		body = ask.Write(d.Name(), r)
	}
	x.body, x.uri = body, d.Path(q)
	content := io.Reader(bytes.NewReader(body))
	if f := x.plan.flood; f != nil && f.answer == nil {
		head, _, _ := bytes.Cut(body, []byte(x.marker))
		content = &endlessBody{slices.Concat(head, []byte(x.marker+" ")), f}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.k.url+d.Path(q), content)
	if err != nil {
		return nil, err
	}
	if h, ok := d.(dialect.Headerer); ok {
		r.Header = h.Header()
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request-Id", x.marker)
	r.Header.Set(dialect.KeyHeader(d, x.key))
	if x.plan.hop {
		r.Header.Set("Connection", hopField)
		r.Header.Set(hopField, "client")
	}
	for name, values := range x.k.o.Header {
		r.Header[name] = values
	}
	return r, nil
}

// do sends the request, reads the answer, and waits until the upstreams have ended their work, all within the time of
// Options.Wait. It then ends the work of upstreams that go on.
func (x *exchange) do(ctx context.Context) {
	defer x.k.exchanges.Delete(x.marker)
	wait := cmp.Or(x.plan.wait, x.k.wait())
	whole, cancel := context.WithTimeoutCause(ctx, wait, errHung)
	defer cancel()
	ctx, leave := context.WithCancel(whole)
	defer leave()
	if x.plan.leave == onArrival {
		go func() {
			select {
			case <-x.arrived:
				x.leaves(leave)
			case <-ctx.Done():
			}
		}()
	}
	x.exchange(ctx, leave)
	if !x.hasLeft() && context.Cause(whole) == errHung {
		x.hung = wait
	}
	x.settle()
}

// errHung is the cause of the end of a request that took longer than Options.Wait.
var errHung = errors.New("no end in time")

// leaves makes the client leave.
func (x *exchange) leaves(leave func()) {
	x.mu.Lock()
	if x.left.IsZero() {
		x.left = time.Now()
	}
	x.mu.Unlock()
	leave()
}

// hasLeft reports whether the client has left.
func (x *exchange) hasLeft() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.left.IsZero()
}

// exchange sends the request and reads the answer.
func (x *exchange) exchange(ctx context.Context, leave func()) {
	r, err := x.request(ctx)
	if err != nil {
		x.in = message{err: err}
		return
	}
	resp, err := x.k.client.Do(r)
	if err != nil {
		x.mu.Lock()
		x.in = message{err: err}
		x.mu.Unlock()
		return
	}
	defer resp.Body.Close()
	x.mu.Lock()
	x.in = message{status: resp.StatusCode, header: resp.Header, stream: x.plan.stream}
	x.mu.Unlock()
	f := x.plan.flood
	if f != nil && f.silent {
		<-ctx.Done()
		return
	}
	for buf := make([]byte, 64<<10); ; {
		n, err := resp.Body.Read(buf)
		x.mu.Lock()
		if f != nil && f.answer != nil {
			x.in.body = f.keep(x.in.body, buf[:n])
		} else {
			x.in.body = append(x.in.body, buf[:n]...)
		}
		if err != nil && err != io.EOF {
			x.in.err = err
		}
		x.mu.Unlock()
		select {
		case x.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
		if x.plan.leave == afterEvents {
			if seen := read(x.k.api, x.in); strings.Count(seen.text, x.marker) >= leaveEvents {
				x.leaves(leave)
				return
			}
		}
	}
}

// settle waits until the upstreams have ended their work, which they do at once unless the gateway goes on reading.
func (x *exchange) settle() {
	deadline := time.NewTimer(x.k.o.LeaveWithin)
	defer deadline.Stop()
	for i := 0; ; i++ {
		x.mu.Lock()
		if i == len(x.attempts) {
			x.mu.Unlock()
			return
		}
		a := x.attempts[i]
		x.mu.Unlock()
		select {
		case <-a.done:
		case <-deadline.C:
			a.mu.Lock()
			a.late = true
			a.mu.Unlock()
			deadline.Reset(0)
			a.stop()
			<-a.done
		}
	}
}

// await makes the upstream wait until the client has read all the text that was written. It waits only once for nothing.
func (x *exchange) await(a *attempt) {
	x.mu.Lock()
	over := x.held != nil
	x.mu.Unlock()
	if over {
		return
	}
	sent := x.said(a)
	began, patience := time.Now(), time.NewTimer(x.k.patience())
	defer patience.Stop()
	for {
		x.mu.Lock()
		in := x.in
		x.mu.Unlock()
		got := read(x.k.api, in)
		if got.generated() >= sent.generated() || x.hasLeft() {
			x.mu.Lock()
			x.began = x.began || got.generated() > 0
			x.mu.Unlock()
			return
		}
		select {
		case <-x.news:
		case <-patience.C:
			x.k.holds.Add(1)
			x.mu.Lock()
			x.held = &held{sent.generated(), got.generated(), time.Since(began).Round(time.Millisecond)}
			x.mu.Unlock()
			return
		}
	}
}

// tries returns the attempts until now.
func (x *exchange) tries() []*attempt {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.attempts)
}

// last returns the last attempt, or nil.
func (x *exchange) last() *attempt {
	all := x.tries()
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// said returns what the upstream has said until now in an attempt.
func (x *exchange) said(a *attempt) reading {
	return read(x.k.dialectOf(a), a.message(x.asked(a).Stream))
}

// asked returns the translated request of an attempt. A request that is not translated asks for a stream if the client does.
func (x *exchange) asked(a *attempt) ask.Request {
	if d := x.k.dialectOf(a); d.Name() != x.k.api.Name() {
		if r, err := ask.Read(d.Name(), a.uri, a.body); err == nil {
			return r
		}
	}
	return ask.Request{Stream: x.plan.stream}
}

// upstream returns what the upstream said in the last attempt. ok is false if no request came to an upstream.
func (x *exchange) upstream() (r reading, ok bool) {
	a := x.last()
	if a == nil {
		return reading{}, false
	}
	r = x.said(a)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gone && r.failure() != "" {
		r.err, r.wrong = cmp.Or(r.err, errGone), cmp.Or(r.wrong, errGone)
	}
	return r, true
}

// client returns what the client was told.
func (x *exchange) client() reading { return read(x.k.api, x.in) }
