package mockserver

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestReceived checks that the log says when the kernel received each request, although the server reads the first one
// much later: it begins to accept connections when the kernel has acknowledged the request.
func TestReceived(t *testing.T) {
	stampedPair(t) // so that the kernel provides timestamps
	srv, err := New(Config{})
	must(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ln = stamped(ln)
	c, err := net.Dial("tcp", ln.Addr().String())
	must(t, err)
	defer c.Close()
	must(t, c.SetDeadline(time.Now().Add(time.Minute)))
	const body = `{"prompt":"a","max_tokens":2}`
	post := func() time.Duration {
		at := time.Since(srv.Epoch())
		_, err := fmt.Fprintf(c, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		must(t, err)
		return at
	}
	answers := bufio.NewReader(c)
	read := func() {
		resp, err := http.ReadResponse(answers, nil)
		must(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		must(t, err)
		must(t, resp.Body.Close())
	}

	first := post()
	awaitAcknowledged(t, c)
	serving := time.Since(srv.Epoch())
	stop := serve(ln, srv)
	defer stop(0)
	read()
	second := post()
	read()

	log := srv.Log()
	if len(log) != 2 {
		t.Fatalf("%d requests in the log, want 2", len(log))
	}
	const clocks = time.Millisecond // the wall clock may be adjusted against the monotonic one
	if r := log[0].Received; r < first-clocks || r > serving+clocks || log[0].Accepted < serving {
		t.Errorf("the first request was sent at %v, and the server began at %v: the log says received at %v, accepted at %v", first, serving, r, log[0].Accepted)
	}
	if r := log[1].Received; r < second-clocks || r > log[1].Accepted+clocks {
		t.Errorf("the second request was sent at %v: the log says received at %v, accepted at %v", second, r, log[1].Accepted)
	}
}

// awaitAcknowledged waits until the peer's kernel has acknowledged all bytes that were written to c.
func awaitAcknowledged(t *testing.T, c net.Conn) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	must(t, err)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		left, failed := 0, error(nil)
		must(t, raw.Control(func(fd uintptr) { left, failed = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }))
		must(t, failed)
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are not acknowledged after a minute", left)
		}
	}
}

// TestReceivedUnknown checks for which requests the log says when the kernel received them.
func TestReceivedUnknown(t *testing.T) {
	stampedPair(t)                        // so that the kernel provides timestamps
	example := httptest.NewTLSServer(nil) // has a certificate
	defer example.Close()
	trust := example.Client().Transport.(*http.Transport).TLSClientConfig
	oneRequest := &http.Client{Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}}
	for _, tt := range []struct {
		name   string
		server *tls.Config
		client *http.Client
		known  bool
	}{
		{"HTTP/1.1", nil, oneRequest, true},
		{"HTTP/1.1 with TLS", example.TLS, oneRequest, true},
		{"HTTP/2", nil, http2Client(t, trust), false},
		{"HTTP/2 with TLS", example.TLS, http2Client(t, trust), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, err := New(Config{})
			must(t, err)
			url, stop, err := ListenTLS("127.0.0.1:0", srv, tt.server)
			must(t, err)
			defer stop(0)
			resp, err := tt.client.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"a","max_tokens":1}`))
			must(t, err)
			must(t, resp.Body.Close())
			if log := srv.Log(); len(log) != 1 || (log[0].Received != 0) != tt.known {
				t.Errorf("the log has %+v; want one request, with the time of its arrival: %v", log, tt.known)
			}
		})
	}
}

// stampedPair returns the two ends of a connection, of which the server's has timestamps. It returns when the kernel provides
// them: the kernel begins a moment after the first socket of the machine has asked, and then provides them to all sockets.
func stampedPair(t *testing.T) (client net.Conn, server *stampConn) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ln = stamped(ln)
	defer ln.Close()
	client, err = net.Dial("tcp", ln.Addr().String())
	must(t, err)
	t.Cleanup(func() { client.Close() })
	c, err := ln.Accept()
	must(t, err)
	t.Cleanup(func() { c.Close() })
	server = c.(*stampConn)
	must(t, server.SetDeadline(time.Now().Add(time.Minute)))
	for known := false; !known; {
		_, known = received(t, client, server)
	}
	return client, server
}

// received sends a byte from the client to the server, and returns how long ago the server's kernel received it.
func received(t *testing.T, client, server net.Conn) (ago time.Duration, known bool) {
	_, err := client.Write([]byte("a"))
	must(t, err)
	_, err = server.Read(make([]byte, 10))
	must(t, err)
	return sinceReceived(server)
}

// TestNoStamp checks that the time of a request is unknown if the kernel does not provide it. The time of an earlier request
// must not be used.
func TestNoStamp(t *testing.T) {
	client, server := stampedPair(t)
	var failed error
	must(t, server.raw.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 0) }))
	must(t, failed)
	if ago, known := received(t, client, server); known {
		t.Errorf("without timestamps of the kernel, the byte was received %v ago; want that this is unknown", ago)
	}
}

// TestReadErrors checks that Read returns the errors of an ordinary connection, which net/http knows by their operation.
func TestReadErrors(t *testing.T) {
	for name, end := range map[string]func(net.Conn) error{
		"a deadline passed": func(c net.Conn) error { return c.SetReadDeadline(time.Unix(1, 0)) },
		"closed":            net.Conn.Close,
	} {
		t.Run(name, func(t *testing.T) {
			_, c := stampedPair(t)
			must(t, end(c))
			_, got := c.Read(make([]byte, 1))
			_, want := c.TCPConn.Read(make([]byte, 1))
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("Read returns %q, want %q", got, want)
			}
		})
	}
}
