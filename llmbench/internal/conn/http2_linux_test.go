package conn

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// BenchmarkHTTP2 compares streams that share one connection of HTTP/2 with streams of HTTP/1.1 that have one
// each. net/http is client and server. A stream has 100 tokens, 10 to 30 ms apart. The truth is the instant at
// which the server wrote a token to its connection.
//
//   - stamp: the error of the kernel's timestamp of the read that brought a token, taken below net/http
//   - read: the error of the instant at which net/http returned a token to its caller
//   - joined-%: tokens for which the kernel may have joined segments, so that the timestamp is only a bound
//
// first is the error of the first token, and gap the error of the time between two tokens.
func BenchmarkHTTP2(b *testing.B) {
	assert.Assert(b, awaitStamps(b.Context()))
	for _, version := range []int{1, 2} {
		for _, streams := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("http=%d/streams=%d", version, streams), func(b *testing.B) {
				var all marks
				for b.Loop() {
					all.merge(runStreams(b, version, streams))
				}
				all.report(b)
			})
		}
	}
}

const streamTokens = 100

// A mark is what is known about one token. Instants are in ns since 1970.
type mark struct {
	written, stamp, read int64
	joined               bool
}

// marks are the tokens of streams, by stream and index.
type marks struct {
	mu     sync.Mutex
	tokens map[[2]int]*mark
}

// update calls f with each token whose marker is in text.
func (m *marks) update(text []byte, f func(*mark)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at := bytes.IndexByte(text, '@'); at >= 0 && len(text)-at >= markerSize; at = bytes.IndexByte(text, '@') {
		text = text[at:]
		var id [2]int
		if n, _ := fmt.Sscanf(string(text[:markerSize]), "@%05d,%05d", &id[0], &id[1]); n == 2 {
			if m.tokens[id] == nil {
				m.tokens[id] = &mark{}
			}
			f(m.tokens[id])
		}
		text = text[1:]
	}
}

const markerSize = len("@00000,00000")

func (m *marks) merge(n *marks) {
	if m.tokens == nil {
		m.tokens = map[[2]int]*mark{}
	}
	first := len(m.tokens) / streamTokens
	for id, t := range n.tokens {
		m.tokens[[2]int{first + id[0], id[1]}] = t
	}
}

// report reports the errors in µs.
func (m *marks) report(b *testing.B) {
	errs := map[string][]float64{}
	joined := 0
	add := func(name string, by int64) { errs[name] = append(errs[name], float64(max(by, -by))/1e3) }
	for id, t := range m.tokens {
		if t.joined {
			joined++
		}
		if id[1] == 0 {
			add("stamp-first", t.stamp-t.written)
			add("read-first", t.read-t.written)
			continue
		}
		before := m.tokens[[2]int{id[0], id[1] - 1}]
		add("stamp-gap", t.stamp-before.stamp-(t.written-before.written))
		add("read-gap", t.read-before.read-(t.written-before.written))
	}
	for name, all := range errs {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], name+"-p50-us")
		b.ReportMetric(all[len(all)*99/100], name+"-p99-us")
	}
	b.ReportMetric(100*float64(joined)/float64(len(m.tokens)), "joined-%")
	b.ReportMetric(0, "ns/op")
}

// runStreams reads streams, and returns what is known about their tokens.
func runStreams(b *testing.B, version, streams int) *marks {
	m := &marks{tokens: map[[2]int]*mark{}}
	s := httptest.NewUnstartedServer(http.HandlerFunc(sendTokens))
	var protocols http.Protocols
	protocols.SetHTTP1(version == 1)
	protocols.SetUnencryptedHTTP2(version == 2)
	s.Config.Protocols = &protocols
	s.Listener = writesListener{s.Listener, m}
	s.Start()
	defer s.Close()
	transport := &http.Transport{Protocols: &protocols, MaxIdleConnsPerHost: streams, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		raw, err := (&net.Dialer{Control: keepSegmentsApart}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		c := newConn(raw, 0, func() {})
		c.kernel.mark()
		return &readsConn{Conn: c, marks: m}, nil
	}}
	defer transport.CloseIdleConnections()
	get := func(query string, took func([]byte)) {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.URL+"?"+query, nil)
		assert.NilError(b, err)
		resp, err := transport.RoundTrip(r)
		assert.NilError(b, err)
		defer resp.Body.Close()
		for p := make([]byte, 1<<10); err == nil; {
			var n int
			n, err = resp.Body.Read(p)
			took(p[:n])
		}
		assert.Equal(b, err, io.EOF)
	}
	get("tokens=0", func([]byte) {}) // opens the connection that HTTP/2 streams share
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() {
			get(fmt.Sprintf("stream=%d&tokens=%d", i, streamTokens), func(text []byte) {
				now := WallClock()
				m.update(text, func(t *mark) { t.read = now })
			})
		})
	}
	all.Wait()
	assert.Equal(b, len(m.tokens), streams*streamTokens)
	return m
}

// sendTokens answers a request with a token every 10 to 30 ms, from 50 to 80 ms after the request.
func sendTokens(w http.ResponseWriter, r *http.Request) {
	var stream, tokens int
	fmt.Sscan(r.FormValue("stream"), &stream)
	fmt.Sscan(r.FormValue("tokens"), &tokens)
	rest := bytes.Repeat([]byte("."), 200-markerSize)
	due := time.Now().Add(50*ms + rand.N(30*ms))
	for i := range tokens {
		time.Sleep(time.Until(due))
		fmt.Fprintf(w, "@%05d,%05d%s", stream, i, rest)
		w.(http.Flusher).Flush()
		due = due.Add(10*ms + rand.N(20*ms))
	}
}

// A writesListener accepts connections that note when tokens are written.
type writesListener struct {
	net.Listener
	marks *marks
}

func (l writesListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return writesConn{c, l.marks}, err
}

type writesConn struct {
	net.Conn
	marks *marks
}

func (c writesConn) Write(p []byte) (int, error) {
	now := WallClock()
	c.marks.update(p, func(t *mark) { t.written = now })
	return c.Conn.Write(p)
}

// A readsConn notes the timestamps of the tokens that are read.
type readsConn struct {
	*Conn
	marks *marks
	rest  []byte // the last bytes, in which a marker may have begun
}

func (c *readsConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	text := append(c.rest, p[:n]...)
	stamp, joined := c.stamp, c.batch.several
	c.marks.update(text, func(t *mark) {
		if t.stamp == 0 {
			t.stamp, t.joined = stamp, joined
		}
	})
	c.rest = bytes.Clone(text[max(0, len(text)-markerSize+1):])
	return n, err
}
