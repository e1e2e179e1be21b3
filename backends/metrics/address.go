package metrics

import (
	"crypto/tls"
	"errors"
	"net/url"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// An Address is a place where metrics are read.
type Address struct {
	// Target is the server that has the metrics. Its URL has no path, or only a prefix that is common to
	// all paths of the server.
	Target llmbench.Target
	Path   string // path of the metrics; "" means [Names].Path
}

// Beside returns the address of metrics of the server t. raw is the URL of the metrics, such as
// http://10.0.0.7:8000/metrics or unix:///run/llm.sock:/metrics. If raw has no path, Path of the address is
// "".
//
// The header of t, which contains the API key, and the client's certificate are sent only to the host of t.
// If t uses TLS, the header is not sent to that host without TLS. Ports are ignored in this comparison,
// because many servers serve metrics on a separate port. The certificate authorities of t and
// InsecureSkipVerify apply to all addresses.
//
// The error shows no more of the URL than its scheme and host.
func Beside(t llmbench.Target, raw string) (Address, error) {
	host, path := split(raw)
	a := Address{Target: llmbench.Target{URL: host, Header: t.Header, TLS: t.TLS, Proxy: t.Proxy, Dial: t.Dial}, Path: path}
	if err := a.Target.Check(); err != nil {
		return Address{}, errors.New(strings.TrimPrefix(err.Error(), "target: "))
	}
	server, own := place(t.URL), place(host)
	if own.name != server.name || server.secure && !own.secure {
		a.Target.Header = nil
	}
	if own.name != server.name && t.TLS != nil {
		a.Target.TLS = &tls.Config{RootCAs: t.TLS.RootCAs, InsecureSkipVerify: t.TLS.InsecureSkipVerify}
	}
	return a, nil
}

// split separates the path from a URL. If the URL is invalid, [llmbench.Target.Check] reports an error for
// the host that split returns.
func split(raw string) (host, path string) {
	u, err := url.Parse(raw)
	if err != nil || strings.Contains(raw, "#") {
		return raw, ""
	}
	if u.Scheme == "unix" {
		socket, after, _ := strings.Cut(u.EscapedPath(), ":")
		u.RawPath = ""
		if u.Path, err = url.PathUnescape(socket); err != nil || after != "" && after[0] != '/' {
			return raw, ""
		}
		return u.String(), after
	}
	path = u.EscapedPath()
	u.Path, u.RawPath = "", ""
	if path == "/" {
		path = ""
	}
	return u.String(), path
}

// A location identifies the host that a URL leads to.
type location struct {
	name   string // name of the host, or path of the socket
	secure bool   // whether requests are protected on the way: TLS, or a socket on this machine
}

func place(raw string) location {
	u, err := url.Parse(raw)
	if err != nil {
		return location{}
	}
	if u.Scheme == "unix" {
		socket, _, _ := strings.Cut(u.Path, ":")
		return location{"unix:" + socket, true}
	}
	return location{strings.ToLower(u.Hostname()), u.Scheme == "https"}
}
