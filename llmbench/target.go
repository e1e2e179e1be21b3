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
	"unicode"

	"golang.org/x/net/http/httpguts"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/mergepatch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Target describes a server under test. It is a value, safe for concurrent use.
type Target struct {
	// URL is the base URL of the server, without the path that the dialect adds (/v1/…). The scheme is http
	// or https. If all paths of the server have a prefix, the URL includes the prefix. A path /v1 at the
	// end of the URL is ignored. A query, such as ?api-version=1, is sent with each request.
	//
	// The URL may also end with /chat/completions, /completions, /responses or /messages, and is then the
	// address of the requests themselves. If this ending does not follow /v1, the paths of all requests are sent
	// without /v1.
	//
	// unix:///run/llm.sock is a server at a Unix socket. A prefix of the paths follows a colon, as in
	// unix:///run/llm.sock:/prefix. A Unix socket has no kernel timestamps. The instants of its answers are
	// therefore when the client's reads returned, and the configuration lines say so.
	//
	// Errors and results show only the scheme and the host of the URL. Values in the query that have at
	// least eight bytes are removed from errors and records.
	URL string
	// Model is the name of the model, which is sent with each request; "" sends no name.
	Model string
	// Dialect is the API that the server speaks; nil means [dialect.OpenAIChat].
	Dialect dialect.Dialect
	// Header holds header fields that are sent with each request. The field Host sets the name of a virtual
	// host. Values of at least eight bytes are removed from errors and records, unless their field only
	// describes the message, as Content-Type does. The configuration lines show the names of the fields,
	// except for Authorization and the field in which the dialect expects the API key
	// ([dialect.KeyHeader]). A field that the dialect needs, such as the version of its API, is added unless
	// Header has the field ([dialect.Headerer]). A valid field traceparent gets IDs of its own in each request of
	// a load, derived from the ID of the request; its version and flags stay.
	Header http.Header
	// AWS, if not nil, signs each request of the load, and each request of [Do] and of a [Client], instead of
	// an API key in Header. The dialect must be one of Amazon Bedrock. A request of an open loop is signed
	// before it is due, and any other request before its t0, so the time for the signature counts into no
	// latency. The keys are removed from errors and records. The configuration lines show the region.
	AWS *AWSKeys
	// Body, if not empty, is a JSON object that changes the body of each completion request. It is applied
	// as a JSON merge patch (RFC 7386): a member replaces the member with the same name, null removes the
	// member, and objects are merged member by member. Use it for settings such as a temperature, or for a
	// server that rejects ignore_eos, min_tokens or stream_options. A request that is not streamed has no member
	// stream_options, whatever Body says. Body must not have a member "stream", nor a member "n" other than 1. The configuration lines show Body without the values of secret members
	// such as api_key.
	Body json.RawMessage
	// Echo names fields of the header of answers, such as X-Session-Token, that the next turn of the same
	// session sends back, as routers want it that keep a session at one server. The name Set-Cookie stands
	// for cookies, which go back in the field Cookie. The configuration lines show the names.
	Echo []string
	// ShedStatus holds the HTTP statuses, 400 to 599, with which the server refuses a request because of its
	// load; see [sample.Shed]. Nil means 429, 529, and 503 with the header Retry-After. A queue or a limit of a
	// gateway often answers 503 without that header. The configuration lines show the statuses.
	ShedStatus []int
	// RecordHeader names fields of the header of answers, such as x-envoy-upstream-service-time, that are kept in
	// the records of their requests, and that a note compares with the measured latencies. A name under which
	// servers send credentials is an error, such as Set-Cookie, and so is a name in Header or Echo.
	RecordHeader []string
	// Compressed accepts answers that are compressed with gzip or deflate. Requests never ask for
	// compression, but some gateways compress every answer. All deltas in a compressed block get the
	// instant of the whole block, and the configuration lines say so. If Compressed is not set, a
	// compressed answer is a failed request.
	Compressed bool
	// HTTP is the version of HTTP: "1.1", or "" for the same, and "2" for HTTP/2, over TLS with an https URL and
	// otherwise with prior knowledge (h2c). A server that does not speak it is an error. The configuration lines say
	// "http: 2"; without that line, the version is 1.1.
	//
	// With HTTP/1.1, each request in flight has a connection. With HTTP/2, requests share connections, as in the clients
	// of net/http and of SDKs: there is one connection up to the number of streams that the server allows
	// (SETTINGS_MAX_CONCURRENT_STREAMS; 1000 if the server states none), and a further one beyond it. The client's windows
	// of flow control are 16 MiB for a stream and 64 MiB for a connection, so they do not hold a server back. The
	// timestamp of each frame is the kernel's, as with HTTP/1.1.
	//
	// HTTP/2 without TLS cannot be used with a Proxy whose scheme is http or https.
	HTTP string
	// TLS configures connections to a server with an https URL, for example certificate authorities or a
	// client certificate. Nil means the system's authorities. HTTP says what is negotiated, whatever
	// NextProtos says. If InsecureSkipVerify is set, the configuration lines say so. TLS must not be
	// modified while the target is in use.
	TLS *tls.Config
	// Config describes what the results depend on, such as the backend and its version, the model, and the
	// hardware. [Run] prints it as configuration lines of the Go benchmark format. A key must start with a
	// lower-case letter and contain no space, colon or upper-case letter.
	Config map[string]string
	// Context is the number of tokens, prompt and output together, above which the server refuses a request of Model; 0
	// means unknown, or that the server ends or cuts longer requests. A load with a request of Model that asks for an
	// output of at least Context tokens is invalid, because no prompt fits before it.
	Context int
	// Observe, if not nil, returns an Observer of the server. [Run] calls Observe once.
	Observe func() Observer
	// ObserveGateway, if not nil, returns an Observer of a gateway between the client and the server. [Run] calls it
	// once. If both Observers return a metric, the result has the metric of the server.
	ObserveGateway func() Observer
	// Proxy is the URL of the proxy through which all requests are sent. Its scheme is http, https, socks5
	// or socks5h. "" means no proxy. HTTP_PROXY and similar environment variables are ignored, because the
	// time spent in a proxy is not the server's. The configuration lines show the proxy. A server at a Unix
	// socket is reached without the proxy.
	Proxy string
	// Simulated means that the server is part of this process, so that the server's own work delays the
	// client. Distorted metrics are then reported by default; see [ClientBound].
	Simulated bool
	// Truth, if not nil, is what a simulated server knows about itself. It is only shown to people: a
	// comment before the results says how fast the server is, and the table at the end has the server's own
	// metrics beside the measured ones.
	Truth *Truth
	// Ephemeral means that this process starts and stops the server, so that the server's caches hold no
	// prompt from an earlier process. If the server is neither Ephemeral nor Simulated, each process sends
	// different prompts; see [Target.Salt].
	Ephemeral bool
	// KeepsPrompts means that an Ephemeral server has a prompt cache that is not emptied between passes.
	// Each benchmark then sends different prompts, and each process sends the same ones as the process
	// before; see [Target.Salt].
	KeepsPrompts bool
	// Dial opens a connection; nil means an ordinary network connection. It must return when its context
	// ends. The arguments are the network "tcp" and an address with host and port. For a Unix socket, they
	// are "unix" and the path of the socket.
	//
	// A connection is used for more than one request only if the client can detect that the server has
	// closed it or has sent more than one response. On Unix, the client can detect this for a
	// [syscall.Conn], such as a [net.TCPConn]. If a connection wraps a syscall.Conn without offering the
	// method SyscallConn, or is of another kind, it needs a method
	//
	//	Pending() (waiting bool, err error)
	//
	// which reports whether bytes wait to be read, and returns an error if the peer has closed the
	// connection.
	//
	// In a bubble of [testing/synctest], set Simulated, too. Otherwise the client's distortion is measured
	// over real sockets, which stop the bubble's clock.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// A Truth is what a simulated server knows about itself. It is safe for concurrent use.
type Truth struct {
	// Speed describes in one line how fast the server is, such as "TTFT 20ms, TPOT 1.5ms".
	Speed string
	// PrefixCache means that the server has a prefix cache. If a simulated server has none, [Run] does not
	// test whether repeated prompts are answered sooner.
	PrefixCache bool
	// Figures, if not nil, returns latencies of the requests of samples, keyed by unit name, according to
	// the server's own log. It is only called by the benchmark's goroutine.
	Figures func(samples iter.Seq[*sample.Sample]) map[string]float64
	// Next, if not empty, suggests what a person can do after a measurement of this server, such as run a
	// command. It is part of the last line that the process prints.
	Next string
}

// dialect returns the target's dialect, or the default one.
func (t Target) dialect() dialect.Dialect {
	if t.Dialect == nil {
		return dialect.OpenAIChat{}
	}
	return t.Dialect
}

// header returns the header fields of each request: the target's, and the fields of the dialect that the
// target does not have.
func (t Target) header() http.Header {
	d, ok := t.dialect().(dialect.Headerer)
	if !ok {
		return t.Header
	}
	h := d.Header()
	for name := range t.Header {
		h.Del(name)
	}
	for name, values := range t.Header {
		for _, v := range values {
			h.Add(name, v)
		}
	}
	return h
}

// http2 reports whether requests are sent over HTTP/2.
func (t Target) http2() bool { return t.HTTP == "2" }

// overUnixSocket reports whether the server is at a Unix socket.
func (t Target) overUnixSocket() bool {
	e, err := endpoint.Parse(t.URL)
	return err == nil && e.Socket != ""
}

// outlives reports whether the server may run before and after this process.
func (t Target) outlives() bool { return !t.Simulated && !t.Ephemeral }

// checkRequests returns an error if t adds something invalid to requests.
func (t Target) checkRequests() error {
	if err := checkHeader(t.Header); err != nil {
		return err
	}
	if t.AWS != nil {
		if err := t.AWS.check(t); err != nil {
			return err
		}
	}
	for _, name := range t.Echo {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("echo %q: want the name of a header field, of letters, digits and hyphens", name)
		}
	}
	if err := t.checkRecorded(); err != nil {
		return err
	}
	for _, status := range t.ShedStatus {
		if status < 400 || status > 599 {
			return fmt.Errorf("shed status %d: want statuses from 400 to 599", status)
		}
	}
	if len(t.Body) > 0 {
		if err := mergepatch.Check(t.Body); err != nil {
			return fmt.Errorf("body: %w", err)
		}
	}
	return nil
}

// checkRecorded returns an error if RecordHeader names no valid field, or a field that may have a credential.
func (t Target) checkRecorded() error {
	keyName, _ := dialect.KeyHeader(t.dialect(), "")
	private := append(canonicalNames(t.Echo), keyName)
	for name := range t.Header {
		private = append(private, http.CanonicalHeaderKey(name))
	}
	for _, name := range t.RecordHeader {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("record header %q: want the name of a header field, of letters, digits and hyphens", name)
		}
		if slices.Contains(private, http.CanonicalHeaderKey(name)) || env.IsSecret(name, "a credential") || slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(name), notLetter), isCredential) {
			return fmt.Errorf("record header %q: want a field that holds no credential", name)
		}
	}
	return nil
}

// isCredential reports whether a word of a field's name says that the value is a credential. It is for words
// for which [env.IsSecret], which is about the last word of a setting's name, is not meant.
func isCredential(word string) bool {
	return slices.Contains([]string{"cookie", "cookie2", "session", "sessionid", "jwt", "csrf", "xsrf", "signature", "auth", "authentication", "authorization"}, word)
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// checkHeader returns an error if h has an invalid field.
func checkHeader(h http.Header) error {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("header %q: want letters, digits and hyphens", name)
		}
		if slices.ContainsFunc(h[name], func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
			return fmt.Errorf("the value of the header %s holds a control character", name) // the value may be secret
		}
	}
	return nil
}

// canonicalNames returns the names of header fields in canonical form.
func canonicalNames(names []string) (all []string) {
	for _, name := range names {
		all = append(all, http.CanonicalHeaderKey(name))
	}
	return all
}

// proxy returns the URL of the proxy, or nil if there is none. The error shows neither user nor password.
func (t Target) proxy() (*url.URL, error) {
	if t.Proxy == "" {
		return nil, nil
	}
	const want = "want a URL like http://proxy:3128, of scheme http, https, socks5 or socks5h"
	u, err := url.Parse(t.Proxy)
	switch {
	case err != nil:
		return nil, errors.New("proxy: not a URL: " + want)
	case !conn.KnownProxy(u):
		return nil, fmt.Errorf("proxy: scheme %q: %s", u.Scheme, want)
	case u.Hostname() == "":
		return nil, errors.New("proxy: no host: " + want)
	}
	return u, nil
}

// Where returns the address of the server for use in messages: host and port, or the path of the Unix
// socket. It returns "" if the URL is invalid.
func (t Target) Where() string {
	e, err := endpoint.Parse(t.URL)
	if err != nil {
		return ""
	}
	return e.Where()
}
