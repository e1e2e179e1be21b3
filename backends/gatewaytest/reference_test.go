package gatewaytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A reference is a gateway that passes on requests and answers as they come. It tries the next upstream if one refuses the
// connection, and its own errors have the form of OpenAI's API. A fault makes it wrong in one way.
type reference struct {
	upstreams []string
	fault     string
	next      atomic.Int64
	transport *http.Transport

	// For faults.
	dead  sync.Map // upstreams that are out of use
	open  atomic.Int64
	count atomic.Int64
	mu    sync.Mutex
	last  []byte
	owner int64 // the request that last is of, or 0
	kept  [][]byte
	room  chan struct{}
	over  chan struct{} // closed at the end of the test
}

// startReference starts a reference gateway.
func startReference(fault string) func(testing.TB, []string) string {
	return func(t testing.TB, upstreams []string) string {
		g := &reference{upstreams: upstreams, fault: fault, room: make(chan struct{}, 40), over: make(chan struct{}), transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 256}}
		s := httptest.NewUnstartedServer(g)
		switch fault {
		case "takes any header of an answer":
			g.transport.MaxResponseHeaderBytes = 1 << 40
		case "takes any header of a request":
			s.Config.MaxHeaderBytes = 1 << 30
		}
		s.Start()
		t.Cleanup(func() {
			close(g.over)
			s.CloseClientConnections()
			s.Close()
			g.transport.CloseIdleConnections()
		})
		return s.URL
	}
}

// upstreamKey is the key that the gateway sends to upstreams.
const upstreamKey = "key-of-the-upstream"

// fail answers with an error object.
func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "gateway_error", "code": status}})
}

// send sends a request to one upstream after another until one takes the connection.
func (g *reference) send(ctx context.Context, r *http.Request, body []byte) (resp *http.Response, err error) {
	for range g.upstreams {
		url := g.upstreams[int(g.next.Add(1))%len(g.upstreams)]
		if _, dead := g.dead.Load(url); dead {
			err = errors.New("the upstream is out of use")
			continue
		}
		out, _ := http.NewRequestWithContext(ctx, r.Method, url+r.URL.RequestURI(), bytes.NewReader(body))
		out.Header = r.Header.Clone()
		for _, name := range strings.Split(r.Header.Get("Connection"), ",") {
			out.Header.Del(strings.TrimSpace(name))
		}
		out.Header.Del("Connection")
		if g.fault != "leaks the tenant's key" {
			out.Header.Del("X-Api-Key")
			out.Header.Del("X-Goog-Api-Key")
			out.Header.Set("Authorization", "Bearer "+upstreamKey)
		}
		if g.fault == "passes hop-by-hop fields" {
			out.Header.Set(hopField, r.Header.Get(hopField))
		}
		if resp, err = g.transport.RoundTrip(out); err == nil {
			return resp, nil
		}
		switch g.fault {
		case "forgets an upstream that was dead":
			g.dead.Store(url, true)
		case "does not try another upstream":
			return nil, err
		}
	}
	return nil, err
}

func (g *reference) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.fault == "serves 40 clients at once" {
		g.room <- struct{}{}
		defer func() { <-g.room }()
	}
	body, err := g.read(r.Body)
	if errors.Is(err, errTooLarge) {
		w.Header().Set("Connection", "close")
		fail(w, http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	if err != nil {
		if g.fault == "keeps requests whose clients have left" {
			go g.stay()
		}
		return
	}
	if n := map[string]int{"leaks 1 KB a request": 1 << 10, "leaks 8 KB a request": 8 << 10}[g.fault]; n > 0 {
		g.mu.Lock()
		g.kept = append(g.kept, bytes.Repeat([]byte("a"), n))
		g.mu.Unlock()
	}
	if g.fault == "loses the end of large requests" && len(body) > 100_000 {
		body = bytes.Replace(body, []byte("more more more"), nil, 1)
	}
	ctx := r.Context()
	g.open.Add(1)
	defer g.open.Add(-1)
	if g.fault == "never answers" || g.fault == "hangs at tool calls" && bytes.Contains(body, []byte(`"tools"`)) {
		<-ctx.Done()
		return
	}
	if g.fault == "reads on after the client left" {
		ctx = context.WithoutCancel(ctx)
	}
	resp, err := g.send(ctx, r, body)
	if err != nil {
		g.unreachable(w, err)
		return
	}
	defer func() { resp.Body.Close() }()
	if g.fault == "reads ahead of its client" {
		resp.Body = io.NopCloser(readAhead(resp.Body))
	}
	if g.early(w, resp) {
		return
	}
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	for _, name := range strings.Split(resp.Header.Get("Connection"), ",") {
		w.Header().Del(strings.TrimSpace(name))
	}
	w.Header().Del("Connection")
	switch {
	case g.fault == "changes the content type":
		w.Header().Set("Content-Type", "text/plain")
	case g.fault == "turns 429 into 200" && resp.StatusCode == http.StatusTooManyRequests:
		resp.StatusCode = http.StatusOK
	case g.fault == "turns 400 into 500" && resp.StatusCode == http.StatusBadRequest:
		resp.StatusCode = http.StatusInternalServerError
	case g.fault == "drops Retry-After":
		w.Header().Del("Retry-After")
	}
	w.Header().Del("Content-Length")
	w.WriteHeader(resp.StatusCode)
	g.copy(w, r, resp, body)
}

// stay waits for the end of the test.
func (g *reference) stay() { <-g.over }

// readAhead reads a body as fast as it comes, and returns a reader of it.
func readAhead(body io.Reader) io.Reader {
	out, in := io.Pipe()
	parts := make(chan []byte, 1<<20)
	go func() {
		defer close(parts)
		for {
			b := make([]byte, 32<<10)
			n, err := body.Read(b)
			parts <- b[:n]
			if err != nil {
				in.CloseWithError(err)
				return
			}
		}
	}()
	go func() {
		for b := range parts {
			in.Write(b)
		}
	}()
	return out
}

// errTooLarge is the error for a body that the gateway does not keep.
var errTooLarge = errors.New("the body has more than 8 MB")

// read reads a body, which must not be too large.
func (g *reference) read(r io.Reader) ([]byte, error) {
	const most = 8 << 20
	if g.fault == "takes any body" {
		return io.ReadAll(r)
	}
	all, err := io.ReadAll(io.LimitReader(r, most))
	if len(all) == most {
		err = errTooLarge
	}
	return all, err
}

// copy passes the answer on.
func (g *reference) copy(w http.ResponseWriter, r *http.Request, resp *http.Response, body []byte) {
	f, ok := faults[g.fault]
	if !ok {
		f, ok = allowed[g.fault]
	}
	if !ok {
		f = limitless[g.fault]
	}
	stream := resp.ContentLength < 0
	if resp.StatusCode != http.StatusOK || !stream {
		g.copyWhole(w, r, resp, body, f.whole)
		return
	}
	pass := func(b []byte) []byte { return b }
	if f.part != nil {
		pass = f.part(g)
	}
	var rest []byte
	buf := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buf)
		if part := buf[:n]; g.fault == "sends each byte alone" {
			for i := range part {
				w.Write(part[i : i+1])
				http.NewResponseController(w).Flush()
			}
		} else if !f.events {
			w.Write(pass(part))
		} else {
			rest = append(rest, part...)
			for {
				event, after, ok := cutEvent(rest)
				if !ok {
					break
				}
				w.Write(pass(event))
				rest = after
			}
		}
		if err != nil && f.events {
			w.Write(pass(nil)) // what it held back
			w.Write(rest)
		}
		if g.fault != "buffers the whole answer" {
			http.NewResponseController(w).Flush()
		}
		if err == io.EOF || g.fault == "leaves the upstream at [DONE]" && bytes.Contains(buf[:n], []byte("data: [DONE]\n\n")) {
			return
		}
		if err != nil {
			if g.fault == "leaks a connection for each stream that breaks" {
				c, _ := net.Dial("tcp", strings.TrimPrefix(g.upstreams[0], "http://"))
				go func() { g.stay(); c.Close() }()
			}
			if g.fault == "leaks a goroutine for each client that leaves" && r.Context().Err() != nil {
				go g.stay()
			}
			g.broken(w, r, body)
			return
		}
	}
}

// copyWhole passes an answer on that is not streamed. The upstream's key must not be in it.
func (g *reference) copyWhole(w http.ResponseWriter, r *http.Request, resp *http.Response, body []byte, change func(*reference, []byte) []byte) {
	all, err := g.read(resp.Body)
	if g.fault != "passes the upstream's key on" {
		all = bytes.ReplaceAll(all, []byte(upstreamKey), []byte("[key]"))
	}
	if g.fault == "mixes answers under load" {
		g.mu.Lock()
		if g.open.Load() > 2 && g.last != nil {
			all = bytes.Clone(g.last)
		}
		g.last = bytes.Clone(all)
		g.mu.Unlock()
	}
	if change != nil {
		all = change(g, all)
	}
	w.Write(all)
	if err != nil {
		g.broken(w, r, body)
	}
}

// cutEvent cuts the first event, with the blank line after it, off b.
func cutEvent(b []byte) (event, rest []byte, ok bool) {
	for _, end := range []string{"\n\n", "\r\n\r\n"} {
		if i := bytes.Index(b, []byte(end)); i >= 0 {
			return b[:i+len(end)], b[i+len(end):], true
		}
	}
	return nil, b, false
}

// unreachable answers when no upstream takes the connection.
func (g *reference) unreachable(w http.ResponseWriter, err error) {
	switch g.fault {
	case "answers 200 for a dead upstream":
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Sorry, try again."},"finish_reason":"stop"}]}`))
	case "hangs up for a dead upstream":
		panic(http.ErrAbortHandler)
	case "answers a dead upstream in HTML":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		w.Write([]byte("<html>Bad Gateway</html>"))
	default:
		fail(w, http.StatusBadGateway, err.Error())
	}
}

// broken ends an answer that broke off in the middle.
func (g *reference) broken(w http.ResponseWriter, r *http.Request, body []byte) {
	switch g.fault {
	case "ends a cut stream with [DONE]":
		w.Write([]byte("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	case "ends a cut stream cleanly":
	case "sends the request again after the first byte":
		if resp, err := g.send(r.Context(), r, body); err == nil {
			io.Copy(w, resp.Body)
			resp.Body.Close()
		}
	default:
		panic(http.ErrAbortHandler)
	}
}
