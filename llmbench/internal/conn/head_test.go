package conn

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// TestHeadLimits checks the limits of a response's head: a head at the limit is read, and a larger one fails.
func TestHeadLimits(t *testing.T) {
	const begin, end = "HTTP/1.1 200 OK\r\n", "Content-Length: 6\r\n\r\nanswer"
	length := func(n int) string { // of the head
		return "X: " + strings.Repeat("x", n-len(begin)-len("X: \r\n")-len(end)+len("answer")) + "\r\n"
	}
	for _, c := range []struct{ name, head, want string }{
		{"fields", begin + strings.Repeat("X: y\r\n", maxFields-1) + end, ""},
		{"too many fields", begin + strings.Repeat("X: y\r\n", maxFields) + end, "a response's head with 1001 fields: want at most 1000"},
		{"too many names", begin + many(maxFields) + end, "a response's head with 1001 fields: want at most 1000"},
		{"a long field", begin + length(maxHead-10<<10) + end, ""},
		{"a field that is too long", begin + length(maxHead+10<<10) + end, "a response's head of more than 1048576 bytes"},
		{"interim responses", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 1000) + begin + end, ""},
		{"interim responses without end", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", maxHead/20), "a response's head of more than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := "http://" + runtest.Serve(t, func(conn net.Conn) {
				go io.WriteString(conn, c.head)
				io.Copy(io.Discard, conn)
			})
			_, body, err := post(t.Context(), newPool(t, Options{URL: url}), url)
			if c.want != "" {
				assert.ErrorContains(t, err, c.want)
				return
			}
			assert.NilError(t, err)
			assert.Equal(t, body, "answer")
		})
	}
}

// many returns n fields with different names.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "X-%d: y\r\n", i)
	}
	return b.String()
}
