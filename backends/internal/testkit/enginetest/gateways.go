package enginetest

import (
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/debroot"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/haproxytest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/nginxtest"
)

// Gateways is the table of all gateways. What they do to streams was measured; see [Gateway].
var Gateways = []Gateway{
	{
		Engine:   Engine{Name: "haproxy", Title: "HAProxy", Version: "3.0.11", Each: true, source: debian{haproxytest.Packages}},
		program:  debroot.Command("{dir}", "usr/sbin/haproxy"),
		Command:  "haproxy -f {dir}/haproxy.cfg",
		Template: "haproxy.cfg",
		Buffers:  &Change{"    option http-no-delay\n", ""},
		Second:   &Change{"    server s1 {upstream-addr}\n", "    server s1 {upstream-addr}\n    server s2 {second}\n"},
		Timeout:  &Change{"timeout server 300s", "timeout server 1s"},
	},
	{
		Engine:   Engine{Name: "nginx", Title: "nginx", Version: "1.26.3", Each: true, source: debian{nginxtest.Packages}},
		program:  append([]string{"env", "OPENSSL_CONF=/dev/null"}, debroot.Command("{dir}", "usr/sbin/nginx")...),
		Command:  "nginx -p {dir} -c nginx.conf -e stderr",
		Template: "nginx.conf",
		Buffers:  &Change{"            proxy_http_version 1.1;\n            proxy_buffering off;\n", ""},
		Second:   &Change{"server {upstream-addr};", "server {upstream-addr}; server {second};"},
		Timeout:  &Change{"proxy_read_timeout 300s", "proxy_read_timeout 1s"},
	},
	{
		Engine:   Engine{Name: "envoy", Title: "Envoy", Version: "1.40.0", Each: true, source: pypi{}},
		program:  []string{"{python}", "{dir}/venv/bin/envoy"},
		Command:  "envoy -c {dir}/envoy.yaml --concurrency 1 -l warn --use-dynamic-base-id",
		Template: "envoy.yaml",
		Buffers: &Change{"          http_filters:\n", "          http_filters:\n          - name: envoy.filters.http.lua\n" +
			"            typed_config:\n              \"@type\": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua\n" +
			"              default_source_code: {inline_string: \"function envoy_on_response(h) h:body() end\"}\n"},
		Second: &Change{envoyEndpoint + "{upstream-host}, port_value: {upstream}}}}\n",
			envoyEndpoint + "{upstream-host}, port_value: {upstream}}}}\n" + envoyEndpoint + "127.0.0.1, port_value: {second-port}}}}\n"},
		Timeout: &Change{"stream_idle_timeout: 300s", "stream_idle_timeout: 1s"},
	},
	{
		Engine:   Engine{Name: "caddy", Title: "Caddy", Version: "2.6.2", Each: true, source: debian{pinned("caddy")}},
		program:  []string{"{dir}/usr/bin/caddy"},
		Command:  "XDG_CONFIG_HOME={dir} XDG_DATA_HOME={dir} caddy run --config {dir}/Caddyfile --adapter caddyfile",
		Template: "Caddyfile",
		Buffers:  &Change{"reverse_proxy {upstream-addr}", "reverse_proxy {upstream-addr} {\n        buffer_responses\n    }"},
		Second:   &Change{"reverse_proxy {upstream-addr}", "reverse_proxy {upstream-addr} {second}"},
		Loses:    true,
	},
	{
		Engine:  Engine{Name: "vllm-router", Title: "vllm-router", Version: "0.1.17", source: pypi{}},
		program: []string{"{python}", "{dir}/venv/bin/vllm-router"},
		Command: "vllm-router --worker-urls {urls} --policy cache_aware --host 127.0.0.1 --port {port} --prometheus-host 127.0.0.1 --prometheus-port {other-port}",
	},
	{
		Engine:  Engine{Name: "smg", Title: "smg", Version: "1.13.0", Each: true, source: pypi{}},
		program: []string{"{python}", "{dir}/venv/bin/smg"},
		Command: "smg launch --worker-urls {urls} --policy cache_aware --host 127.0.0.1 --port {port} --prometheus-host 127.0.0.1 --prometheus-port {other-port}",
	},
	{
		Engine:  Engine{Name: "sglang-router", Title: "sglang-router", Version: "0.3.2", source: pypi{}},
		program: []string{"{python}", "-m", "sglang_router.launch_router"},
		Command: "sglang-router --worker-urls {urls} --policy cache_aware --host 127.0.0.1 --port {port} --prometheus-host 127.0.0.1 --prometheus-port {other-port}",
		Holds:   true,
	},
	{
		Engine:   Engine{Name: "litellm", Title: "LiteLLM", Version: "1.82.6", source: pypi{}},
		program:  []string{"{python}", "{dir}/venv/bin/litellm"},
		Command:  "LITELLM_LOCAL_MODEL_COST_MAP=True litellm --config {dir}/litellm.yaml --host 127.0.0.1 --port {port} --telemetry False",
		Template: "litellm.yaml",
		Rewrites: true,
	},
}

const envoyEndpoint = "        - endpoint: {address: {socket_address: {address: "

// pinned returns the Debian packages of a gateway; see [debroot.Build].
func pinned(name string) []byte {
	text, err := recipes.ReadFile("recipes/" + name + ".sha256")
	if err != nil {
		panic(err) // the file is part of this program
	}
	return text
}
