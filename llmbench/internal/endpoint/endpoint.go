package endpoint

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// An Endpoint is the address of a server.
type Endpoint struct {
	// Base is scheme, host and prefix, without a slash at its end. A request's URL is Base followed by the
	// path. The host is "localhost" if Socket is set.
	Base string
	// Query is added to the URL of each request. It does not include "?". "" adds nothing.
	Query string
	// Socket is the path of the server's Unix socket; "" means TCP.
	Socket string
	// Unversioned says that /v1 is removed from the beginning of each request's path, because deployments
	// at Azure have no /v1 (https://learn.microsoft.com/azure/ai-services/openai/reference).
	Unversioned bool
}

// version is the beginning of paths of OpenAI's API.
const version = "/v1"

// want describes a valid URL, for errors.
const want = "want a base URL like http://127.0.0.1:8000, https://host/prefix or unix:///path/of.sock"

// Parse parses the base URL of a server.
//
//   - A /v1 at the end of the path is removed, with or without a slash, because the paths of requests
//     begin with it.
//   - The URL may be the URL of requests: /chat/completions, /completions, /responses or /messages at its
//     end is removed. If there is no /v1 before it, the paths of requests have no /v1 either.
//   - A query is added to all requests.
//   - unix:///run/llm.sock is a server with a Unix socket. A prefix for paths may follow a colon:
//     unix:///run/llm.sock:/prefix.
//
// The error shows only the scheme and the host of the URL, because the rest may be secret.
func Parse(raw string) (Endpoint, error) {
	u, err := url.Parse(raw)
	if err != nil && hasBareIPv6(raw) {
		return Endpoint{}, errors.New("URL cannot be parsed: want an IPv6 address in brackets, as in http://[::1]:8000")
	}
	if err != nil {
		return Endpoint{}, errors.New("URL cannot be parsed: " + want)
	}
	shown := (&url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: u.Host}).String()
	switch {
	case u.User != nil:
		return Endpoint{}, fmt.Errorf("URL %q with a user or a password before the host, which are not shown; send them as a header: Authorization: Basic …", shown)
	case u.Fragment != "" || strings.HasSuffix(raw, "#"):
		return Endpoint{}, fmt.Errorf("URL %q with a fragment, the part from #: %s", shown, want)
	case u.Scheme == "unix":
		return parseSocket(u)
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return Endpoint{}, fmt.Errorf("URL %q: %s", shown, want)
	}
	base := url.URL{Scheme: u.Scheme, Host: u.Host}
	if _, err := url.Parse(base.String()); err != nil { // the zone of an IPv6 address may be invalid
		return Endpoint{}, fmt.Errorf("URL with a host that has an invalid character: %s", want)
	}
	path, unversioned := prefix(u.EscapedPath())
	return Endpoint{Base: base.String() + path, Query: u.RawQuery, Unversioned: unversioned}, nil
}

// hasBareIPv6 reports whether the host of a URL has several colons but no brackets.
func hasBareIPv6(raw string) bool {
	_, rest, _ := strings.Cut(raw, "://")
	host := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host = rest[:i]
	}
	return strings.Count(host, ":") > 1 && !strings.ContainsAny(host, "[@")
}

// parseSocket parses the URL of a server with a Unix socket.
func parseSocket(u *url.URL) (Endpoint, error) {
	path, after, _ := strings.Cut(u.Path, ":")
	if u.Host != "" || u.Opaque != "" || len(path) < 2 || after != "" && after[0] != '/' {
		return Endpoint{}, errors.New("URL of a Unix socket: want three slashes and the path, as in unix:///run/llm.sock, or with a prefix unix:///run/llm.sock:/prefix")
	}
	base := url.URL{Scheme: "http", Host: "localhost", Path: after}
	before, unversioned := prefix(base.EscapedPath())
	return Endpoint{Base: "http://localhost" + before, Query: u.RawQuery, Socket: path, Unversioned: unversioned}, nil
}

// prefix returns the prefix for request paths that the path of a base URL specifies, without a slash at the
// end. It also reports whether the paths of requests have no /v1.
func prefix(path string) (before string, unversioned bool) {
	path = strings.TrimRight(path, "/")
	for _, of := range []string{"/chat/completions", "/completions", "/responses", "/messages"} {
		if rest, found := strings.CutSuffix(path, of); found {
			path, unversioned = strings.TrimRight(rest, "/"), true
			break
		}
	}
	if rest, found := strings.CutSuffix(path, version); found {
		path, unversioned = strings.TrimRight(rest, "/"), false
	}
	return path, unversioned
}

// URL returns the URL of a request to path. The path must begin with a slash, and may have a query.
func (e Endpoint) URL(path string) string {
	if e.Unversioned && strings.HasPrefix(path, version+"/") {
		path = path[len(version):]
	}
	switch {
	case e.Query == "":
		return e.Base + path
	case strings.Contains(path, "?"):
		return e.Base + path + "&" + e.Query
	}
	return e.Base + path + "?" + e.Query
}

// Secrets returns the values in the query, because they may include a key. It returns each value as it is
// in the URL, and decoded, because a server may repeat either.
func (e Endpoint) Secrets() []string {
	var all []string
	for part := range strings.FieldsFuncSeq(e.Query, func(r rune) bool { return r == '&' || r == ';' }) {
		_, value, found := strings.Cut(part, "=")
		if !found {
			value = part // a key without a name
		}
		all = append(all, value)
		if decoded, err := url.QueryUnescape(value); err == nil {
			all = append(all, decoded)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Where returns the address of the server for use in messages: host and port, or the socket.
func (e Endpoint) Where() string {
	if e.Socket != "" {
		return e.Socket
	}
	u, err := url.Parse(e.Base)
	if err != nil {
		return ""
	}
	return u.Host
}
