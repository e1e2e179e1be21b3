package endpoint

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// echo is a server that answers with the request that it received.
func echo(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/moved" {
		http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
		return
	}
	fmt.Fprint(w, r.Host, " ", r.RequestURI, " ", r.Header["X-Team"], r.Header["X-Own"], r.Header["Accept-Encoding"])
}

// TestClient checks what a client adds to requests, over TCP and over a Unix socket.
func TestClient(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", socket)
	assert.NilError(t, err)
	atSocket := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	atSocket.Listener.Close()
	atSocket.Listener = ln
	atSocket.Start()
	defer atSocket.Close()
	atPort := httptest.NewServer(http.HandlerFunc(echo))
	defer atPort.Close()

	for _, raw := range []string{atPort.URL + "/p/v1?q=1", "unix://" + socket + ":/p/v1?q=1"} {
		e, err := Parse(raw)
		assert.NilError(t, err)
		c := e.Client(Options{Header: http.Header{"x-team": {"a", "b"}, "X-Own": {"no"}, "Host": {"virtual"}}})
		get := func(path string) (*http.Response, string) {
			r, err := http.NewRequest(http.MethodGet, e.Base+path, nil)
			assert.NilError(t, err)
			r.Header.Set("X-Own", "yes")
			resp, err := c.Do(r)
			assert.NilError(t, err)
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			assert.NilError(t, err)
			return resp, string(text)
		}
		_, text := get("/x")
		assert.Equal(t, text, "virtual /p/x?q=1 [a b] [yes] []")
		_, text = get("/x?a=b")
		assert.Equal(t, text, "virtual /p/x?a=b&q=1 [a b] [yes] []")
		c.CloseIdleConnections()

		unversioned, err := Parse(strings.Replace(raw, "/v1", "/chat/completions", 1))
		assert.NilError(t, err)
		e, c = unversioned, unversioned.Client(Options{})
		_, text = get("/v1/models")
		assert.Assert(t, strings.Contains(text, " /p/models?q=1 "), text)
		c.CloseIdleConnections()

		e.Base, e.Query = e.Base[:len(e.Base)-len("/p")], ""
		resp, _ := get("/moved")
		assert.Equal(t, resp.StatusCode, http.StatusMovedPermanently)
	}
}
