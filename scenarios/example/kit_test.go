package gateway

import (
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends/gatewaytest"
)

// TestGatewayKit checks what clients get through the gateway when servers fail, clients leave and many requests run. The gap
// is the gateway's own error when the server is gone, which has no body.
func TestGatewayKit(t *testing.T) {
	gatewaytest.Run(t, func(t testing.TB, upstreams []string) string {
		to, err := url.Parse(upstreams[0])
		if err != nil {
			t.Fatal(err)
		}
		front := httptest.NewServer(New(to, key))
		t.Cleanup(front.Close)
		return front.URL
	}, gatewaytest.Options{Keys: []string{key}, Gaps: []string{"failover/dead*/error-object"}})
}
