package nginxtest

import (
	"os"
	"strings"
	"text/template"
)

// readyPath is a path that the proxy answers itself, to show that it is ready.
const readyPath = "/nginxtest-ready"

// The names of files in the prefix directory.
const (
	configFile = "nginx.conf"
	certFile   = "proxy.pem"
	keyFile    = "proxy.key"
	socketFile = "socket"
)

// configTemplate is the configuration (https://nginx.org/en/docs/dirindex.html). All paths are in the
// prefix directory. nginx runs as a single process, so that killing it leaves no workers behind.
var configTemplate = template.Must(template.New(configFile).Parse(`daemon off;
master_process off;
{{if .Root}}user root;
{{end}}pid nginx.pid;
lock_file nginx.lock;
error_log stderr warn;
events { worker_connections 8192; }
http {
	access_log off;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	client_max_body_size 0;
{{- if .NoKeepAlive}}
	keepalive_timeout 0;
{{- end}}
{{- if .Gzip}}
	gzip on;
	gzip_types *;
	gzip_min_length 0;
{{- end}}
	server {
		listen {{.Listen}}{{if .TLS}} ssl{{end}}{{if .HTTP2}} http2{{end}};
{{- if .TLS}}
		ssl_certificate ` + certFile + `;
		ssl_certificate_key ` + keyFile + `;
{{- end}}
		location = ` + readyPath + ` { return 204; }
		location {{.Prefix}}/ {
			proxy_pass {{.Upstream}}/;
{{- if .Unbuffered}}
			proxy_buffering off;
{{- end}}
{{- if .HTTP11}}
			proxy_http_version 1.1;
			proxy_set_header Connection "";
{{- end}}
			{{.Directives}}
		}
{{- if .Prefix}}
		location / { return 404; }
{{- end}}
	}
}
`))

// config returns the configuration of a proxy that listens on the address listen.
func config(o Options, listen string) (string, error) {
	var b strings.Builder
	o.Upstream = strings.TrimSuffix(o.Upstream, "/")
	err := configTemplate.Execute(&b, struct {
		Options
		Listen string
		Root   bool
	}{o, listen, os.Geteuid() == 0})
	return b.String(), err
}
