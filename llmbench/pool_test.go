package llmbench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestPrepare checks that connections are opened ahead up to a number, used, and
// closed.
func TestPrepare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		c, err := newClient(Target{URL: "http://server", Dial: func(context.Context, string, string) (net.Conn, error) {
			dials++
			client, _ := net.Pipe()
			return client, nil
		}})
		assert.NilError(t, err)
		p := c.pool
		get := func(open bool) *conn {
			before := dials
			conn, err := p.get(t.Context(), &instants{clock: newClock(wallClock)})
			assert.NilError(t, err)
			assert.Equal(t, dials == before, open)
			return conn
		}
		p.prepare(t.Context(), 1)
		first := get(true)
		assert.Equal(t, dials, 1)
		p.prepare(t.Context(), 2) // one of the two is open already
		assert.Equal(t, dials, 2)

		time.Sleep(keepUnseen) // of a pipe it cannot be seen whether it was closed
		get(true).Close()
		p.prepare(t.Context(), 2)
		time.Sleep(keepUnseen + 1)
		second := get(false)
		assert.Equal(t, p.opened(), 2, "the old one was not closed")

		second.used = true
		p.put(second)
		p.prepare(t.Context(), 3)
		assert.Equal(t, p.opened(), 3)
		p.drop((*conn).unused)
		assert.Equal(t, p.opened(), 2)
		c.close()
		assert.Equal(t, p.opened(), 1)
		first.Close()
		first.Close()
		assert.Equal(t, p.opened(), 0)
	})
}

func TestHostPort(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:8000":    "127.0.0.1:8000",
		"http://localhost/prefix":  "localhost:80",
		"https://localhost":        "localhost:443",
		"http://[::1]:8000/prefix": "[::1]:8000",
		"socks5h://proxy":          "proxy:1080",
		"http://münchen.example":   "xn--mnchen-3ya.example:80",
		"ftp://proxy":              "",
	} {
		u, err := url.Parse(base)
		assert.NilError(t, err)
		if got := hostPort(u); got != want {
			t.Errorf("hostPort(%q) = %q; want %q", base, got, want)
		}
	}
}

// TestProxies sends requests through each kind of proxy, with and without TLS to
// the target.
func TestProxies(t *testing.T) {
	checkLeaks(t)
	srv, err := mockserver.New(mockserver.Config{TTFT: ms})
	assert.NilError(t, err)
	for _, tt := range []struct {
		scheme string
		tls    bool
		want   string // what the proxy was asked, of each connection
	}{
		{"http", false, "POST http://TARGET/v1/chat/completions user:secret"},
		{"http", true, "CONNECT TARGET user:secret"},
		{"https", false, "POST http://TARGET/v1/chat/completions user:secret"},
		{"https", true, "CONNECT TARGET user:secret"},
		{"socks5", false, "SOCKS TARGET user:secret"},
		{"socks5h", true, "SOCKS TARGET user:secret"},
	} {
		t.Run(fmt.Sprintf("%s, tls=%t", tt.scheme, tt.tls), func(t *testing.T) {
			server := httptest.NewUnstartedServer(srv)
			if tt.tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			var asked []string
			var addr string
			var roots = server
			if strings.HasPrefix(tt.scheme, "socks") {
				addr = strings.TrimPrefix(rawServer(t, socksProxy(t, &asked)), "http://")
			} else {
				proxy := httptest.NewUnstartedServer(httpProxy(t, &asked))
				if tt.scheme == "https" {
					proxy.StartTLS()
					roots = proxy
				} else {
					proxy.Start()
				}
				defer proxy.Close()
				addr = proxy.Listener.Addr().String()
			}
			c, l, posts, err := ready(Target{URL: server.URL}, Load{Requests: words(3, 4), Concurrency: 1})
			assert.NilError(t, err)
			c.pool.proxy = &url.URL{Scheme: tt.scheme, Host: addr, User: url.UserPassword("user", "secret")}
			if roots.TLS != nil {
				c.pool.roots = roots.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			}
			samples, err := c.pass(t.Context(), l, posts)
			c.close()
			assert.NilError(t, err)
			for _, s := range samples {
				assert.NilError(t, s.Err)
				assert.Equal(t, s.Connect, time.Duration(0), "it was not opened ahead")
			}
			want := strings.ReplaceAll(tt.want, "TARGET", server.Listener.Addr().String())
			if strings.HasPrefix(want, "POST") {
				assert.DeepEqual(t, asked, []string{want, want, want})
			} else {
				assert.DeepEqual(t, asked, []string{want})
			}
			assert.Equal(t, c.pool.opened(), 0)
		})
	}
}

// httpProxy is a proxy that notes what it was asked.
func httpProxy(tb testing.TB, asked *[]string) http.Handler {
	forward := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		check := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		user, password, _ := check.BasicAuth()
		*asked = append(*asked, r.Method+" "+strings.TrimPrefix(r.URL.String(), "//")+" "+user+":"+password)
		if r.Method != http.MethodConnect {
			forward.ServeHTTP(w, r)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			tb.Error(err)
			return
		}
		io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
		relay(tb, conn, r.URL.Host)
	})
}

// socksProxy is one of RFC 1928 and RFC 1929.
func socksProxy(tb testing.TB, asked *[]string) func(net.Conn) {
	return func(c net.Conn) {
		r := bufio.NewReader(c)
		next := func() int { b, _ := r.ReadByte(); return int(b) }
		text := func() string {
			b := make([]byte, next())
			io.ReadFull(r, b)
			return string(b)
		}
		next() // version
		text() // methods
		c.Write([]byte{5, 2})
		next()
		user, password := text(), text()
		c.Write([]byte{1, 0})
		next()
		next() // connect
		next()
		ip := make(net.IP, 4)
		if kind := next(); kind != 1 {
			tb.Errorf("address of kind %d", kind)
		}
		io.ReadFull(r, ip)
		addr := net.JoinHostPort(ip.String(), strconv.Itoa(next()<<8+next()))
		*asked = append(*asked, "SOCKS "+addr+" "+user+":"+password)
		c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
		relay(tb, c, addr)
	}
}

// relay connects c with addr, until both ends are closed.
func relay(tb testing.TB, c net.Conn, addr string) {
	to, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Error(err)
		return
	}
	var wg sync.WaitGroup
	for _, way := range [][2]net.Conn{{c, to}, {to, c}} {
		wg.Go(func() {
			io.Copy(way[0], way[1])
			way[0].Close()
		})
	}
	wg.Wait()
}

// TestBadProxies checks what is said of a proxy that refuses, and of one that cannot be.
func TestBadProxies(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "who are you?", http.StatusProxyAuthRequired)
	}))
	defer refuses.Close()
	c, l, posts, err := ready(Target{URL: "https://192.0.2.1"}, Load{Requests: words(1, 4), Concurrency: 1})
	assert.NilError(t, err)
	c.pool.proxy, err = url.Parse(refuses.URL)
	assert.NilError(t, err)
	samples, err := c.pass(t.Context(), l, posts)
	c.close()
	assert.NilError(t, err)
	assert.Equal(t, samples[0].Outcome, sample.Connect)
	assert.ErrorContains(t, samples[0].Err, "proxy: status 407 Proxy Authentication Required")

	for proxy, want := range map[string]string{"ftp://proxy": `a proxy of scheme "ftp"; want http, https, socks5 or socks5h`, "": "no such proxy"} {
		_, err := newPool(Target{}, "http://server", func(*http.Request) (*url.URL, error) {
			if proxy == "" {
				return nil, errors.New(want)
			}
			return url.Parse(proxy)
		})
		assert.ErrorContains(t, err, want)
	}
}

// TestResponses sends two requests to servers that answer in ways of their own, and
// checks whether the connection of the first is used for the second.
func TestResponses(t *testing.T) {
	const (
		text = "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
		kind = "Content-Type: text/event-stream\r\n"
	)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(text))
	chunked := fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n", len(text), text)
	for _, tt := range []struct {
		name, answer string
		ends         bool // with the connection
		conns        int64
		want         sample.Outcome
		says         string
	}{
		{"of a length", "HTTP/1.1 200 OK\r\n" + kind + length + "\r\n" + text, false, 1, sample.OK, ""},
		{"in chunks", "HTTP/1.1 200 OK\r\n" + kind + chunked + "\r\n", false, 1, sample.OK, ""},
		{"a trailer", "HTTP/1.1 200 OK\r\n" + kind + chunked + "X-Time: 1\r\n\r\n", false, 1, sample.OK, ""},
		{"interim responses", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n" + kind + length + "\r\n" + text, false, 1, sample.OK, ""},
		{"close", "HTTP/1.1 200 OK\r\nConnection: close\r\n" + kind + length + "\r\n" + text, true, 2, sample.OK, ""},
		{"close is said and not done", "HTTP/1.1 200 OK\r\nConnection: close\r\n" + kind + length + "\r\n" + text, false, 2, sample.OK, ""},
		{"to the end", "HTTP/1.1 200 OK\r\n" + kind + "\r\n" + text, true, 2, sample.OK, ""},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\n" + kind + length + "\r\n" + text, false, 2, sample.OK, ""},
		{"more than was said", "HTTP/1.1 200 OK\r\n" + kind + length + "\r\n" + text + "more", false, 2, sample.OK, ""},
		{"cut off", "HTTP/1.1 200 OK\r\n" + kind + length + "\r\n" + text[:20], true, 2, sample.Truncated, "unexpected EOF"},
		{"nothing", "HTTP/1.1 204 No Content\r\n\r\n", false, 1, sample.Empty, ""},
		{"no such status", "HTTP/1.1 000 Odd\r\nContent-Length: 4\r\n\r\nlong", false, 1, sample.HTTP, "000 Odd: long"},
		{"another protocol", "HTTP/1.1 101 Switching Protocols\r\n\r\n", false, 2, sample.HTTP, "101"},
		{"no end of the head", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 1100), false, 2, sample.Malformed, "a response's head of more than 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var conns atomic.Int64
			checkLeaks(t)
			target, _ := asked(t, func(c net.Conn, before int) bool {
				if before == 0 {
					conns.Add(1)
				}
				io.WriteString(c, tt.answer)
				return !tt.ends
			})
			for _, s := range onePass(t, target, Load{Requests: words(2, 1), Concurrency: 1}) {
				assert.Equal(t, s.Outcome, tt.want, "%v", s.Err)
				assert.Equal(t, s.Resent, 0)
				if tt.says != "" {
					assert.ErrorContains(t, s.Err, tt.says)
				}
			}
			assert.Equal(t, conns.Load(), tt.conns)
		})
	}
}

// TestLargeRequest sends more than a connection holds to servers that take their time,
// that answer before they have read it, and that never read.
func TestLargeRequest(t *testing.T) {
	const size = 16 << 20
	const refusal = "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlong"
	for _, tt := range []struct {
		name  string
		serve func(c net.Conn)
		want  sample.Outcome
	}{
		{"takes its time", func(c net.Conn) {
			time.Sleep(20 * ms)
			each(c, answerAlways)
		}, sample.OK},
		{"an interim answer before", func(c net.Conn) { after(c, "HTTP/1.1 103 Early Hints\r\n\r\n", reply200) }, sample.OK},
		{"a head before", func(c net.Conn) {
			after(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n", func(c net.Conn) {
				fmt.Fprintf(c, "%x\r\n%s\r\n0\r\n\r\n", len(wholeAnswer), wholeAnswer)
			})
		}, sample.OK},
		{"an answer before, and it reads no more", func(c net.Conn) {
			bufio.NewReaderSize(c, 16).ReadString('\n')
			reply200(c)
			io.Copy(io.Discard, io.LimitReader(c, 1)) // until the client closes it, but for a byte
			time.Sleep(20 * ms)
		}, sample.OK},
		{"answers before", func(c net.Conn) {
			bufio.NewReaderSize(c, 16).ReadString('\n')
			io.WriteString(c, refusal)
		}, sample.HTTP},
		{"answers before, and stays", func(c net.Conn) {
			bufio.NewReaderSize(c, 16).ReadString('\n')
			io.WriteString(c, refusal)
			time.Sleep(400 * ms)
		}, sample.HTTP},
		{"never reads", func(c net.Conn) {
			time.Sleep(400 * ms)
		}, sample.Timeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkLeaks(t)
			samples := onePass(t, Target{URL: rawServer(t, tt.serve)}, Load{
				Requests:    []Request{{Prompt: strings.Repeat("a", size), MaxTokens: 3}},
				Concurrency: 1,
				Timeout:     map[bool]time.Duration{true: 200 * ms, false: 20 * time.Second}[tt.want == sample.Timeout],
			})
			assert.Equal(t, samples[0].Outcome, tt.want, "%v", samples[0].Err)
		})
	}
}

const wholeAnswer = content + finish + done

func reply200(c net.Conn) {
	fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(wholeAnswer), wholeAnswer)
}

// TestHangUps checks which requests are sent again, on a server that hangs up after
// 50 ms: those on a connection that was used before, once, and their time counts from
// when they were sent first.
func TestHangUps(t *testing.T) {
	for _, tt := range []struct {
		name     string
		answers  int // on a connection, before it hangs up
		want     sample.Outcome
		requests int
	}{
		{"on the first request of a connection", 0, sample.Connect, 10},
		{"on the second one", 1, sample.OK, 10 + 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target, requests := asked(t, func(c net.Conn, before int) bool {
				if before < tt.answers {
					reply200(c)
					return true
				}
				<-time.After(50 * ms)
				return false
			})
			c, l, posts, err := ready(target, Load{Requests: words(10, 1), Concurrency: 5})
			assert.NilError(t, err)
			defer c.close()
			samples, err := c.pass(t.Context(), l, posts)
			assert.NilError(t, err)
			again := 0
			for _, s := range samples {
				assert.Equal(t, s.Outcome, tt.want, "%v", s.Err)
				if again += s.Resent; s.Resent > 0 {
					ttft, _ := s.TTFT()
					assert.Assert(t, ttft >= 50*ms, "a request that was sent twice has a TTFT of %v", ttft)
				}
			}
			assert.Equal(t, requests(), tt.requests)
			assert.Equal(t, again, tt.requests-10)
		})
	}
}

// TestIdleBetweenPasses checks that what the server does with idle connections between
// two passes is no matter of the second: that it closes them, or says something that
// nobody asked for. The connections it needs are opened ahead.
func TestIdleBetweenPasses(t *testing.T) {
	for name, say := range map[string]string{"closes": "", "speaks": "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			target, requests := asked(t, func(c net.Conn, before int) bool {
				<-time.After(30 * ms) // in which each worker sends its one request
				reply200(c)
				if say == "" {
					return false
				}
				<-time.After(20 * ms)
				io.WriteString(c, say)
				return true
			})
			c, l, posts, err := ready(target, Load{Requests: words(4, 1), Concurrency: 4, Stagger: -1})
			assert.NilError(t, err)
			defer c.close()
			for pass := range 2 {
				samples, err := c.pass(t.Context(), l, posts)
				assert.NilError(t, err)
				for _, s := range samples {
					assert.NilError(t, s.Err)
					assert.Assert(t, s.Connect == 0 && s.Resent == 0, "pass %d: connect %v, resent %d", pass, s.Connect, s.Resent)
				}
				<-time.After(100 * ms)
			}
			assert.Equal(t, requests(), 8)
		})
	}
}

// TestRequestThatCannotBeWritten checks that nobody waits for its answer.
func TestRequestThatCannotBeWritten(t *testing.T) {
	c, l, posts, err := ready(Target{URL: "http://a<b"}, Load{Requests: words(1, 1), Concurrency: 1, Timeout: 10 * time.Second})
	assert.NilError(t, err)
	defer c.close()
	c.pool.proxy = &url.URL{Scheme: "http", Host: "proxy"}
	c.pool.dial = func(context.Context, string, string) (net.Conn, error) {
		client, _ := net.Pipe()
		return client, nil
	}
	samples, err := c.pass(t.Context(), l, posts)
	assert.NilError(t, err)
	assert.Equal(t, samples[0].Outcome, sample.Connect)
	assert.ErrorContains(t, samples[0].Err, "invalid Host header")
}

// after reads the head of a request, says early, and when it has read the body the rest.
func after(c net.Conn, early string, rest func(net.Conn)) {
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	io.WriteString(c, early)
	time.Sleep(20 * ms)
	if n, err := io.Copy(io.Discard, req.Body); err == nil && n == req.ContentLength {
		rest(c)
	}
}

// TestIdleTLSEnds checks that a connection on which TLS brought an end or an answer
// while it was idle is not used, and one on which it brought neither is.
func TestIdleTLSEnds(t *testing.T) {
	checkLeaks(t)
	for _, idle := range []time.Duration{0, 50 * ms} { // 0: for ever
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, wholeAnswer)
		}))
		srv.Config.IdleTimeout, srv.Config.ReadHeaderTimeout = idle, idle
		srv.StartTLS()
		defer srv.Close()
		c, l, posts, err := ready(Target{URL: srv.URL}, Load{Requests: words(1, 1), Concurrency: 1})
		assert.NilError(t, err)
		defer c.close()
		c.pool.roots = srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		w := newWorker(c, l, newClock(wallClock))
		c.pool.prepare(t.Context(), 1) // it gets the session's tickets, which are nobody's answer
		for i := range 3 {
			time.Sleep(10*ms + 4*idle)
			s := w.do(t.Context(), posts[0], 0, false)
			assert.NilError(t, s.Err)
			assert.Equal(t, s.Resent, 0)
			assert.Equal(t, s.Connect > 0, idle > 0, "request %d waited %v for a connection", i, s.Connect)
		}
		assert.Equal(t, c.pool.opened(), 1)
	}
}

// TestIdleConnectionEnds checks that a connection which the server closed while it
// was idle is not used: the request that comes then opens another.
func TestIdleConnectionEnds(t *testing.T) {
	target, requests := asked(t, func(c net.Conn, _ int) bool {
		reply200(c)
		return false
	})
	c, l, posts, err := ready(target, Load{Requests: words(1, 1), Concurrency: 1})
	assert.NilError(t, err)
	defer c.close()
	w := newWorker(c, l, newClock(wallClock))
	for i := range 2 {
		s := w.do(t.Context(), posts[0], 0, false)
		assert.NilError(t, s.Err)
		assert.Assert(t, s.Connect > 0 && s.Resent == 0, "request %d: connect %v, resent %d", i, s.Connect, s.Resent)
		for deadline := time.Now().Add(5 * time.Second); !c.pool.idle[0].gone(); time.Sleep(ms) {
			assert.Assert(t, time.Now().Before(deadline), "the end is not seen")
		}
	}
	assert.Equal(t, c.pool.opened(), 1)
	assert.Equal(t, requests(), 2)
}
