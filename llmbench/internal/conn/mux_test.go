package conn

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// serveHTTP2 starts a server of HTTP/2, and returns it with a pool of connections to it.
func serveHTTP2(tb testing.TB, secure bool, limit int, h http.HandlerFunc) (*httptest.Server, *Pool) {
	tb.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: limit}
	o := Options{HTTP2: true}
	if secure {
		s.Config.Protocols.SetHTTP2(true)
		s.EnableHTTP2 = true
		s.StartTLS()
		o.TLS = s.Client().Transport.(*http.Transport).TLSClientConfig
	} else {
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	}
	tb.Cleanup(s.Close)
	o.URL = s.URL
	return s, newPool(tb, o)
}

// A frameServer is a server that a test makes of frames. Its connection has been opened.
type frameServer struct {
	*http2.Framer
	net.Conn
	fields  bytes.Buffer
	encoder *hpack.Encoder
}

// framesAt starts a server whose connections are served by f, and returns a pool of connections to it. The server has sent
// the settings, and its frames are read by it alone.
func framesAt(tb testing.TB, f func(s *frameServer), settings ...http2.Setting) *Pool {
	tb.Helper()
	addr := runtest.Serve(tb, func(c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		s := &frameServer{Framer: http2.NewFramer(c, c), Conn: c}
		s.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		s.encoder = hpack.NewEncoder(&s.fields)
		s.WriteSettings(settings...)
		f(s)
	})
	return newPool(tb, Options{URL: "http://" + addr, HTTP2: true})
}

// request returns the ID of the stream of the next request, whose end has come, or 0 if the connection has ended.
func (s *frameServer) request() uint32 {
	for {
		f, err := s.ReadFrame()
		if err != nil {
			return 0
		}
		switch f := f.(type) {
		case *http2.DataFrame:
			if f.StreamEnded() {
				return f.StreamID
			}
		case *http2.MetaHeadersFrame:
			if f.StreamEnded() {
				return f.StreamID
			}
		}
	}
}

// head sends the head of an answer, with fields given as names and values.
func (s *frameServer) head(id uint32, end bool, fields ...string) {
	s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: s.encode(fields...), EndHeaders: true, EndStream: end})
}

func (s *frameServer) encode(fields ...string) []byte {
	s.fields.Reset()
	for i := 0; i < len(fields); i += 2 {
		s.encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return s.fields.Bytes()
}

// rest reads until the client closes the connection.
func (s *frameServer) rest() { io.Copy(io.Discard, s.Conn) }

// cut ends what the server sends.
func (s *frameServer) cut() {
	s.Conn.(*net.TCPConn).CloseWrite()
	s.rest()
}

// TestHTTP2 checks requests and answers over HTTP/2, with TLS and without.
func TestHTTP2(t *testing.T) {
	long := strings.Repeat("long ", 100_000)
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls=%v", secure), func(t *testing.T) {
			s, p := serveHTTP2(t, secure, 0, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				assert.Check(t, err)
				w.Header().Set("X-Proto", r.Proto)
				w.Header().Set("X-Large", strings.Repeat("h", 100_000))
				w.WriteHeader(http.StatusEarlyHints)
				w.Write(bytes.ToUpper(body))
			})
			for _, body := range []string{"question", long, ""} {
				trace := &Trace{Clock: NewClock(WallClock)}
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/path?q=1", strings.NewReader(body))
				assert.NilError(t, err)
				req.Header.Set("X-Large", strings.Repeat("h", 100_000))
				resp, err := p.Send(req, trace)
				assert.NilError(t, err)
				assert.Equal(t, resp.Header.Get("X-Proto"), "HTTP/2.0")
				assert.Equal(t, len(resp.Header.Get("X-Large")), 100_000)
				text, err := io.ReadAll(resp.Body)
				assert.NilError(t, err)
				assert.NilError(t, resp.Body.Close())
				assert.Assert(t, string(text) == strings.ToUpper(body))
				assert.Assert(t, trace.Begun && trace.Sent <= trace.SentBy && trace.SentBy <= trace.Written && trace.Written > 0 && trace.FirstByte.User > 0, "%+v", trace)
				assert.Equal(t, trace.Attempts, 1)
			}
			assert.Equal(t, p.Open(), 1)
		})
	}
}

// TestStreamsShare checks how many connections a load opens, by the limit of the server.
func TestStreamsShare(t *testing.T) {
	for _, tt := range []struct{ limit, streams, want int }{{0, 64, 1}, {250, 64, 1}, {10, 64, 7}, {1, 5, 5}} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			var inFlight atomic.Pointer[sync.WaitGroup]
			s, p := serveHTTP2(t, false, tt.limit, func(w http.ResponseWriter, r *http.Request) {
				all := inFlight.Load()
				all.Done()
				all.Wait()
			})
			send := func() {
				inFlight.Store(&sync.WaitGroup{})
				inFlight.Load().Add(tt.streams)
				var all sync.WaitGroup
				for range tt.streams {
					all.Go(func() {
						_, _, err := post(t.Context(), p, s.URL)
						assert.Check(t, err)
					})
				}
				all.Wait()
				assert.Equal(t, p.Open(), tt.want)
			}
			send()
			p.CloseIdle()
			assert.Equal(t, p.Open(), 0)
			p.Prepare(t.Context(), tt.streams)
			assert.Equal(t, p.Open(), tt.want)
			assert.Equal(t, p.Lacking(tt.streams), 0)
			send()
			p.CloseUnused()
			assert.Equal(t, p.Open(), tt.want)
		})
	}
}

// TestStreamFaults checks the errors of requests over HTTP/2 whose server breaks off or breaks RFC 9113.
func TestStreamFaults(t *testing.T) {
	for _, tt := range []struct {
		name     string
		serve    func(s *frameServer)
		want     string // part of the error
		body     string // that is read before the error
		attempts int    // 0 means 1
	}{
		{"reset before the head", func(s *frameServer) { s.WriteRSTStream(s.request(), http2.ErrCodeEnhanceYourCalm); s.rest() },
			"the server reset the stream: RST_STREAM with ENHANCE_YOUR_CALM", "", 0},
		{"reset in the body", func(s *frameServer) {
			id := s.request()
			s.head(id, false, ":status", "200")
			s.WriteData(id, false, []byte("part"))
			s.WriteRSTStream(id, http2.ErrCodeInternal)
			s.rest()
		}, "the server reset the stream: RST_STREAM with INTERNAL_ERROR", "part", 0},
		{"refused twice", func(s *frameServer) { s.WriteRSTStream(s.request(), http2.ErrCodeRefusedStream); s.rest() },
			"the server reset the stream: RST_STREAM with REFUSED_STREAM", "", 2},
		{"go away twice", func(s *frameServer) { s.request(); s.WriteGoAway(0, http2.ErrCodeNo, []byte("restart")); s.rest() },
			`the server has not processed the request: GOAWAY with NO_ERROR "restart"`, "", 2},
		{"go away in the body", func(s *frameServer) {
			id := s.request()
			s.head(id, false, ":status", "200")
			s.WriteData(id, false, []byte("part"))
			s.WriteGoAway(id, http2.ErrCodeInternal, []byte("bug"))
			s.cut()
		}, `unexpected EOF, after GOAWAY with INTERNAL_ERROR "bug"`, "part", 0},
		{"cut before the head", func(s *frameServer) { s.request(); s.cut() }, "the server closed the connection before it answered: unexpected EOF", "", 0},
		{"cut in a frame", func(s *frameServer) {
			id := s.request()
			s.head(id, false, ":status", "200")
			s.WriteRawFrame(http2.FrameData, 0, id, []byte("part"))
			s.Conn.Write([]byte{0, 0, 99, 0, 0, 0, 0, 0, byte(id), 'm', 'o', 'r', 'e'})
			s.cut()
		}, "unexpected EOF", "partmore", 0},
		{"cut in a frame's head", func(s *frameServer) {
			id := s.request()
			s.head(id, false, ":status", "200")
			s.Conn.Write([]byte{0, 0, 99, 0, 0})
			s.cut()
		}, "unexpected EOF", "", 0},
		{"a body shorter than its length", func(s *frameServer) {
			id := s.request()
			s.head(id, false, ":status", "200", "content-length", "5")
			s.WriteData(id, true, []byte("part"))
			s.rest()
		}, "a body of 4 bytes; the Content-Length is 5: unexpected EOF", "part", 0},
		{"a body longer than its length", func(s *frameServer) {
			id := s.request()
			s.head(id, false, ":status", "200", "content-length", "3")
			s.WriteData(id, true, []byte("part"))
			s.rest()
		}, "a body of 4 bytes; the Content-Length is 3", "part", 0},
		{"no length", func(s *frameServer) {
			s.head(s.request(), true, ":status", "200", "content-length", "-1")
			s.rest()
		}, `a response's head with the Content-Length ["-1"]: want one number`, "", 0},
		{"no status", func(s *frameServer) { s.head(s.request(), true, "server", "s"); s.rest() }, `a response's head with the status ""`, "", 0},
		{"another protocol", func(s *frameServer) { s.head(s.request(), true, ":status", "101"); s.rest() }, `a response's head with the status "101"`, "", 0},
		{"ends with an interim response", func(s *frameServer) { s.head(s.request(), true, ":status", "103"); s.rest() }, "a frame that breaks RFC 9113: PROTOCOL_ERROR: the stream ends with an interim response", "", 0},
		{"endless interim responses", func(s *frameServer) {
			id := s.request()
			go s.rest()
			for s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: s.encode(":status", "103", "link", strings.Repeat("l", 10_000)), EndHeaders: true}) == nil {
			}
		}, "a response's head of more than 1048576 bytes", "", 0},
		{"too many fields", func(s *frameServer) {
			id := s.request()
			fields := []string{":status", "200"}
			for i := range 1001 {
				fields = append(fields, fmt.Sprint("x", i), "")
			}
			s.head(id, true, fields...)
			s.rest()
		}, "a response's head with 1001 fields: want at most 1000", "", 0},
		{"a huge head", func(s *frameServer) {
			id := s.request()
			block := bytes.Clone(s.encode(":status", "200", "x-a", strings.Repeat("a", 2<<20)))
			s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:16<<10]})
			for rest := block[16<<10:]; len(rest) > 0; rest = rest[min(len(rest), 16<<10):] {
				s.WriteContinuation(id, len(rest) <= 16<<10, rest[:min(len(rest), 16<<10)])
			}
			s.rest()
		}, "a frame that breaks RFC 9113", "", 0},
		{"endless continuation", func(s *frameServer) {
			id := s.request()
			go s.rest()
			s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: s.encode(":status", "200")})
			frames := bytes.Repeat([]byte{0, 0, 0, byte(http2.FrameContinuation), 0, 0, 0, 0, byte(id)}, 1000)
			for _, err := s.Conn.Write(frames); err == nil; _, err = s.Conn.Write(frames) {
			}
		}, "a response's head of more than 1048576 bytes", "", 0},
		{"a second head", func(s *frameServer) {
			id := s.request()
			s.head(id, false, ":status", "200")
			s.head(id, false, ":status", "200")
			s.rest()
		}, "a frame that breaks RFC 9113: PROTOCOL_ERROR: a second head", "", 0},
		{"data before the head", func(s *frameServer) { s.WriteData(s.request(), true, []byte("part")); s.rest() },
			"a frame that breaks RFC 9113: PROTOCOL_ERROR: data before the head", "", 0},
		{"a stream that no request has", func(s *frameServer) {
			s.request()
			s.WriteData(99, true, nil)
			s.rest()
		}, "a frame of stream 99, which no request has", "", 0},
		{"a frame of the server's own", func(s *frameServer) { s.request(); s.head(2, true, ":status", "200"); s.rest() },
			"a frame of stream 2, which no request has", "", 0},
		{"push", func(s *frameServer) {
			id := s.request()
			s.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, BlockFragment: s.encode(":method", "GET"), EndHeaders: true})
			s.rest()
		}, "a frame that breaks RFC 9113: PROTOCOL_ERROR", "", 0},
		{"a large frame", func(s *frameServer) {
			s.request()
			s.WriteRawFrame(http2.FrameData, 0, 1, make([]byte, 17<<10))
			s.rest()
		}, "a frame of 17408 bytes: want at most 16384", "", 0},
		{"garbage", func(s *frameServer) {
			s.request()
			s.Conn.Write([]byte("\x00\x00\x00\x04\x02\x00\x00\x00\x00")) // SETTINGS with a flag that has no meaning
			s.Conn.Write([]byte("garbage garbage garbage"))
			s.rest()
		}, "a frame of ", "", 0},
		{"padding longer than its frame", func(s *frameServer) {
			id := s.request()
			s.head(id, false, ":status", "200")
			s.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, id, []byte{5, 'a'})
			s.rest()
		}, "a frame that breaks RFC 9113: PROTOCOL_ERROR", "", 0},
		{"no compressed fields", func(s *frameServer) {
			s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.request(), BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff}, EndHeaders: true})
			s.rest()
		}, "a frame that breaks RFC 9113: COMPRESSION_ERROR", "", 0},
		{"a window beyond the limit", func(s *frameServer) {
			s.request()
			s.WriteWindowUpdate(0, 1<<31-1)
			s.rest()
		}, "a frame that breaks RFC 9113: FLOW_CONTROL_ERROR", "", 0},
		{"answers that are not read", func(s *frameServer) {
			s.request()
			for s.WritePing(false, [8]byte{}) == nil {
			}
		}, "the server asks for answers, but does not read them", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := framesAt(t, tt.serve)
			trace, body, err := post(t.Context(), p, "http://server")
			assert.ErrorContains(t, err, tt.want)
			assert.Equal(t, body, tt.body)
			assert.Equal(t, trace.Attempts, max(1, tt.attempts))
		})
	}
}

// TestResendsStream checks that a request is sent again, on another connection, if the server says that it has not
// processed it, while the streams that it has processed go on.
func TestResendsStream(t *testing.T) {
	refuse := map[string]func(s *frameServer, first, second uint32){
		"go away":        func(s *frameServer, first, _ uint32) { s.WriteGoAway(first, http2.ErrCodeNo, nil) },
		"refused stream": func(s *frameServer, _, second uint32) { s.WriteRSTStream(second, http2.ErrCodeRefusedStream) },
	}
	for name, refuse := range refuse {
		t.Run(name, func(t *testing.T) {
			var conns atomic.Int32
			p := framesAt(t, func(s *frameServer) {
				answer := func(id uint32) {
					s.head(id, false, ":status", "200")
					s.WriteData(id, true, []byte("answer"))
				}
				if conns.Add(1) > 1 {
					answer(s.request())
					s.rest()
					return
				}
				first, second := s.request(), s.request()
				refuse(s, first, second)
				answer(first)
				s.rest()
			})
			var all sync.WaitGroup
			var resent, unread atomic.Int32
			for range 2 {
				all.Go(func() {
					trace, body, err := post(t.Context(), p, "http://server")
					assert.Check(t, err)
					assert.Check(t, body == "answer", "%q", body)
					resent.Add(int32(trace.Attempts - 1))
					if trace.Unread {
						unread.Add(1)
					}
				})
			}
			all.Wait()
			assert.Equal(t, resent.Load(), int32(1))
			assert.Equal(t, unread.Load(), int32(1))
		})
	}
}

// TestStreamWindows checks that the windows of neither side are exceeded, and that they never stop an answer or a request.
func TestStreamWindows(t *testing.T) {
	const size = 100 << 20 // more than the window of a connection
	s, p := serveHTTP2(t, false, 0, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		for block := make([]byte, 1<<20); n > 0; n -= int64(len(block)) {
			if _, err := w.Write(block[:min(n, int64(len(block)))]); err != nil {
				return
			}
		}
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, io.LimitReader(zeros{}, size))
	assert.NilError(t, err)
	req.ContentLength = size
	resp, err := p.Send(req, &Trace{Clock: NewClock(WallClock)})
	assert.NilError(t, err)
	n, err := io.Copy(io.Discard, resp.Body)
	assert.NilError(t, err)
	assert.NilError(t, resp.Body.Close())
	assert.Equal(t, n, int64(size))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestSmallWindow checks a request to a server that accepts 64 KiB of all requests together, and opens its window only once
// the client has used it up.
func TestSmallWindow(t *testing.T) {
	const body = 100_000
	p := framesAt(t, func(s *frameServer) {
		got := 0
		for {
			f, err := s.ReadFrame()
			if err != nil {
				return
			}
			d, ok := f.(*http2.DataFrame)
			if !ok {
				continue
			}
			got += len(d.Data())
			switch {
			case got == 1<<16-1:
				s.WriteWindowUpdate(d.StreamID, body) // the window of the connection is still empty
				s.WritePing(false, [8]byte{})
				s.WriteWindowUpdate(0, body-(1<<16-1))
			case d.StreamEnded():
				s.head(d.StreamID, true, ":status", "200", "x-got", fmt.Sprint(got))
			case got > 1<<16-1 && got > body:
				return
			}
		}
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://server", bytes.NewReader(make([]byte, body)))
	assert.NilError(t, err)
	resp, err := p.Send(req, &Trace{Clock: NewClock(WallClock)})
	assert.NilError(t, err)
	assert.Equal(t, resp.Header.Get("X-Got"), fmt.Sprint(body))
	assert.NilError(t, resp.Body.Close())
}

// TestWindowExceeded checks that a server that sends more than the windows allow cannot fill the memory of a client that
// does not read.
func TestWindowExceeded(t *testing.T) {
	sent := make(chan struct{})
	p := framesAt(t, func(s *frameServer) {
		id := s.request()
		s.head(id, false, ":status", "200")
		go s.rest()
		for range streamWindow/maxFrame + 1 {
			s.WriteData(id, false, make([]byte, maxFrame))
		}
		s.WritePing(false, [8]byte{})
		close(sent)
		s.rest()
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://server", nil)
	assert.NilError(t, err)
	resp, err := p.Send(req, &Trace{Clock: NewClock(WallClock)})
	assert.NilError(t, err)
	<-sent
	body := resp.Body.(*muxBody)
	for body.failure() == nil {
		select {
		case <-t.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}
	assert.ErrorContains(t, body.failure(), "FLOW_CONTROL_ERROR: more data than the window of 16777216 bytes")
	assert.NilError(t, resp.Body.Close())
}

// TestCancelStream checks that a request that is given up ends its stream alone.
func TestCancelStream(t *testing.T) {
	left := make(chan struct{})
	s, p := serveHTTP2(t, false, 0, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		if r.Header.Get("Stay") != "" {
			<-left
			io.WriteString(w, "answer")
			return
		}
		<-r.Context().Done()
		close(left)
	})
	send := func(ctx context.Context, stay string) *http.Response {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, nil)
		assert.NilError(t, err)
		req.Header.Set("Stay", stay)
		resp, err := p.Send(req, &Trace{Clock: NewClock(WallClock)})
		assert.NilError(t, err)
		return resp
	}
	ctx, cancel := context.WithCancel(t.Context())
	goes, stays := send(ctx, ""), send(t.Context(), "1")
	cancel()
	_, err := io.ReadAll(goes.Body)
	assert.ErrorIs(t, err, context.Canceled)
	assert.NilError(t, goes.Body.Close())
	text, err := io.ReadAll(stays.Body)
	assert.NilError(t, err)
	assert.NilError(t, stays.Body.Close())
	assert.Equal(t, string(text), "answer")
	assert.Equal(t, p.Open(), 1)
}

// TestNoHTTP2 checks the errors of HTTP/2 with a server that speaks something else.
func TestNoHTTP2(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	closes := "http://" + runtest.Serve(t, func(c net.Conn) { io.ReadFull(c, make([]byte, len(http2.ClientPreface))) })
	none := "http://" + runtest.Serve(t, func(c net.Conn) {
		(&frameServer{Framer: http2.NewFramer(c, c)}).WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams})
		io.Copy(io.Discard, c)
	})
	for url, want := range map[string]string{
		plain.URL:  "the server speaks HTTP/1.1 here, and not HTTP/2, which LLMBENCH_HTTP=2 (Target.HTTP) asks for: want LLMBENCH_HTTP=1.1, or a port that speaks HTTP/2",
		secure.URL: "the server does not offer HTTP/2 over TLS, which LLMBENCH_HTTP=2 (Target.HTTP) asks for: by ALPN it chose http/1.1: want LLMBENCH_HTTP=1.1",
		closes:     "the server closed the connection before it sent a frame of HTTP/2",
		none:       "the server allows 0 streams at the same time on a connection (SETTINGS_MAX_CONCURRENT_STREAMS): want 1 or more",
		"http" + strings.TrimPrefix(secure.URL, "https"): "does it want TLS, or HTTP/1.1?",
	} {
		p := newPool(t, Options{URL: url, TLS: secure.Client().Transport.(*http.Transport).TLSClientConfig, HTTP2: true})
		_, _, err := post(t.Context(), p, url)
		assert.ErrorContains(t, err, want)
		assert.Equal(t, p.Open(), 0)
	}
}
