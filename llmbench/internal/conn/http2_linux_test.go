package conn

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// TestStreamStamps checks the timestamps of the data of streams that share a connection: the timestamp of each frame is
// between the server's write of this frame and its arrival. If the kernel has joined segments, the bounds hold that time.
func TestStreamStamps(t *testing.T) {
	assert.Assert(t, awaitStamps(t.Context()))
	const streams, rounds = 8, 200
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.EnableHTTP2 = true
	secure.StartTLS()
	defer secure.Close()
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			size := func(stream, round int) int { return 1 + (31*stream+7*round)%500 }
			type arrived struct {
				stamp, since int64
				joined       bool
			}
			var wrote [streams][rounds][2]int64 // before and after a write
			var got [streams][rounds]arrived
			served := make(chan struct{})
			var lost atomic.Bool
			var p *Pool
			addr := runtest.Serve(t, func(raw net.Conn) {
				counting := &countingConn{Conn: raw}
				c := net.Conn(counting)
				if scheme == "https" {
					c = tls.Server(c, secure.TLS)
				}
				if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
					return
				}
				s := &frameServer{Framer: http2.NewFramer(c, c), Conn: c}
				s.ReadMetaHeaders, s.encoder = hpack.NewDecoder(4096, nil), hpack.NewEncoder(&s.fields)
				s.WriteSettings()
				var ids []uint32
				for len(ids) < streams {
					id := s.request()
					if id == 0 {
						return
					}
					ids = append(ids, id)
					s.head(id, false, ":status", "200")
				}
				p.muxes.mu.Lock()
				at := p.muxes.all[0].conn.kernel
				p.muxes.mu.Unlock()
				for round := range rounds {
					for n := -1; n != 0; n, _ = at.unread() { // so that the receive buffer is never full
						runtime.Gosched()
					}
					for _, i := range rand.Perm(streams) {
						token := make([]byte, size(i, round))
						before := WallClock()
						s.WriteData(ids[i], round == rounds-1, token)
						for at.received() < counting.written {
							runtime.Gosched()
						}
						wrote[i][round] = [2]int64{before, WallClock()}
					}
				}
				close(served)
				s.rest()
			})
			p = newPool(t, Options{URL: scheme + "://" + addr, HTTP2: true, TLS: secure.Client().Transport.(*http.Transport).TLSClientConfig})
			var all sync.WaitGroup
			for range streams {
				all.Go(func() {
					trace := &Trace{Clock: NewClock(WallClock)}
					req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, scheme+"://server", nil)
					assert.Check(t, err)
					resp, err := p.Send(req, trace)
					if !assert.Check(t, err) {
						return
					}
					defer resp.Body.Close()
					stream := int(resp.Body.(*muxBody).id-1) / 2
					r := new(Reader)
					r.Reset(resp.Body, trace)
					for round := range rounds {
						if _, err := io.ReadFull(r, make([]byte, size(stream, round))); !assert.Check(t, err) {
							return
						}
						got[stream][round] = arrived{r.Data.Stamp, trace.Clock.zero + int64(r.Since), r.Merged() && r.Follows()}
					}
					_, err = r.Read(make([]byte, 1))
					assert.Check(t, err == io.EOF, "%v", err)
					if trace.Reordered() {
						lost.Store(true)
					}
				})
			}
			all.Wait()
			<-served
			if lost.Load() {
				t.Log("segments were lost: the timestamps are not used")
				return
			}
			// The kernel may deliver a segment after the write has returned, and the bound of a joined segment may be too
			// late, by up to 0.1 ms as measured where streams share a connection.
			// That is known, and little beside the gap between tokens; more would be a fault.
			const boundError = int64(time.Millisecond)
			joined := 0
			for stream, times := range wrote {
				for round, wrote := range times {
					switch a := got[stream][round]; {
					case a.stamp == 0:
						t.Errorf("stream %d, token %d: no timestamp", stream, round)
					case a.stamp < wrote[0], !a.joined && a.stamp > wrote[1]+boundError, a.joined && a.since > wrote[1]+boundError:
						t.Errorf("stream %d, token %d: %d ns after the write began, joined %v since %d; the write took %d", stream, round, a.stamp-wrote[0], a.joined, a.since-wrote[0], wrote[1]-wrote[0])
					case a.joined:
						joined++
					}
				}
			}
			t.Logf("%d of %d tokens were joined", joined, streams*rounds)
		})
	}
}

// received returns how many bytes have arrived on the connection.
func (s *stampedReader) received() int64 {
	q := s.askInfo()
	defer infoQueries.Put(q)
	return int64(q.info.Bytes_received)
}

// A countingConn counts what is written to it.
type countingConn struct {
	net.Conn
	written int64
}

func (c *countingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written += int64(n)
	return n, err
}

// BenchmarkHTTP2 compares streams that share one connection of HTTP/2 with streams of HTTP/1.1 that have one
// each. The server is net/http. A stream has 100 tokens, 10 to 30 ms apart. The truth is the instant at
// which the server wrote a token to its connection.
//
//   - stamp: the error of the kernel's timestamp of a token
//   - read: the error of the instant at which a token was read
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

const (
	markerSize = len("@00000,00000")
	tokenSize  = 200
)

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
	p := newPool(b, Options{URL: s.URL, HTTP2: version == 2})
	p.Prepare(b.Context(), streams)
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() {
			t := &Trace{Clock: NewClock(WallClock)}
			req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, fmt.Sprintf("%s?stream=%d&tokens=%d", s.URL, i, streamTokens), nil)
			assert.Check(b, err)
			resp, err := p.Send(req, t)
			if !assert.Check(b, err) {
				return
			}
			defer resp.Body.Close()
			r := new(Reader)
			r.Reset(resp.Body, t)
			token := make([]byte, tokenSize)
			for _, err = io.ReadFull(r, token); err == nil; _, err = io.ReadFull(r, token) {
				m.update(token, func(k *mark) {
					k.stamp, k.read, k.joined = r.Data.Stamp, int64(r.Data.User)+t.Clock.zero, r.Merged() && r.Follows()
				})
			}
			assert.Check(b, err == io.EOF, "%v", err)
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
	rest := bytes.Repeat([]byte("."), tokenSize-markerSize)
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
