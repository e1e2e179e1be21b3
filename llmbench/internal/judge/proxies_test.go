package judge

import (
	"net/http"
	"testing"

	"gotest.tools/v3/assert"
)

// TestUnbuffered checks which proxies are recognised.
func TestUnbuffered(t *testing.T) {
	for _, tt := range []struct {
		server, via, want string
	}{
		{"nginx/1.22.1", "", "nginx: proxy_buffering off"},
		{"nginx", "1.1 Caddy", "nginx: proxy_buffering off; Caddy: flush_interval -1 in reverse_proxy"},
		{"openresty/1.27.1.1", "", "nginx: proxy_buffering off"},
		{"uvicorn", "1.1 kong/3.9.0", "Kong: response_buffering false on the route"},
		{"kong/3.4.2", "", "Kong: response_buffering false on the route"},
		{"APISIX/3.11.0", "", "APISIX: the plugin proxy-buffering with disable_proxy_buffering true"},
		{"envoy", "", "Envoy: no filter that reads whole bodies, such as buffer, ext_proc with BUFFERED or compressor"},
		{"istio-envoy", "", "Envoy: no filter that reads whole bodies, such as buffer, ext_proc with BUFFERED or compressor"},
		{"Caddy", "", "Caddy: flush_interval -1 in reverse_proxy"},
		{"Apache/2.4.62 (Debian)", "", "Apache: flushpackets=on in ProxyPass"},
		{"Apache-Coyote/1.1", "", anyProxy}, // an application server
		{"lighttpd/1.4.69", "", "lighttpd: server.stream-response-body = 2"},
		{"Microsoft-IIS/10.0", "", "IIS: responseBufferLimit 0"},
		{"", "1.1 varnish (Varnish/7.1)", "Varnish: return (pipe) for streams"},
		{"", "1.1 proxy.example.com (squid/5.7)", "Squid: read_ahead_gap 0"},
		{"uvicorn", "", anyProxy},
		{"", "", anyProxy},
	} {
		h := http.Header{}
		if tt.server != "" {
			h.Set("Server", tt.server)
		}
		if tt.via != "" {
			h.Set("Via", tt.via)
		}
		assert.Equal(t, Unbuffered(h), tt.want, "%q %q", tt.server, tt.via)
	}
}
