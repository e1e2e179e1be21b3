package llmbench

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/mergepatch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Target is a server under test. It is a value, safe for concurrent use.
type Target struct {
	// URL is the server's base URL, without the dialect's path (/v1/…): of scheme http or
	// https, with a prefix of all paths if there is one. A path /v1 at its end is ignored. A
	// URL that ends with /chat/completions, /completions or /responses is the address of requests:
	// if no /v1 is before this end, the paths of all requests have none. A
	// query, such as ?api-version=1, is sent with each request. unix:///run/llm.sock is a
	// server at a Unix socket; a prefix follows a colon, as in unix:///run/llm.sock:/prefix.
	// A Unix socket has no kernel timestamps: the instants of its answers are when the
	// client's reads returned, and the configuration lines say so.
	//
	// Errors and results show no more of the URL than scheme and host, and values of the query of
	// at least eight bytes are removed from errors and records.
	URL string
	// Model is the model's name, sent with each request; "" sends none.
	Model string
	// Dialect is the API that the server speaks; nil means [dialect.OpenAIChat].
	Dialect dialect.Dialect
	// Header is sent with each request. The field Host is the name of a virtual host. Values
	// of at least eight bytes are removed from errors and records. The names, except for
	// Authorization, are in the configuration lines.
	Header http.Header
	// Body, unless empty, is a JSON object that changes the body of each request for a
	// completion, by the rules of a merge patch (RFC 7386): a member replaces the member of that
	// name, null removes it, and objects are merged member by member. It is for settings such
	// as a temperature, and for a server that refuses ignore_eos, min_tokens or
	// stream_options. It must not have a member "stream", nor "n" other than 1. The
	// configuration lines show it, without the values of members such as api_key.
	Body json.RawMessage
	// Compressed allows answers that are compressed with gzip or deflate. Requests never ask
	// for that, but some gateways compress any answer. The instants of such an answer are
	// the instants of whole compressed blocks, and the configuration lines say so. Otherwise a
	// compressed answer is a failed request.
	Compressed bool
	// TLS configures connections to a server at an https URL: the certificate authorities,
	// the client's certificate. Nil means the system's authorities. The only protocol is
	// HTTP/1.1, whatever NextProtos says. With InsecureSkipVerify the configuration lines say
	// so. It must not be modified while the target is in use.
	TLS *tls.Config
	// Config describes what results depend on: the backend, its version, the model, the
	// hardware. [Run] prints it as configuration lines of the Go benchmark format. A key
	// must start with a lower-case letter and contain no space, colon or upper-case letter.
	Config map[string]string
	// Observe, if not nil, returns an Observer of the server. [Run] calls it once.
	Observe func() Observer
	// Proxy is the URL of the proxy through which all requests go; its scheme is http, https, socks5
	// or socks5h. "" means none, also if HTTP_PROXY or another variable of the environment names
	// one, because the time in a proxy is not the server's. The configuration lines have the
	// proxy. A server with a Unix socket is reached without it.
	Proxy string
	// Simulated means that the server is part of this process. Its work then delays the
	// client, so that distorted figures are reported unless the load or the environment
	// says otherwise; see [ClientBound].
	Simulated bool
	// Truth, if not nil, is what a simulated server knows about itself. Only people see it: a comment
	// before the results says how fast the server is, and the table at the end has the server's
	// own figures beside the measured ones.
	Truth *Truth
	// Ephemeral means that this process has started the server, and ends it, so that the
	// server's caches hold nothing that an earlier process has sent. Without it, and
	// unless the server is Simulated, prompts differ from process to process: see
	// [Target.Salt].
	Ephemeral bool
	// KeepsPrompts means that an Ephemeral server has a prompt cache that nothing empties between
	// passes. Prompts then differ from benchmark to benchmark, and are the same in each process: see
	// [Target.Salt].
	KeepsPrompts bool
	// Dial opens a connection; nil means the network. It must return when its context ends.
	// The network is "tcp", and the address a host and a port; for a Unix socket they are
	// "unix" and the socket's path.
	//
	// Each connection is used for one request only, unless the client can see whether
	// the server has closed it or has sent more than one response. The client sees this
	// of a [syscall.Conn] on Unix, such as a [net.TCPConn], but of no connection that
	// wraps one without its method SyscallConn. Other connections need a method
	//
	//	Pending() (waiting bool, err error)
	//
	// which reports whether bytes wait to be read, and returns an error if the peer has
	// closed the connection. The connections of package memnet have it.
	//
	// In a bubble of [testing/synctest] the target must be Simulated, too: otherwise the
	// client's distortion is measured over real sockets, which stop the bubble's clock.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// A Truth is what a simulated server knows about itself. It is safe for concurrent use.
type Truth struct {
	// Speed says in words of one line how fast the server is, such as "TTFT 20ms, TPOT 1.5ms".
	Speed string
	// PrefixCache says that the server has a prefix cache. [Run] asks no other server whether its cache
	// answers prompts sooner.
	PrefixCache bool
	// Figures, if not nil, returns latencies of those requests, by the names of units, as the
	// server's own log has them. Only the goroutine of the benchmark calls it.
	Figures func(samples iter.Seq[*sample.Sample]) map[string]float64
	// Next, unless empty, is what a person can do after a measurement of this server, such as a
	// command. It is part of the last line of the process.
	Next string
}

// An Observer prepares a server for a pass, and returns the server's own figures afterwards. Only
// the goroutine of the benchmark uses it. The time of its calls is not measured.
type Observer interface {
	// Before is called before each measured pass. An error ends the benchmark.
	Before(ctx context.Context) error
	// After is called when the last response of a pass has ended. It returns the server's
	// figures of all passes so far, by the names of units. A value that is not finite is
	// left out, and logged. After an error, which is logged, the result lacks these figures.
	After(ctx context.Context) (map[string]float64, error)
}

// A SamplesObserver is an [Observer] with figures that also depend on the samples of the passes, such as
// the server's CPU time for each output token.
type SamplesObserver interface {
	Observer
	// FiguresOf is called after the last pass, with the samples of all passes. It returns figures
	// by the names of units, as After does.
	FiguresOf(samples iter.Seq[*sample.Sample]) map[string]float64
}

// dialect returns the target's dialect, or the default one.
func (t Target) dialect() dialect.Dialect {
	if t.Dialect == nil {
		return dialect.OpenAIChat{}
	}
	return t.Dialect
}

// config returns what results depend on: the target's Config, its dialect, and what else
// changes the requests or the connections.
func (t Target) config() map[string]string {
	c := map[string]string{"dialect": t.dialect().Name()}
	maps.Copy(c, t.Config)
	var names []string
	for name := range t.Header {
		if name = http.CanonicalHeaderKey(name); name != "Authorization" {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		c["header"] = strings.Join(names, ", ")
	}
	if len(t.Body) > 0 {
		shown, _ := mergepatch.Hide(t.Body, env.IsSecret)
		c["body"] = shown
	}
	if t.Compressed {
		c["compression"] = "allowed, instants of compressed answers are those of whole compressed blocks"
	}
	if t.Proxy != "" {
		if u, err := url.Parse(t.Proxy); err == nil {
			c["proxy"] = u.Scheme + "://" + u.Host
		}
	}
	if t.overUnixSocket() {
		c["instants"] = "of the client's reads, a Unix socket has no kernel timestamps"
	}
	if t.TLS != nil && t.TLS.InsecureSkipVerify {
		c["tls"] = "insecure, the server's certificate is not verified"
	}
	secrets := t.secrets() // a server may have stated some of the values
	for name, value := range c {
		c[name] = secrets.Hide(value)
	}
	return c
}

// overUnixSocket reports whether the server is at a Unix socket.
func (t Target) overUnixSocket() bool {
	e, err := endpoint.Parse(t.URL)
	return err == nil && e.Socket != ""
}

// outlives reports whether the server may run longer than this process.
func (t Target) outlives() bool { return !t.Simulated && !t.Ephemeral }

// Check returns what is wrong with t, or nil. It sends nothing. Its error shows
// neither values of headers nor more of the URL than scheme and host.
func (t Target) Check() error {
	_, err := t.endpoint()
	return err
}

// server returns where requests are sent, and an error if t is invalid.
func (t Target) server() (send.Server, error) {
	at, err := t.endpoint()
	if err != nil {
		return send.Server{}, err
	}
	proxy, err := t.proxy()
	if err != nil {
		return send.Server{}, fmt.Errorf("target: %w", err)
	}
	return send.Server{At: at, Dialect: t.dialect(), Header: t.Header, Secrets: t.secrets(), Compressed: t.Compressed, Dial: t.Dial, Proxy: proxy, TLS: t.TLS}, nil
}

// newClient returns a client of t, which must be closed.
func newClient(t Target) (*send.Client, error) {
	s, err := t.server()
	if err != nil {
		return nil, err
	}
	c, err := send.NewClient(s)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	return c, nil
}

// endpoint checks the target and returns where it is.
func (t Target) endpoint() (endpoint.Endpoint, error) {
	e, err := endpoint.Parse(t.URL)
	if err != nil {
		return e, fmt.Errorf("target: %w", err)
	}
	if err := t.checkRequests(); err != nil {
		return e, fmt.Errorf("target: %w", err)
	}
	if _, err := t.proxy(); err != nil {
		return e, fmt.Errorf("target: %w", err)
	}
	for key := range t.Config {
		if !validConfigKey(key) {
			return e, fmt.Errorf("target: config key %q; must start with a lower-case letter and hold no space, colon or upper case", key)
		}
	}
	return e, nil
}

// checkRequests returns what is wrong with what t adds to requests, or nil.
func (t Target) checkRequests() error {
	for name, values := range t.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("header %q; want letters, digits and hyphens", name)
		}
		if slices.ContainsFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
			return fmt.Errorf("the value of the header %s holds a control character", name) // and may be secret
		}
	}
	if len(t.Body) > 0 {
		if err := mergepatch.Check(t.Body); err != nil {
			return fmt.Errorf("body: %w", err)
		}
	}
	return nil
}

// proxy returns the URL of the proxy, or nil for none. Its error shows neither user nor password.
func (t Target) proxy() (*url.URL, error) {
	if t.Proxy == "" {
		return nil, nil
	}
	const want = "want a URL like http://proxy:3128, of scheme http, https, socks5 or socks5h"
	u, err := url.Parse(t.Proxy)
	switch {
	case err != nil:
		return nil, errors.New("proxy: not a URL; " + want)
	case !conn.KnownProxy(u):
		return nil, fmt.Errorf("proxy: scheme %q; %s", u.Scheme, want)
	case u.Hostname() == "":
		return nil, errors.New("proxy: no host; " + want)
	}
	return u, nil
}

// Client returns a client for requests beside a load, such as requests of a probe or a tokenizer,
// and the URL that their paths are appended to. The client reaches the server as requests of a
// load do. It adds the target's Header and the query of its URL to each request, and follows no
// redirect. It keeps connections for a second, and has no time limit of its own.
func (t Target) Client() (base string, client *http.Client, err error) {
	e, err := t.endpoint()
	if err != nil {
		return "", nil, err
	}
	proxy, err := t.proxy()
	if err != nil {
		return "", nil, fmt.Errorf("target: %w", err)
	}
	return e.Base, e.Client(endpoint.Options{Header: t.Header, TLS: t.TLS, Dial: t.Dial, Proxy: proxy}), nil
}

// Where returns the address of the server for messages: host and port, or the path of its socket.
// It returns "" for an invalid URL.
func (t Target) Where() string {
	e, err := endpoint.Parse(t.URL)
	if err != nil {
		return ""
	}
	return e.Where()
}

// secrets returns what must not be shown of t.
func (t Target) secrets() redact.Secrets {
	var all []string
	for name, values := range t.Header {
		for _, v := range values {
			all = append(all, v)
			if _, credential, found := strings.Cut(v, " "); found { // after a scheme, such as Bearer
				all = append(all, credential)
			}
			if http.CanonicalHeaderKey(name) == "Cookie" {
				for pair := range strings.SplitSeq(v, ";") {
					_, value, _ := strings.Cut(pair, "=")
					all = append(all, strings.Trim(value, ` "`))
				}
			}
		}
	}
	r := http.Request{Header: http.Header{"Authorization": authorization(t.Header)}}
	if _, password, ok := r.BasicAuth(); ok {
		all = append(all, password)
	}
	if e, err := endpoint.Parse(t.URL); err == nil {
		all = append(all, e.Secrets()...)
	}
	if proxy, err := t.proxy(); err == nil && proxy != nil {
		if password, set := proxy.User.Password(); set {
			all = append(all, password)
		}
	}
	_, credentials := mergepatch.Hide(t.Body, env.IsSecret)
	return redact.New(append(all, credentials...))
}

// authorization returns the values of that field, whatever the case of its name.
func authorization(h http.Header) (values []string) {
	for name, all := range h {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			values = append(values, all...)
		}
	}
	return values
}

// Redact returns a text as it may be shown. It removes the target's credentials, because servers
// repeat them in errors, and writes control characters other than tabs and newlines as in Go, because
// they can change a terminal. It replaces each value of at least eight bytes of Header, of the query of URL and of
// secret members of Body, also if the value is escaped as in JSON, HTML, Go or a URL, or cut off
// before a [dialect.Cut].
func (t Target) Redact(text string) string { return t.secrets().Hide(text) }

// Excerpt removes the target's credentials from a text as [Target.Redact] does, and then
// shortens the text to most bytes. A text that is shortened ends with [dialect.Cut].
// Whoever shortens a text first may show a part of a credential.
func (t Target) Excerpt(text string, most int) string { return t.secrets().Excerpt(text, most) }

// validConfigKey reports whether key may stand in a configuration line
// (https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md).
func validConfigKey(key string) bool {
	return key != "" && key[0] >= 'a' && key[0] <= 'z' && strings.ToLower(key) == key && !strings.ContainsAny(key, ": \t\r\n")
}

// NameValue turns s into what a benchmark name may hold as a value: lower case
// letters, digits, '.', '_' and '-'; everything else becomes '_'.
func NameValue(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, strings.ToLower(s))
}
