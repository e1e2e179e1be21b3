package mockserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// http2Client returns a client that speaks HTTP/2 only.
func http2Client(t *testing.T, config *tls.Config) *http.Client {
	var protocols http.Protocols
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols, TLSClientConfig: config}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

const http2Body = `{"model":"mock","stream":true,"max_tokens":20,"messages":[{"role":"user","content":"one two"}]}`

// TestHTTP2Log checks the log of streams that share a connection of HTTP/2, with TLS and without: the times of each stream's
// tokens increase, the token has not come before the time, and the end of the answer is in the log when the client has read it.
func TestHTTP2Log(t *testing.T) {
	example := httptest.NewTLSServer(nil) // has a certificate
	defer example.Close()
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls=%v", secure), func(t *testing.T) {
			srv, err := New(Config{TTFT: 2 * time.Millisecond, PerToken: time.Millisecond, Jitter: 0.5})
			must(t, err)
			var config *tls.Config
			if secure {
				config = example.TLS
			}
			url, stop, err := ListenTLS("127.0.0.1:0", srv, config)
			must(t, err)
			defer stop(0)
			client := http2Client(t, example.Client().Transport.(*http.Transport).TLSClientConfig)
			const streams = 16
			var all sync.WaitGroup
			for i := range streams {
				all.Go(func() {
					id := fmt.Sprint("id-", i)
					req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions", strings.NewReader(http2Body))
					if err != nil {
						t.Error(err)
						return
					}
					req.Header.Set("X-Request-Id", id)
					resp, err := client.Do(req)
					if err != nil {
						t.Error(err)
						return
					}
					defer resp.Body.Close()
					if resp.ProtoMajor != 2 {
						t.Errorf("the answer is in %s; want HTTP/2.0", resp.Proto)
					}
					var came []time.Duration // when each delta had been read; the first one may have no token
					var text []byte
					for p := make([]byte, 4<<10); err == nil; {
						var n int
						n, err = resp.Body.Read(p)
						text = append(text, p[:n]...)
						for now := time.Since(srv.Epoch()); len(came) < bytes.Count(text, []byte(`"content":`)); {
							came = append(came, now)
						}
					}
					if err != io.EOF {
						t.Errorf("%s: %v", id, err)
					}
					log := srv.Log()
					at := slices.IndexFunc(log, func(e Entry) bool { return e.ID == id })
					if at < 0 {
						t.Errorf("the log has no request %s", id)
						return
					}
					e := log[at]
					if e.OutputTokens != 20 || !slices.IsSorted(e.Tokens) || e.Aborted {
						t.Errorf("%+v; want 20 tokens in order", e)
					}
					if len(came) < len(e.Tokens) {
						t.Errorf("%s: %d deltas; want %d tokens", id, len(came), len(e.Tokens))
						return
					}
					came = came[len(came)-len(e.Tokens):]
					for k, wrote := range e.Tokens {
						if wrote < e.Admitted || came[k] < wrote {
							t.Errorf("%s: token %d was written at %v and read at %v; admitted at %v", id, k, wrote, came[k], e.Admitted)
						}
					}
				})
			}
			all.Wait()
		})
	}
}

// TestHTTP2Observed checks that the times in the log are of the writes to the network, and not of the handler's flushes: data
// wait while the client does not read.
func TestHTTP2Observed(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	c := &sendConn{Conn: server}
	head := func(length int, kind, flags byte, stream byte) string {
		return string([]byte{0, byte(length >> 8), byte(length), kind, flags, 0, 0, 0, stream})
	}
	// A literal field without a name in the table (RFC 7541, 6.2.2), in a frame with padding and priority and one without.
	field := func(id string) string {
		return "\x00\x0cx-request-id" + string([]byte{byte(len(id))}) + id
	}
	a, b := "\x02\x00\x00\x00\x00\x10"+field("a")+"\x00\x00", field("b")
	sent := "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + head(len(a), 1, 0x4|0x8|0x20, 1) + a + head(5, 1, 0, 3) + b[:5] + head(len(b)-5, 9, 0x4, 3) + b[5:]
	go func() {
		for i := range len(sent) { // in pieces of one byte
			client.Write([]byte{sent[i]})
		}
	}()
	_, err := io.ReadFull(c, make([]byte, len(sent)))
	must(t, err)
	tap := c.tap.Load()
	if tap == nil {
		t.Fatal("the connection has no tap")
	}
	if a, b, c := tap.stream("a"), tap.stream("b"), tap.stream("c"); a != 1 || b != 3 || c != 0 {
		t.Errorf("streams %d, %d and %d; want 1, 3 and 0", a, b, c)
	}

	var seen []string
	note := func(name string) observer { return noted{name, &seen} }
	one, two := tap.expect(1, 1, 5, note("one")), tap.expect(3, 0, 4, note("two"))
	go io.Copy(io.Discard, client)
	write := func(text string) {
		_, err := c.Write([]byte(text))
		must(t, err)
	}
	write(head(2, 1, 0x4, 1) + "hh" + head(5, 0, 0, 1) + "t")
	if len(seen) > 0 {
		t.Errorf("%q before the data had been written", seen)
	}
	write("oke")
	write("n" + head(4, 0, 1, 3) + "data")
	if want := []string{"one writing", "two writing", "one wrote", "two wrote"}; !slices.Equal(seen, want) {
		t.Errorf("%q; want %q", seen, want)
	}
	<-one.done
	<-two.done
	three := tap.expect(1, 5, 6, note("three"))
	tap.forget(1, three)
	write(head(1, 0, 0, 1) + "x")
	if len(seen) != 4 {
		t.Errorf("%q after forget", seen[4:])
	}
}

type noted struct {
	name string
	all  *[]string
}

func (n noted) writing() { *n.all = append(*n.all, n.name+" writing") }
func (n noted) wrote()   { *n.all = append(*n.all, n.name+" wrote") }

// TestHTTP2Faults checks what a client of HTTP/2 gets if an answer is cut, and that the log says so.
func TestHTTP2Faults(t *testing.T) {
	for _, kind := range []fault.Kind{fault.FIN, fault.Reset, fault.Die, fault.Gzip, fault.SlowHeader} {
		t.Run(string(kind), func(t *testing.T) {
			srv, url := Start(t, Config{Faults: []fault.Fault{{Kind: kind, Every: 1, At: 5}}})
			client := http2Client(t, nil)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions", strings.NewReader(http2Body))
			must(t, err)
			req.Header.Set("X-Request-Id", "id")
			resp, err := client.Do(req)
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			if kind == fault.Gzip || kind == fault.SlowHeader {
				must(t, err)
			} else if err == nil || !strings.Contains(err.Error(), "INTERNAL_ERROR") {
				t.Errorf("%v; want a stream that is reset with INTERNAL_ERROR", err)
			}
			if log := srv.Log(); len(log) != 1 || log[0].Fault != kind {
				t.Errorf("%+v; want one request with the fault %s", log, kind)
			}
		})
	}
}

// TestHTTP2Gone checks that a client that leaves ends its stream in the log, and no other.
func TestHTTP2Gone(t *testing.T) {
	srv, url := Start(t, Config{PerToken: time.Hour})
	client := http2Client(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(http2Body))
	must(t, err)
	req.Header.Set("X-Request-Id", "id")
	resp, err := client.Do(req)
	must(t, err)
	_, err = resp.Body.Read(make([]byte, 10))
	must(t, err)
	cancel()
	_, err = io.Copy(io.Discard, resp.Body)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	resp.Body.Close()
	for len(srv.Log()) == 0 { // the entry appears a moment later
		select {
		case <-t.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}
	if e := srv.Log()[0]; !e.Aborted || e.OutputTokens != 1 {
		t.Errorf("%+v; want one token of an aborted answer", e)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
