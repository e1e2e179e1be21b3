package llmbench

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestNoProxy checks which address is dialed in a process whose environment names a proxy. It needs
// a process of its own because net/http reads the environment once.
func TestNoProxy(t *testing.T) {
	const helper, proxy = "NO_PROXY_HELPER", "127.0.0.1:1"
	if os.Getenv(helper) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNoProxy$", "-test.v")
		cmd.Env = append(os.Environ(), helper+"=1", "HTTP_PROXY=http://"+proxy, "http_proxy=", "NO_PROXY=", "no_proxy=")
		out, err := cmd.CombinedOutput()
		assert.NilError(t, err, "%s", out)
		assert.Assert(t, strings.Contains(string(out), "--- PASS: TestNoProxy"), "%s", out)
		return
	}
	for _, noProxy := range []bool{false, true} {
		want := map[bool]string{false: proxy, true: "172.17.0.2:8000"}[noProxy]
		var dialed string
		Do(t.Context(), Target{URL: "http://172.17.0.2:8000", NoProxy: noProxy, Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			dialed = addr
			return nil, net.ErrClosed
		}}, Request{Prompt: "a", MaxTokens: 1}, true)
		assert.Equal(t, dialed, want, "NoProxy: %t", noProxy)
	}
}
