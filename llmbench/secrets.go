package llmbench

import (
	"net/http"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/mergepatch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// secrets adds the parts of t that must not be shown to the secrets of this process, and returns all of these secrets.
func (t Target) secrets() redact.Secrets {
	all := append(credentials(t.Header), t.AWS.secrets()...)
	if e, err := endpoint.Parse(t.URL); err == nil {
		all = append(all, e.Secrets()...)
	}
	if proxy, err := t.proxy(); err == nil && proxy != nil {
		password, set := proxy.User.Password()
		all = append(all, password, proxy.User.Username()+":"+password)
		if !set { // a token may be in the place of the name
			all = append(all, proxy.User.Username())
		}
	}
	_, members := mergepatch.Hide(t.Body, env.IsSecret)
	redact.Add(append(all, members...)...)
	return redact.Known()
}

// described lists fields of a request that describe the message, so that their values are no credentials.
var described = []string{"Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Connection", "Content-Encoding", "Content-Type"}

// credentials returns the values in h, and their parts, that must not be shown.
func credentials(h http.Header) (all []string) {
	for name, values := range h {
		if slices.Contains(described, http.CanonicalHeaderKey(name)) {
			continue
		}
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
	r := http.Request{Header: http.Header{"Authorization": authorization(h)}}
	if user, password, ok := r.BasicAuth(); ok {
		all = append(all, password, user+":"+password)
	}
	return all
}

// authorization returns the values of the field Authorization, whatever the case of its name.
func authorization(h http.Header) (values []string) {
	for name, all := range h {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			values = append(values, all...)
		}
	}
	return values
}

// Redact returns text in a form that may be shown. It removes the target's credentials, because servers
// repeat them in errors, and the other secrets that this process knows. Credentials are the values in Header,
// in the query of URL, in Proxy, in AWS and in secret members of Body that have at least eight bytes. A
// credential is also found if its characters are escaped as in JSON, HTML, Go or a URL, if it is in base64 or
// hexadecimal digits, or cut off before a [dialect.Cut]. Redact also writes characters other than tabs and
// newlines that are not graphic, and the first character of a command to a CI system such as ::error::, as Go
// escapes.
func (t Target) Redact(text string) string { return t.secrets().Hide(text) }

// Excerpt redacts text like [Target.Redact], and then shortens it to no more than most bytes. A shortened
// text ends with [dialect.Cut]. Do not shorten a text before it is redacted: a credential that is cut off
// might not be recognized.
func (t Target) Excerpt(text string, most int) string { return t.secrets().Excerpt(text, most) }
