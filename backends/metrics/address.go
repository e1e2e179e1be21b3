package metrics

import (
	"crypto/tls"
	"errors"
	"net/url"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// An Address is where metrics are read.
type Address struct {
	// Target is the server of the metrics. Its URL has no path of its own, or that
	// prefix before Path which all paths of the server have.
	Target llmbench.Target
	Path   string // of the metrics; "" means [Names].Path
}

// Beside returns the address that a URL names, such as http://10.0.0.7:8000/metrics
// or unix:///run/llm.sock:/metrics, of metrics of the server t. A URL without a path
// leaves the path open.
//
// The header of t, with the API key in it, and the client's certificate are for t's
// host only: other hosts get neither, and the host itself gets no header without TLS
// if t has TLS. Ports do not count, because many servers have a port of their own for
// metrics. The certificate authorities of t hold for all addresses, and so does
// InsecureSkipVerify.
//
// The error shows no more of the URL than scheme and host.
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

// split cuts the path out of a URL. What it returns of an invalid URL is refused by
// [llmbench.Target.Check].
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

// A location says which host a URL leads to.
type location struct {
	name   string // of the host, or the path of the socket
	secure bool   // nobody on the way can read requests
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
