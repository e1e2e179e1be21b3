package backends

import (
	"net/url"
	"testing"

	"gotest.tools/v3/assert"
)

// TestFill checks what is replaced in a template. The braces of nginx, of Caddy, of YAML and of Jinja stay.
func TestFill(t *testing.T) {
	values := map[string]string{"port": "81", "dir": "/tmp/x", "prefill": "91", "upstream": "90", "upstream-url": "http://[::1]:90"}
	for _, tt := range []struct{ template, want, err string }{
		{"listen 127.0.0.1:{port};\npid {dir}/pid;", "listen 127.0.0.1:81;\npid /tmp/x/pid;", ""},
		{"{upstream-url} {upstream} {prefill}", "http://[::1]:90 90 91", ""},
		{"events {}\nhttp { server { } }", "events {}\nhttp { server { } }", ""},
		{"{http.request.host} {$HOME} {args[0]} {1,2} {% x %} {{ x }}", "{http.request.host} {$HOME} {args[0]} {1,2} {% x %} {{ x }}", ""},
		{`{a: {socket: {port: {port}}}, "b":{port}}`, `{a: {socket: {port: 81}}, "b":81}`, ""},
		{"{{host}} is {{port}} of {{host}}: {port}", "{host} is {port} of {host}: 81", ""},
		{"a\nb {host}\n{prot}", "", "line 2: unknown placeholder {host}: want {port}, {upstream}, {upstream-url}, {dir} or {prefill}; {{host}} stands for the text {host}"},
		{"a\nb {Port}", "", "line 2: unknown placeholder {Port}: want {port}, {upstream}, {upstream-url}, {dir} or {prefill}; {{Port}} stands for the text {Port}"},
	} {
		got, err := fill(tt.template, values)
		if tt.err != "" {
			assert.Error(t, err, tt.err)
			continue
		}
		assert.NilError(t, err)
		assert.Equal(t, got, tt.want)
	}
	assert.Equal(t, len(values), 5)
}

func TestUpstreamPlaceholders(t *testing.T) {
	for address, want := range map[string]map[string]string{
		"http://127.0.0.1:8000/": {"upstream": "8000", "upstream-host": "127.0.0.1", "upstream-addr": "127.0.0.1:8000", "upstream-url": "http://127.0.0.1:8000"},
		"https://server/v1":      {"upstream": "443", "upstream-host": "server", "upstream-addr": "server:443", "upstream-url": "https://server/v1"},
		"http://[::1]":           {"upstream": "80", "upstream-host": "::1", "upstream-addr": "[::1]:80", "upstream-url": "http://[::1]"},
	} {
		u, err := url.Parse(address)
		assert.NilError(t, err)
		assert.DeepEqual(t, upstreamPlaceholders(u), want)
	}
}

// TestFileSecrets checks that secrets in files are known, and that results have a hash of a file.
func TestFileSecrets(t *testing.T) {
	p := Process{Program: Program{Command: []string{"proxy"}, Files: map[string]string{"a b.yaml": "general_settings:\n  master_key: correct-horse-battery\n  port: {port}\n"}}}
	assert.DeepEqual(t, p.secrets()[1:], []string{"correct-horse-battery"})
	p.Templates = []string{"{out}/c.cfg"}
	p.Files["c.cfg"] = "x"
	assert.DeepEqual(t, p.describe(), map[string]string{"backend": "process", "command": "proxy", "file-a_b.yaml": "sha256:bdbae04baa91f1d6", "file-c.cfg": "{out}/c.cfg"})
}
