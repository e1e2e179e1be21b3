package conn

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

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
		assert.Equal(t, hostPort(u), want, base)
	}
}

// TestProxies sends requests through each kind of proxy, with and without TLS between
// the client and the server.
func TestProxies(t *testing.T) {
	runtest.CheckLeaks(t)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body)
	})
	for _, tt := range []struct {
		scheme string
		tls    bool
		want   string // what each connection or request asks the proxy for
	}{
		{"http", false, "POST http://TARGET/path user:secret"},
		{"http", true, "CONNECT TARGET user:secret"},
		{"https", false, "POST http://TARGET/path user:secret"},
		{"https", true, "CONNECT TARGET user:secret"},
		{"socks5", false, "SOCKS TARGET user:secret"},
		{"socks5h", true, "SOCKS TARGET user:secret"},
	} {
		t.Run(fmt.Sprintf("%s, tls=%t", tt.scheme, tt.tls), func(t *testing.T) {
			server := httptest.NewUnstartedServer(handler)
			if tt.tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			var asked journal
			var addr string
			secure := server
			if strings.HasPrefix(tt.scheme, "socks") {
				addr = runtest.Serve(t, socksProxy(t, &asked))
			} else {
				proxy := httptest.NewUnstartedServer(httpProxy(t, &asked))
				if tt.scheme == "https" {
					proxy.StartTLS()
					secure = proxy
				} else {
					proxy.Start()
				}
				defer proxy.Close()
				addr = proxy.Listener.Addr().String()
			}
			o := Options{URL: server.URL, Proxy: &url.URL{Scheme: tt.scheme, Host: addr, User: url.UserPassword("user", "secret")}}
			if secure.TLS != nil {
				o.TLS = secure.Client().Transport.(*http.Transport).TLSClientConfig
			}
			p := newPool(t, o)
			p.Prepare(t.Context(), 1)
			for range 3 {
				trace, body, err := post(t.Context(), p, server.URL+"/path")
				assert.NilError(t, err)
				assert.Equal(t, body, "question")
				assert.Equal(t, trace.Connect, time.Duration(0), "the connection was not opened ahead")
			}
			want := strings.ReplaceAll(tt.want, "TARGET", server.Listener.Addr().String())
			if strings.HasPrefix(want, "POST") {
				assert.DeepEqual(t, asked.all(), []string{want, want, want})
			} else {
				assert.DeepEqual(t, asked.all(), []string{want})
			}
			p.CloseIdle()
			assert.Equal(t, p.Open(), 0)
		})
	}
}

// A journal records the requests to a proxy. The proxy's goroutines write it, and the test reads it.
type journal struct {
	mu      sync.Mutex
	entries []string
}

func (j *journal) add(entry string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, entry)
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

// httpProxy is a proxy that records its requests in asked.
func httpProxy(tb testing.TB, asked *journal) http.Handler {
	forward := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		check := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		user, password, _ := check.BasicAuth()
		asked.add(r.Method + " " + strings.TrimPrefix(r.URL.String(), "//") + " " + user + ":" + password)
		if r.Method != http.MethodConnect {
			body, err := io.ReadAll(r.Body) // forward may not read the body once the answer has begun (https://go.dev/issue/40747)
			if err != nil {
				tb.Error(err)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
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

// socksProxy is a proxy according to RFC 1928 and RFC 1929.
func socksProxy(tb testing.TB, asked *journal) func(net.Conn) {
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
		asked.add("SOCKS " + addr + " " + user + ":" + password)
		c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
		relay(tb, c, addr)
	}
}

// relay connects c with addr until both ends are closed.
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

// TestBadProxy checks the error for a proxy that refuses the connection.
func TestBadProxy(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "who are you?", http.StatusProxyAuthRequired)
	}))
	defer refuses.Close()
	u, err := url.Parse(refuses.URL)
	assert.NilError(t, err)
	p := newPool(t, Options{URL: "https://192.0.2.1", Proxy: u})
	_, _, err = post(t.Context(), p, "https://192.0.2.1")
	assert.ErrorContains(t, err, "proxy: status 407 Proxy Authentication Required")
}
