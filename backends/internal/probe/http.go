// Package probe asks a server for what is not part of the measured load: whether
// it is ready, which models it has, its version, and requests that set it up.
package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Timeout bounds one probe of a server, so that a probe that hangs does not use
// up the deadline of the whole wait.
const Timeout = 10 * time.Second

// maxAnswer is the number of bytes of an answer that are read.
const maxAnswer = 16 << 20

// Direct sends each request on a connection of its own, without a proxy.
// ThroughProxy does the same through the proxy that the environment names
// ([http.ProxyFromEnvironment]).
var (
	Direct       = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ThroughProxy = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}}
)

// Fetch sends a request with client and returns the body of the answer. A body
// that is not empty is sent as JSON. A status outside 2xx is an error that wraps
// a [StatusError].
func Fetch(ctx context.Context, client *http.Client, method, url, body string, header http.Header) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil && (res.StatusCode < 200 || res.StatusCode > 299) {
		words := llmbench.Target{Header: header}.Excerpt(string(bytes.TrimSpace(b)), 300)
		err = fmt.Errorf("%s %s: %w: %s", method, req.URL.Path, StatusError{res.StatusCode}, words)
	}
	return b, err
}

// A StatusError is an HTTP status outside 2xx.
type StatusError struct{ Code int }

func (e StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("status %d %s", e.Code, http.StatusText(e.Code)))
}

// Is reports whether target is [errors.ErrUnsupported] and the status says that
// the server does not have what was asked for: 404 or 501.
func (e StatusError) Is(target error) bool {
	return target == errors.ErrUnsupported && (e.Code == http.StatusNotFound || e.Code == http.StatusNotImplemented)
}
