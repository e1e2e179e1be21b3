package mockserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// A countedConn counts the connections that are open.
type countedConn struct {
	net.Conn
	open *atomic.Int64
	once atomic.Bool
}

func (c *countedConn) Close() error {
	if !c.once.Swap(true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}

// This test sends a request with every fault, in every dialect, with and without streaming, to
// a server with an engine and to one without. Each request must end and have a log entry, and
// no goroutine or connection may remain.
func TestEveryFaultEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	for name, e := range map[string]*engine.Profile{"fixed": nil, "batching": {MaxBatch: 4}} {
		t.Run(name, func(t *testing.T) { everyFault(t, Config{Engine: e}) })
	}
}

func everyFault(t *testing.T, cfg Config) {
	before := runtime.NumGoroutine()
	var open atomic.Int64
	tr := &http.Transport{DisableCompression: true, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		open.Add(1)
		return &countedConn{Conn: conn, open: &open}, nil
	}}
	client := &http.Client{Transport: tr}
	for name := range fault.Names() {
		kind := fault.Kind(name)
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			for _, d := range dialectCases {
				cfg.Flavor, cfg.Faults = d.flavor, []fault.Fault{{Kind: kind, Every: 1, At: 2, Size: 100_000}}
				s := mustNew(t, cfg)
				url, stop, err := Listen("127.0.0.1:0", s)
				if err != nil {
					t.Fatal(err)
				}
				wg.Go(func() {
					oneFault(t, client, s, url, kind, d)
					stop(0) // every handler has returned
				})
			}
			wg.Wait()
			tr.CloseIdleConnections()
			settled(t, "connections", func() bool { return open.Load() == 0 })
			settled(t, "goroutines", func() bool { return runtime.NumGoroutine() <= before+1 }) // the subtest has one
		})
	}
}

// oneFault sends the request of a dialect case to a server with one fault.
func oneFault(t *testing.T, client *http.Client, s *Server, url string, kind fault.Kind, d dialectCase) {
	hangs := kind == fault.Stall || kind == fault.Endless && d.stream
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	if hangs {
		go func() { // the answer has no end, so hang up when the request has its slot
			settled(t, "requests without a slot", func() bool {
				return s.plan.Load().Running > 0
			})
			leave()
		}()
	}
	status, body, err := exchangeOver(ctx, client, url+d.path, fmt.Sprintf(d.body, 4))
	broken := kind == fault.Reset || kind == fault.Die || kind == fault.FIN
	if !hangs && broken != (err != nil) {
		t.Errorf("%s: status %d, %v, %q", d.name, status, err, body)
	}
	if want := refusals[kind]; want != nil && (status != want.Status || !json.Valid([]byte(body))) {
		t.Errorf("%s: status %d, %q, want %d and JSON", d.name, status, body, want.Status)
	}
	settled(t, "requests", func() bool { return len(s.Log()) == 1 })
	kind = fault.For([]fault.Fault{{Kind: kind, Every: 1}}, 1, d.stream, 1).Kind // a fault may have no effect without a stream
	if log := s.Log(); len(log) != 1 || log[0].Fault != kind || log[0].Aborted != hangs {
		t.Errorf("%s: Log() = %+v, want one with fault %q, aborted %v", d.name, log, kind, hangs)
	}
}

// exchangeOver posts a body and reads the answer to its end.
func exchangeOver(ctx context.Context, client *http.Client, url, body string) (status int, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// settled waits until other goroutines have made the condition true.
func settled(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); runtime.Gosched() {
		if time.Now().After(deadline) {
			b := make([]byte, 1<<16)
			t.Errorf("%s remain after the deadline:\n%s", what, b[:runtime.Stack(b, true)])
			return
		}
	}
}
