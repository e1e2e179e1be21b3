package mockserver

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

const (
	chatPath = "/v1/chat/completions"
	textPath = "/v1/completions"
)

// A rig is a running server with a client.
type rig struct {
	*Server
	t      *testing.T
	client *http.Client
	url    string
	stop   func(grace time.Duration)
}

// inMemory starts a server on an in-memory network, for use in a synctest bubble.
func inMemory(t *testing.T, cfg Config) *rig {
	t.Helper()
	s := mustNew(t, cfg)
	ln := memnet.Listen()
	tr := &http.Transport{DialContext: ln.Dial, MaxIdleConnsPerHost: 100, DisableCompression: true}
	r := &rig{s, t, &http.Client{Transport: tr}, "http://mock", serve(ln, s)}
	t.Cleanup(func() { tr.CloseIdleConnections(); r.stop(0) })
	return r
}

// onLoopback starts a server on a real socket.
func onLoopback(t *testing.T, cfg Config) *rig {
	t.Helper()
	s := mustNew(t, cfg)
	url, stop, err := Listen("127.0.0.1:0", s)
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{DisableCompression: true}
	t.Cleanup(func() { tr.CloseIdleConnections(); stop(0) })
	return &rig{s, t, &http.Client{Transport: tr}, url, stop}
}

func mustNew(t testing.TB, cfg Config) *Server {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// post sends a body and returns the answer without reading its body.
func (r *rig) post(ctx context.Context, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, "POST", r.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return r.client.Do(req)
}

// read posts and reads the answer to its end.
func (r *rig) read(path, body string) (status int, text string, err error) {
	resp, err := r.post(r.t.Context(), path, body)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// must posts and returns the whole answer. Any status but 200 fails the test.
func (r *rig) must(path, body string) string {
	r.t.Helper()
	status, text, err := r.read(path, body)
	if status != 200 || err != nil {
		r.t.Fatalf("POST %s %s = %d %q, %v, want 200", path, body, status, text, err)
	}
	return text
}

// only returns the only entry of the log.
func (r *rig) only() Entry {
	r.t.Helper()
	log := r.Log()
	if len(log) != 1 {
		r.t.Fatalf("Log() has %d entries, want 1: %+v", len(log), log)
	}
	return log[0]
}

// An arrival is a line of data, with the time at which the client read the line. The time is
// measured like the times of the log.
type arrival struct {
	at   time.Duration
	data string
}

// arrivals posts a body and reads the stream line by line.
func (r *rig) arrivals(path, body string) []arrival {
	r.t.Helper()
	resp, err := r.post(r.t.Context(), path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var got []arrival
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			got = append(got, arrival{time.Since(r.Epoch()), data})
		}
	}
	if lines.Err() != nil {
		r.t.Fatal(lines.Err())
	}
	return got
}

// ms converts times from milliseconds.
func ms(v ...float64) []time.Duration {
	d := make([]time.Duration, len(v))
	for i := range v {
		d[i] = time.Duration(v[i] * float64(time.Millisecond))
	}
	return d
}
