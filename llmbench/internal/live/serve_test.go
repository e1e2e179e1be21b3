package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// events reads the events of a server: each state, and the number of pings before it.
type events struct{ lines *bufio.Scanner }

func follow(t *testing.T, client *http.Client, url string) (*events, io.Closer) {
	t.Helper()
	resp, err := client.Get(url + "/events")
	assert.NilError(t, err)
	assert.Equal(t, resp.Header.Get("Content-Type"), "text/event-stream")
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return &events{lines}, resp.Body
}

func (e *events) next(t *testing.T) (s State, pings int, more bool) {
	t.Helper()
	for e.lines.Scan() {
		switch line := e.lines.Text(); {
		case strings.HasPrefix(line, ":"):
			pings++
		case strings.HasPrefix(line, "data: "):
			assert.NilError(t, json.Unmarshal([]byte(line[len("data: "):]), &s))
			return s, pings, true
		}
	}
	return s, pings, false
}

// TestEvents follows a folder for a minute. The first state must arrive at once, each change within a second,
// and pings in between. When the server ends, what has changed last must arrive, and the stream must end.
func TestEvents(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", head, 0)
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		ln := memnet.Listen()
		served := make(chan error, 1)
		go func() { served <- NewServer(f.w, "").Serve(ctx, ln) }()
		client := &http.Client{Transport: &http.Transport{DialContext: ln.Dial}}
		time.Sleep(10 * time.Millisecond) // on the fake clock, until the first look at the folder
		e, body := follow(t, client, "http://localhost")
		defer body.Close()
		state, _, _ := e.next(t)
		assert.Equal(t, state.Runs[0].Requests, 0)
		go func() {
			time.Sleep(time.Minute)
			f.write("a.jsonl", request(0, 0, 100, 1000), os.O_APPEND)
		}()
		begin := time.Now()
		state, pings, _ := e.next(t)
		assert.Equal(t, state.Runs[0].Requests, 1)
		assert.Equal(t, pings, 4)
		took := time.Since(begin)
		assert.Assert(t, took >= time.Minute && took <= time.Minute+interval, took)
		f.write("a.jsonl", request(1, 0, 100, 1000), os.O_APPEND)
		stop()
		state, _, _ = e.next(t)
		assert.Equal(t, state.Runs[0].Requests, 2)
		_, _, more := e.next(t)
		assert.Assert(t, !more)
		assert.NilError(t, <-served)
		client.CloseIdleConnections()
	})
}

// TestRequests checks the response to each kind of request and Host.
func TestRequests(t *testing.T) {
	f := newFolder(t)
	f.write("a b.jsonl", head+request(0, 0, 100, 1000)+request(0, 0, 120, 1000)+end, 0)
	f.write("running.jsonl", head+request(0, 0, 100, 1000), 0)
	f.look()
	s := NewServer(f.w, "bench.example")
	for _, c := range []struct {
		method, host, path string
		status             int
		text               string
	}{
		{"GET", "127.0.0.1:8080", "/", 200, "Runs in"},
		{"HEAD", "localhost", "/", 200, ""},
		{"GET", "[::1]:8080", "/", 200, "EventSource"},
		{"GET", "192.0.2.7:80", "/", 200, "EventSource"},
		{"GET", "Bench.example:80", "/", 200, "EventSource"},
		{"GET", "rebound.example", "/", 421, `host "rebound.example": want localhost`},
		{"GET", "localhost.rebound.example:80", "/events", 421, "want localhost"},
		{"GET", "", "/", 421, "want localhost"},
		{"POST", "localhost", "/", 405, "want GET"},
		{"GET", "localhost", "/favicon.ico", 404, ""},
		{"GET", "localhost", "/report?run=a+b.jsonl", 200, "</html>"},
		{"GET", "localhost", "/report", 200, "</html>"},
		{"GET", "localhost", "/report?run=running.jsonl", 200, "no result"},
		{"GET", "localhost", "/report?run=../watch.go", 404, "no such run"},
		{"GET", "localhost", "/report?run=a+b.jsonl&run=/etc/passwd", 404, "no such run"},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Host = c.host
		s.ServeHTTP(w, r)
		assert.Equal(t, w.Code, c.status, "%s %s%s: %s", c.method, c.host, c.path, w.Body)
		assert.Assert(t, strings.Contains(w.Body.String(), c.text), "%s %s%s: %.300s", c.method, c.host, c.path, w.Body)
		policy := w.Header().Get("Content-Security-Policy")
		assert.Assert(t, strings.HasPrefix(policy, "default-src 'none'; "), policy)
		if c.path == "/" {
			assert.Assert(t, !strings.Contains(policy, "unsafe") && strings.Count(policy, "'sha256-") == 2, policy)
		}
	}
	for range maxFollowers {
		s.followers <- struct{}{}
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/events", nil)
	r.Host = "localhost"
	s.ServeHTTP(w, r)
	assert.Equal(t, w.Code, http.StatusServiceUnavailable)
}

// TestRun follows a real run against the simulated server. The server delays the last request until the test
// has seen the others end, and the request before until the last one has come.
func TestRun(t *testing.T) {
	const requests = 12
	mock, err := mockserver.New(mockserver.Config{PerToken: time.Millisecond})
	assert.NilError(t, err)
	var begun atomic.Int32
	last, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var until chan struct{}
		if r.Method == http.MethodPost {
			switch begun.Add(1) {
			case requests - 1:
				until = last
			case requests:
				close(last)
				until = release
			}
		}
		if until != nil {
			body, err := io.ReadAll(r.Body) // the context only ends with the connection once the body has been read
			assert.Check(t, err)
			r.Body = io.NopCloser(bytes.NewReader(body))
			select {
			case <-until:
			case <-r.Context().Done():
			}
		}
		mock.ServeHTTP(w, r)
	}))
	defer server.Close()
	f := newFolder(t)
	t.Setenv("LLMBENCH_OUT", f.path)
	t.Setenv("LLMBENCH_CLIENT_BOUND", "report")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	viewer := httptest.NewUnstartedServer(nil)
	served := make(chan error, 1)
	go func() { served <- NewServer(f.w, "").Serve(ctx, viewer.Listener) }()
	ended := make(chan error, 1)
	go func() {
		l := llmbench.Load{Concurrency: 2}
		for range requests {
			l.Requests = append(l.Requests, llmbench.Request{Prompt: "a b c", MaxTokens: 10, FixedOutput: true})
		}
		result, err := llmbench.Pass(ctx, "BenchmarkLive/concurrency=2", llmbench.Target{URL: server.URL, Model: "m", Simulated: true}, l)
		if err == nil {
			err = result.Close()
		}
		ended <- err
	}()
	e, body := follow(t, http.DefaultClient, "http://"+viewer.Listener.Addr().String())
	defer body.Close()
	for {
		state, _, more := e.next(t)
		assert.Assert(t, more, "the stream ended early")
		if len(state.Runs) == 0 {
			continue
		}
		run := state.Runs[0]
		if run.State == StateRunning && run.Requests == requests-1 {
			assert.Equal(t, run.InFlight, 2) // the newest finished request and the delayed one
			assert.Assert(t, !run.At.IsZero() && run.TTFT50 > 0 && run.TokensPerS > 0, "%+v", run)
			close(release)
		}
		if run.State != StateRunning {
			assert.Equal(t, run.State, StateEnded, run.Why)
			assert.Equal(t, run.Requests, requests)
			assert.Equal(t, run.OutputTokens, 10*requests)
			break
		}
	}
	assert.NilError(t, <-ended)
	stop()
	assert.NilError(t, <-served)
}
