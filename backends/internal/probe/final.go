package probe

import (
	"net/url"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A Final error is an answer of a server, or a mistake in the settings, that waiting does not cure.
type Final struct {
	Path   string // path of the request, as Path returns it; "" if the error is not about a request
	Status int    // HTTP status of the answer; 0 if there was none
	Err    error
}

func (f *Final) Error() string {
	if f.Path == "" {
		return f.Err.Error()
	}
	return "POST " + f.Path + ": " + f.Err.Error()
}

func (f *Final) Unwrap() error { return f.Err }

// Path returns the path of a request to t, of which path is the dialect's part, for messages. A prefix in the URL of t
// is left out, because it may be secret.
func Path(t llmbench.Target, path string) string {
	at, err := url.Parse(t.URL)
	if err != nil {
		return path
	}
	before := strings.TrimSuffix(at.Path, "/")
	for _, own := range []string{"/chat/completions", "/completions", "/responses", "/messages"} {
		if rest, ends := strings.CutSuffix(before, own); ends && !strings.HasSuffix(rest, "/v1") {
			return "…" + own // the URL is the address of the requests
		}
	}
	return path
}
