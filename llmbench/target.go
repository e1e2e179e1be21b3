package llmbench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// A Target is a server under test. It is a value, safe for concurrent use.
type Target struct {
	// URL is the server's base URL, without the dialect's path (/v1/…).
	URL string
	// Model is the model's name, sent with each request; "" sends none.
	Model string
	// Dialect is what the server speaks; nil means [dialect.OpenAIChat].
	Dialect dialect.Dialect
	// Header is sent with each request. Its values are kept out of errors and
	// records, if they are eight bytes or longer.
	Header http.Header
	// Config is what makes results of this server comparable to others:
	// backend, its version, model, hardware. [Run] prints it as lines of the
	// Go benchmark format; keys start with a lower-case letter and hold no
	// space and no upper case.
	Config map[string]string
	// Observe, if not nil, gives what looks at the server beside the requests.
	// [Run] calls it once.
	Observe func() Observer
	// NoProxy keeps requests from the proxy that the environment names
	// ([http.ProxyFromEnvironment]): for servers on this machine, such as those
	// in containers, whose addresses no proxy knows.
	NoProxy bool
	// Simulated tells that the server is part of this process, for tests: its
	// work is the client's, so that what the client distorts is reported unless
	// the load or the environment says otherwise.
	Simulated bool
	// Dial opens a connection, or ends with its context; nil means TCP. In a bubble of
	// [testing/synctest] the target must be Simulated, too: else the client is judged by
	// requests over real sockets, which hold the bubble's clock.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// An Observer readies a server for a pass, and asks it afterwards what it saw.
// It is for one goroutine, that of the benchmark; nothing it does is part of the
// time measured, but what it does while a pass is under way is beside the
// requests.
type Observer interface {
	// Before is called before each measured pass. An error ends the benchmark:
	// the pass would not be what it is to be.
	Before(ctx context.Context) error
	// After is called when the last response of the pass has ended, and
	// returns what the server says of all passes so far, by the names of
	// [sample.Units]; values that are not finite are left out. An error is logged, and
	// takes these figures alone from the result.
	After(ctx context.Context) (map[string]float64, error)
}

// dialect returns the target's dialect, or the default.
func (t Target) dialect() dialect.Dialect {
	if t.Dialect == nil {
		return dialect.OpenAIChat{}
	}
	return t.Dialect
}

// config returns the target's Config and what else makes results comparable.
func (t Target) config() map[string]string {
	c := map[string]string{"dialect": t.dialect().Name()}
	maps.Copy(c, t.Config)
	return c
}

// Check returns what is wrong with t, or nil. It sends nothing. Its error shows
// neither values of headers nor more of the URL than scheme and host.
func (t Target) Check() error {
	_, err := t.base()
	return err
}

// base checks the target and returns its URL without a trailing slash.
func (t Target) base() (string, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return "", errors.New("target: URL cannot be parsed; want a base like http://127.0.0.1:8000")
	}
	shown := (&url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: u.Host}).String() // the rest may be secret
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", fmt.Errorf("target: URL %q; want a base like http://127.0.0.1:8000", shown)
	case strings.ContainsAny(t.URL, "?#"):
		return "", fmt.Errorf("target: URL %q with a query or a fragment; want a base like http://127.0.0.1:8000", shown)
	case u.User != nil:
		return "", fmt.Errorf("target: URL %q with a user; credentials belong into the Authorization header", shown)
	}
	for name, values := range t.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return "", fmt.Errorf("target: header %q; want letters, digits and hyphens", name)
		}
		if !slices.ContainsFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
			continue
		}
		return "", fmt.Errorf("target: the value of the header %s holds a control character", name) // and may be secret
	}
	for key := range t.Config {
		if !validConfigKey(key) {
			return "", fmt.Errorf("target: config key %q; must start with a lower-case letter and hold no space, colon or upper case", key)
		}
	}
	return strings.TrimSuffix(t.URL, "/"), nil
}

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
