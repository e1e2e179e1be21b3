package conn

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

const ms = time.Millisecond

// newPool returns a pool whose idle connections are closed when tb ends.
func newPool(tb testing.TB, o Options) *Pool {
	tb.Helper()
	p, err := NewPool(o)
	assert.NilError(tb, err)
	tb.Cleanup(p.CloseIdle)
	return p
}

// post sends a request and reads the response to its end.
func post(ctx context.Context, p *Pool, url string) (t *Trace, body string, err error) {
	t = &Trace{Clock: NewClock(WallClock)}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("question"))
	if err != nil {
		return t, "", err
	}
	resp, err := p.Send(req, t)
	if err != nil {
		return t, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return t, string(text), err
}

// answer writes a response of known length.
func answer(c net.Conn) {
	fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nanswer")
}
