package haproxytest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/ports"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/child"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/debroot"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

const stopDelay = 5 * time.Second // from SIGTERM to SIGKILL

// Packages has the Debian packages of HAProxy; see [debroot.Build].
//
//go:embed packages.sha256
var Packages []byte

// find returns the command that runs HAProxy: the path of the program and its first arguments. Later calls return the
// result of the first one.
var find = sync.OnceValues(func() (command []string, err error) {
	root, err := debroot.Build("haproxytest", Packages)
	if err != nil {
		return nil, err
	}
	return debroot.Command(root, "usr/sbin/haproxy"), nil
})

// Options describes a gateway.
type Options struct {
	Servers  []string // the servers behind the gateway, HOST:PORT
	PerLimit int      // most requests at a server at once; 0 means no limit
	Frontend []string // further directives of the frontend, such as "http-request deny if { … }"
	Backend  []string // further directives of the backend, such as "retry-on 503"
}

// metricsPath is where HAProxy's Prometheus exporter answers. It counts as a request to the frontend.
const metricsPath = "/metrics"

// config is the configuration of a gateway at a free port, which passes streams on as they come.
func config(o Options, host, port string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "global\n    maxconn 2000\ndefaults\n    mode http\n    timeout connect 5s\n    timeout client 300s\n    timeout server 300s\n    timeout queue 30s\n    option http-no-delay\n")
	fmt.Fprintf(&b, "frontend gateway\n    bind %s:%s\n    http-request use-service prometheus-exporter if { path %s }\n", host, port, metricsPath)
	for _, d := range o.Frontend {
		fmt.Fprintf(&b, "    %s\n", d)
	}
	b.WriteString("    default_backend servers\nbackend servers\n")
	for _, d := range o.Backend {
		fmt.Fprintf(&b, "    %s\n", d)
	}
	limit := ""
	if o.PerLimit > 0 {
		limit = fmt.Sprintf(" maxconn %d", o.PerLimit)
	}
	for i, s := range o.Servers {
		fmt.Fprintf(&b, "    server s%d %s%s\n", i, s, limit)
	}
	return b.String()
}

// Start runs HAProxy until tb ends, and returns its base URL and the URL of its metrics when it answers. If this machine
// has no HAProxy, Start skips tb. Any other error fails tb, and so does an end of HAProxy before tb ends.
func Start(tb testing.TB, o Options) (url, metrics string) {
	tb.Helper()
	command, err := find()
	if errors.Is(err, need.ErrUnavailable) {
		tb.Skipf("HAProxy is %v", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	host, port, err := ports.FreeAddr("")
	if err != nil {
		tb.Fatal(err)
	}
	file := filepath.Join(tb.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config(o, host, port)), 0o644); err != nil {
		tb.Fatal(err)
	}
	log := new(serverlog.Log)
	cmd := exec.Command(command[0], append(command[1:len(command):len(command)], "-f", file)...)
	cmd.Stdout, cmd.Stderr = log, log
	p, err := child.Start(cmd, stopDelay)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close("haproxytest: HAProxy", log); err != nil {
			tb.Error(err)
		}
	})
	url = "http://" + host + ":" + port
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	if err := p.WaitReady(context.WithoutCancel(tb.Context()), child.Answers(client, url+metricsPath, http.StatusOK)); err != nil {
		tb.Fatalf("haproxytest: HAProxy at %s: %v; its last lines:\n%s", url, err, log)
	}
	return url, url + metricsPath
}
