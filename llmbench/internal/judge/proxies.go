package judge

import (
	"net/http"
	"regexp"
	"strings"
)

// proxies holds, for proxies that buffer streams, what their answers say in the header fields Server and Via, and the
// setting that makes them stream. HAProxy adds neither field.
var proxies = []struct {
	name    string
	in      *regexp.Regexp // matches a word of Server or Via
	setting string
}{
	{"nginx", regexp.MustCompile(`(?i)\b(nginx|openresty|tengine)\b`), "proxy_buffering off"},                                                          // https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
	{"Kong", regexp.MustCompile(`(?i)\bkong\b`), "response_buffering false on the route"},                                                              // https://developer.konghq.com/gateway/entities/route/
	{"APISIX", regexp.MustCompile(`(?i)\bapisix\b`), "the plugin proxy-buffering with disable_proxy_buffering true"},                                   // https://apisix.apache.org/docs/apisix/plugins/proxy-buffering/
	{"Envoy", regexp.MustCompile(`(?i)\b(istio-)?envoy\b`), "no filter that reads whole bodies, such as buffer, ext_proc with BUFFERED or compressor"}, // https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/http_filters
	{"Caddy", regexp.MustCompile(`(?i)\bcaddy\b`), "flush_interval -1 in reverse_proxy"},                                                               // https://caddyserver.com/docs/caddyfile/directives/reverse_proxy#streaming
	{"Apache", regexp.MustCompile(`(?i)\bapache\b(?:[^-]|$)`), "flushpackets=on in ProxyPass"},                                                         // https://httpd.apache.org/docs/2.4/mod/mod_proxy.html#proxypass
	{"lighttpd", regexp.MustCompile(`(?i)\blighttpd\b`), "server.stream-response-body = 2"},                                                            // https://redmine.lighttpd.net/projects/lighttpd/wiki/Server_stream-response-bodyDetails
	{"IIS", regexp.MustCompile(`(?i)\bmicrosoft-iis\b`), "responseBufferLimit 0"},                                                                      // https://learn.microsoft.com/en-us/iis/extensions/configuring-application-request-routing-arr/
	{"Varnish", regexp.MustCompile(`(?i)\bvarnish\b`), "return (pipe) for streams"},                                                                    // https://varnish-cache.org/docs/trunk/reference/vcl-step.html
	{"Squid", regexp.MustCompile(`(?i)\bsquid\b`), "read_ahead_gap 0"},                                                                                 // https://www.squid-cache.org/Doc/config/read_ahead_gap/
}

// anyProxy is the advice about a proxy that its answers do not name.
const anyProxy = "nginx: proxy_buffering off; HAProxy: option http-no-delay; Caddy: flush_interval -1; Apache: flushpackets=on; Envoy: no buffer filter"

// Unbuffered says how to make the proxies stream that the header of an answer names. If the header names none, it says
// how for the most frequent ones.
func Unbuffered(h http.Header) string {
	var found []string
	for _, p := range proxies {
		for _, value := range append(h.Values("Server"), h.Values("Via")...) {
			if p.in.MatchString(value) {
				found = append(found, p.name+": "+p.setting)
				break
			}
		}
	}
	if found == nil {
		return anyProxy
	}
	return strings.Join(found, "; ")
}
