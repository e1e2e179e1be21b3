package mockserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// TestFaultsOnLoopback checks the results of a net/http client on a real socket.
func TestFaultsOnLoopback(t *testing.T) {
	const (
		stream = `{"messages":[{"content":"hi"}],"max_tokens":5,"stream":true,"stream_options":{"include_usage":true}}`
		whole  = `{"messages":[{"content":"hi"}],"max_tokens":5}`
		done   = "data: [DONE]\n\n"
	)
	for _, tt := range []struct {
		name   string
		fault  fault.Fault
		body   string
		status int
		errIs  error  // error of the request, or of reading the body
		tokens int    // number of events with text
		has    string // a part of the body
		hasNot string
		entry  Entry // only some fields are compared
		reused bool  // the next requests use the same connection
	}{
		{"http-500", fault.Fault{Kind: fault.HTTP500, Every: 1, At: 3}, stream, 500, nil, 0, `"type":"InternalServerError"`, done, Entry{Status: 500, Admitted: -1}, true},
		{"http-500 whole", fault.Fault{Kind: fault.HTTP500, Every: 1, At: 3}, whole, 500, nil, 0, `"type":"InternalServerError"`, "content", Entry{Status: 500, Admitted: -1}, true},
		{"reset", fault.Fault{Kind: fault.Reset, Every: 1, At: 3}, stream, 200, syscall.ECONNRESET, 3, "", "finish_reason\":\"", Entry{Status: 200, OutputTokens: 3}, false},
		{"reset at 0", fault.Fault{Kind: fault.Reset, Every: 1, At: 0}, stream, 0, syscall.ECONNRESET, 0, "", "", Entry{}, false},
		{"reset whole", fault.Fault{Kind: fault.Reset, Every: 1, At: 3}, whole, 0, syscall.ECONNRESET, 0, "", "", Entry{}, false},
		{"truncate", fault.Fault{Kind: fault.Truncate, Every: 1, At: 3}, stream, 200, nil, 3, "", "usage", Entry{Status: 200, OutputTokens: 3}, true},
		{"truncate at 0", fault.Fault{Kind: fault.Truncate, Every: 1, At: 0}, stream, 200, nil, 0, "", "data", Entry{Status: 200}, true},
		{"error-event", fault.Fault{Kind: fault.ErrorEvent, Every: 1, At: 3}, stream, 200, nil, 3, `data: {"error":{`, "usage", Entry{Status: 200, OutputTokens: 3}, true},
		{"empty", fault.Fault{Kind: fault.Empty, Every: 1, At: 3}, stream, 200, nil, 0, "", "data", Entry{Status: 200}, true},
		{"no-done", fault.Fault{Kind: fault.NoDone, Every: 1, At: 3}, stream, 200, nil, 5, `"finish_reason":"length"`, done, Entry{Status: 200, OutputTokens: 5}, true},
		{"malformed", fault.Fault{Kind: fault.Malformed, Every: 1, At: 3}, stream, 200, nil, 5, done, "", Entry{Status: 200, OutputTokens: 5}, true},
		{"none", fault.Fault{Kind: fault.Reset, Every: 2, At: 3}, stream, 200, nil, 5, done, "", Entry{Status: 200, OutputTokens: 5}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := onLoopback(t, Config{Faults: []fault.Fault{tt.fault}})
			var dials atomic.Int64
			r.client.Transport.(*http.Transport).DialContext = func(_ context.Context, network, addr string) (net.Conn, error) {
				dials.Add(1)
				return net.Dial(network, addr)
			}
			status, text, err := r.read(chatPath, tt.body)
			if status != tt.status || !errors.Is(err, tt.errIs) {
				t.Errorf("status %d, error %v, want %d, %v", status, err, tt.status, tt.errIs)
			}
			if got := strings.Count(text, `"content":" `); got != tt.tokens {
				t.Errorf("%d events with text, want %d:\n%s", got, tt.tokens, text)
			}
			if !strings.Contains(text, tt.has) || tt.hasNot != "" && strings.Contains(text, tt.hasNot) {
				t.Errorf("body %q, want it with %q and without %q", text, tt.has, tt.hasNot)
			}
			e := r.only() // the entry is in the log, because the client has read the end
			kind := tt.fault.Kind
			if tt.name == "none" {
				kind = ""
			}
			if e.Status != tt.entry.Status || e.OutputTokens != tt.entry.OutputTokens || e.Fault != kind || e.Aborted ||
				(e.Admitted == -1) != (tt.entry.Admitted == -1) {
				t.Errorf("Log()[0] = %+v, want %+v with fault %q", e, tt.entry, kind)
			}
			if tt.reused {
				// net/http closes a connection if its own goroutines are late. So a few
				// requests may need a new connection, but not all.
				const more = 5
				for range more {
					r.read(chatPath, tt.body)
				}
				if n := dials.Load(); n > more {
					t.Errorf("%d connections for %d requests, want fewer", n, 1+more)
				}
			}
		})
	}
}

func TestStopEndsStalledStreams(t *testing.T) {
	r := onLoopback(t, Config{Slots: 1, Faults: []fault.Fault{{Kind: fault.Stall, Every: 1, At: 2}}})
	stalled, err := r.post(t.Context(), chatPath, `{"messages":[{"content":"hi"}],"stream":true}`)
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Body.Close()
	queued := make(chan error)
	go func() {
		_, _, err := r.read(chatPath, `{"messages":[{"content":"hi"}]}`)
		queued <- err
	}()
	for lines, tokens := bufio.NewScanner(stalled.Body), 0; tokens < 2 && lines.Scan(); {
		tokens += strings.Count(lines.Text(), `"content":" `)
	}
	r.stop(0)
	if text, err := io.ReadAll(stalled.Body); err == nil || strings.Contains(string(text), "data") {
		t.Errorf("after its two tokens the stalled stream gave %q, %v, want an error", text, err)
	}
	if err := <-queued; err == nil {
		t.Error("the queued request has no error")
	}
	r.stop(time.Hour)           // further calls do nothing
	for _, e := range r.Log() { // the queued request may not have arrived
		if !e.Aborted {
			t.Errorf("Log() has %+v, want it aborted", e)
		}
	}
}
