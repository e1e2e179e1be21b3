package mockserver

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// TestCutWithNothingToWrite has the fault truncate occur when all bytes of the answer have already
// been written. The log entry must still be completed, even with HTTP/1.0, where no bytes mark the
// end of the body.
func TestCutWithNothingToWrite(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/1.0"} {
		srv, err := New(Config{TTFT: time.Millisecond, Faults: []fault.Fault{{Kind: fault.Truncate, Every: 1, At: 2}}})
		if err != nil {
			t.Fatal(err)
		}
		url, stop, err := Listen("127.0.0.1:0", srv)
		if err != nil {
			t.Fatal(err)
		}
		defer stop(0)
		ask := func(request string) string {
			c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(time.Minute))
			io.WriteString(c, request)
			answer, err := io.ReadAll(c)
			if err != nil {
				t.Fatal(err)
			}
			return string(answer)
		}
		const body = `{"model":"mock","stream":true,"max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`
		ask(fmt.Sprintf("POST /v1/chat/completions %s\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", proto, len(body), body))
		metrics := ask("GET /metrics HTTP/1.0\r\n\r\n")
		sum := regexp.MustCompile(`e2e_request_latency_seconds_sum\S* (\S+)`).FindStringSubmatch(metrics)
		if len(sum) != 2 {
			t.Fatalf("%s: no sum of latencies in\n%s", proto, metrics)
		}
		if seconds, err := strconv.ParseFloat(sum[1], 64); err != nil || seconds < 0.001 {
			t.Errorf("%s: the latency is %v, %v", proto, seconds, err)
		}
		if all := srv.Log(); len(all) != 1 || all[0].OutputTokens != 2 {
			t.Errorf("%s: the log has %+v; want one entry of two tokens", proto, all)
		}
	}
}

// TestStart checks that the server answers during the test, and closes its connections after the test.
func TestStart(t *testing.T) {
	var idle net.Conn
	t.Run("server", func(t *testing.T) {
		s, url := Start(t, Config{})
		resp, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"a","max_tokens":1}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || len(s.Log()) != 1 {
			t.Errorf("status %d, %d requests in the log; want 200 and 1", resp.StatusCode, len(s.Log()))
		}
		if idle, err = net.Dial("tcp", strings.TrimPrefix(url, "http://")); err != nil {
			t.Fatal(err)
		}
	})
	defer idle.Close()
	idle.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := idle.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection after the test: %v; want its end", err)
	}
}
