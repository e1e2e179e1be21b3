// Package probe sends a server the requests that are not part of the measured load. It finds out whether
// the server is ready, which models it has and its version, and sends requests that set the server up.
package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Timeout limits one probe of a server, so that a single probe that hangs does not use up the time of the
// whole wait.
const Timeout = 10 * time.Second

// maxAnswer is the maximum length of an answer, in bytes.
const maxAnswer = 16 << 20

// Fetch sends a request for a path of t on a new connection, and returns the body of the answer. A body
// that is not empty is sent as JSON. If the status is not 2xx, the error wraps a [StatusError] and includes
// the server's answer, without t's credentials.
func Fetch(ctx context.Context, t llmbench.Target, method, path, body string) ([]byte, error) {
	base, client, err := t.Client()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Close = true
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if len(b) > maxAnswer && res.StatusCode/100 == 2 {
		path, _, _ = strings.Cut(path, "?")
		return nil, fmt.Errorf("%s %s: an answer of more than %d bytes", method, path, maxAnswer)
	}
	if err == nil && (res.StatusCode < 200 || res.StatusCode > 299) {
		words := string(bytes.TrimSpace(b))
		if to := res.Header.Get("Location"); to != "" {
			words = "redirects are not followed, and this one leads to " + to + ": " + words
		}
		path, _, _ = strings.Cut(path, "?") // without the URL's prefix and query, which may be secret
		err = fmt.Errorf("%s %s: %w: %s", method, path, StatusError{res.StatusCode}, t.Excerpt(words, 300))
	}
	return b, err
}

// A StatusError is an HTTP status outside 2xx.
type StatusError struct{ Code int }

func (e StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("status %d %s", e.Code, http.StatusText(e.Code)))
}

// Is reports whether target is [errors.ErrUnsupported] and the status says that the server does not support
// the request: 404 or 501.
func (e StatusError) Is(target error) bool {
	return target == errors.ErrUnsupported && (e.Code == http.StatusNotFound || e.Code == http.StatusNotImplemented)
}
