// Package probe sends a server the requests that are not part of the measured load. It finds out whether
// the server is ready, which models it has and its version, and sends requests that set the server up.
package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
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
	_, b, err := Exchange(ctx, t, method, path, body)
	return b, err
}

// Exchange is like [Fetch], and also returns the header of the answer. If the request failed, the header is nil.
func Exchange(ctx context.Context, t llmbench.Target, method, path, body string) (http.Header, []byte, error) {
	base, client, err := t.Client()
	if err != nil {
		return nil, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Close = true
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if len(b) > maxAnswer && res.StatusCode/100 == 2 {
		path, _, _ = strings.Cut(path, "?")
		return nil, nil, fmt.Errorf("%s %s: an answer of more than %d bytes", method, path, maxAnswer)
	}
	if err == nil && (res.StatusCode < 200 || res.StatusCode > 299) {
		words := said(res, b)
		if to := res.Header.Get("Location"); to != "" {
			words = "redirects are not followed, and this one leads to " + to + ": " + words
		}
		path, _, _ = strings.Cut(path, "?") // without the URL's prefix and query, which may be secret
		err = fmt.Errorf("%s %s: %w: %s", method, path, StatusError{res.StatusCode}, t.Excerpt(words, 300))
	}
	return res.Header, b, err
}

// said returns in one line what an answer with an error status says. A page of HTML comes from a proxy: only its text
// is returned, and if it says that the proxy's server does not answer, only that.
func said(res *http.Response, body []byte) string {
	text := string(body)
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	page := kind == "text/html"
	if page {
		text = tags.ReplaceAllString(text, " ")
	}
	text = strings.Join(strings.Fields(text), " ")
	const down = "the gateway answers, its upstream does not"
	switch res.StatusCode {
	case http.StatusServiceUnavailable:
		if page {
			return down
		}
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		if page || text == "" {
			return down
		}
		return down + ": " + text
	}
	return text
}

// tags matches the tags of a page of HTML.
var tags = regexp.MustCompile(`(?s)<style.*?</style>|<[^>]*>`)

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
