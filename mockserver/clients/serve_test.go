package clients

import (
	"net/http"
	"runtime"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A mock is a running server, with an HTTP client for the SDKs.
type mock struct {
	*mockserver.Server
	url    string
	client *http.Client
}

// serve starts a server on a real socket. At the end of the test it checks that no connection and
// no goroutine remain.
func serve(t *testing.T, cfg mockserver.Config) mock {
	t.Helper()
	before := runtime.NumGoroutine()
	s, err := mockserver.New(cfg)
	assert.NilError(t, err)
	url, stop, err := mockserver.Listen("127.0.0.1:0", s)
	assert.NilError(t, err)
	tr := new(http.Transport)
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		stop(0)
		settled(t, "goroutines", func() bool { return runtime.NumGoroutine() <= before })
	})
	return mock{s, url, &http.Client{Transport: tr}}
}

// spoiled starts a server on which all requests have the same fault.
func spoiled(t *testing.T, kind fault.Kind, at int) mock {
	t.Helper()
	return serve(t, mockserver.Config{Faults: []fault.Fault{{Kind: kind, Every: 1, At: at}}})
}

// settled waits until other goroutines have made the condition true.
func settled(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); runtime.Gosched() {
		if time.Now().After(deadline) {
			b := make([]byte, 1<<16)
			t.Fatalf("%s remain after the deadline:\n%s", what, b[:runtime.Stack(b, true)])
		}
	}
}

// leaves checks the log entry of a request whose client hung up after the first token. The second
// token was due an hour later.
func (m mock) leaves(t *testing.T) {
	t.Helper()
	settled(t, "requests", func() bool { return len(m.Log()) == 1 })
	e := m.Log()[0]
	assert.Assert(t, e.Aborted && e.OutputTokens == 1, "Log()[0] = %+v", e)
}

// hourly is the configuration for mock.leaves.
var hourly = mockserver.Config{PerToken: time.Hour}

// shaped returns the shape that a list of names describes.
func shaped(t *testing.T, list string) shape.Shape {
	t.Helper()
	var s shape.Shape
	assert.NilError(t, s.Set(list))
	return s
}
