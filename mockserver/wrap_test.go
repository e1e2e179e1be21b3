package mockserver

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// The bytes of a slow header arrive at their own deadlines. Tokens that are due earlier than the
// end of the header arrive at the end of the header.
func TestSlowHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustNew(t, Config{PerToken: 100 * time.Millisecond, Faults: always1(fault.SlowHeader)})
		ln := memnet.Listen()
		stop := serve(ln, s)
		conn, err := ln.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: mock\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(chatStream), chatStream)
		head, b := "", make([]byte, 1)
		for i := 0; !strings.HasSuffix(head, "\r\n\r\n"); i++ {
			if _, err := io.ReadFull(conn, b); err != nil {
				t.Fatal(err)
			}
			if got, want := time.Since(s.Epoch()), time.Duration(i)*headerByte; got != want {
				t.Fatalf("byte %d at %v, want %v", i, got, want)
			}
			head += string(b)
		}
		body, err := io.ReadAll(conn)
		if err != nil || !bytes.HasSuffix(body, []byte("[DONE]\n\n\r\n0\r\n\r\n")) {
			t.Errorf("the body is %q, %v", body, err)
		}
		end := time.Duration(len(head)-1) * headerByte
		for k, at := range s.Log()[0].Tokens {
			if want := max(end, time.Duration(k)*100*time.Millisecond); at != want && k > 0 {
				t.Errorf("token %d at %v, want %v", k, at, want)
			}
		}
		conn.Close()
		stop(0)
	})
}

// A slow header ends if the client hangs up or the server stops.
func TestSlowHeaderEnds(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := mustNew(t, Config{Faults: always1(fault.SlowHeader)})
			ln := memnet.Listen()
			stop := serve(ln, s)
			conn, err := ln.Dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: mock\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(chatStream), chatStream)
			if _, err := io.ReadFull(conn, make([]byte, 20)); err != nil {
				t.Fatal(err)
			}
			if stopped {
				stop(0)
			} else {
				conn.Close()
			}
			synctest.Wait()
			if log := s.Log(); len(log) != 1 || !log[0].Aborted || log[0].End > 20*headerByte {
				t.Errorf("stopped %v: Log() = %+v, want one that was aborted", stopped, log)
			}
			conn.Close()
			stop(0)
		})
	}
}

func TestGzip(t *testing.T) {
	for _, body := range []string{chatStream, chatWhole} {
		want := call(mustNew(t, Config{}), "POST", chatPath, body).Body.String()
		r := onLoopback(t, Config{Faults: always1(fault.Gzip)})
		resp, err := r.post(t.Context(), chatPath, body)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("encoding %q, %v, want gzip", resp.Header.Get("Content-Encoding"), err)
		}
		zr, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(zr)
		if text := strings.ReplaceAll(string(got), created(string(got)), created(want)); err != nil || text != want {
			t.Errorf("%s unzipped: %q, %v, want %q", body, text, err, want)
		}
		if e := r.only(); e.OutputTokens != 5 || e.Aborted {
			t.Errorf("Log()[0] = %+v, want 5 tokens", e)
		}
	}
}
