package endpoint

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestParse(t *testing.T) {
	for raw, want := range map[string]struct {
		url, socket, where string // url is the URL for the path /v1/models
	}{
		"http://127.0.0.1:8000":                  {"http://127.0.0.1:8000/v1/models", "", "127.0.0.1:8000"},
		"HTTP://Localhost/":                      {"http://Localhost/v1/models", "", "Localhost"},
		"http://host/v1":                         {"http://host/v1/models", "", "host"},
		"http://host/v1/":                        {"http://host/v1/models", "", "host"},
		"https://host/openai/v1//":               {"https://host/openai/v1/models", "", "host"},
		"https://host/prefix/":                   {"https://host/prefix/v1/models", "", "host"},
		"https://host/a%2Fb/v1":                  {"https://host/a%2Fb/v1/models", "", "host"},
		"https://host/v1/v1":                     {"https://host/v1/v1/models", "", "host"},
		"https://host/gpt-v1":                    {"https://host/gpt-v1/v1/models", "", "host"},
		"https://host/v1?api-version=2024-10-21": {"https://host/v1/models?api-version=2024-10-21", "", "host"},
		"https://host/openai/deployments/gpt/chat/completions?api-version=2024-10-21": {"https://host/openai/deployments/gpt/models?api-version=2024-10-21", "", "host"},
		"https://host/completions/":              {"https://host/models", "", "host"},
		"https://host/openai/v1/responses":       {"https://host/openai/v1/models", "", "host"},
		"unix:///run/llm.sock:/chat/completions": {"http://localhost/models", "/run/llm.sock", "/run/llm.sock"},
		"https://host?a=b&c=d":                   {"https://host/v1/models?a=b&c=d", "", "host"},
		"http://host?":                           {"http://host/v1/models", "", "host"},
		"http://[::1]:8000/v1":                   {"http://[::1]:8000/v1/models", "", "[::1]:8000"},
		"http://[fe80::1%25eth0]":                {"http://[fe80::1%25eth0]/v1/models", "", "[fe80::1%eth0]"},
		"unix:///run/llm.sock":                   {"http://localhost/v1/models", "/run/llm.sock", "/run/llm.sock"},
		"unix:///run/v1":                         {"http://localhost/v1/models", "/run/v1", "/run/v1"},
		"unix:///run/llm.sock:/v1":               {"http://localhost/v1/models", "/run/llm.sock", "/run/llm.sock"},
		"unix:///run/llm.sock:/prefix/v1/?a=b":   {"http://localhost/prefix/v1/models?a=b", "/run/llm.sock", "/run/llm.sock"},
		"unix:///run/a%20b.sock":                 {"http://localhost/v1/models", "/run/a b.sock", "/run/a b.sock"},
	} {
		e, err := Parse(raw)
		assert.NilError(t, err, raw)
		assert.Equal(t, e.URL("/v1/models"), want.url, raw)
		assert.Equal(t, e.Socket, want.socket, raw)
		assert.Equal(t, e.Where(), want.where, raw)
	}
	e, err := Parse("http://host?a=b")
	assert.NilError(t, err)
	assert.Equal(t, e.URL("/slots/0?action=erase"), "http://host/slots/0?action=erase&a=b")
}

func TestParseErrors(t *testing.T) {
	for raw, want := range map[string]string{
		"":                            `URL "": want a base URL like`,
		"127.0.0.1:8000":              "URL cannot be parsed: want a base URL like",
		"localhost:8000":              `URL "localhost:8000": want`,
		"ftp://host/secret":           `URL "ftp://host": want`,
		"http://":                     `URL "http:": want`,
		"http://:8000":                `URL "http://:8000": want`,
		"http://user:secret@host":     `URL "http://host" with a user or a password before the host, which are not shown; send them as a header`,
		"https://secret@host:8443/x":  `URL "https://host:8443" with a user`,
		"unix://user:secret@/run/x":   "with a user",
		"http://host/secret#":         `URL "http://host" with a fragment`,
		"http://host#secret":          `URL "http://host" with a fragment`,
		"http://::1:8000/secret":      "want an IPv6 address in brackets, as in http://[::1]:8000",
		"http://host:port/secret":     "URL cannot be parsed: want",
		"http://user:%zzsecret@host":  "URL cannot be parsed: want",
		"unix://run/secret.sock":      "three slashes",
		"unix:run/secret.sock":        "three slashes",
		"unix:///":                    "three slashes",
		"unix:///run/llm.sock:prefix": "three slashes",
		"http://host/\x7fsecret":      "URL cannot be parsed: want",
		" http://host/secret":         "URL cannot be parsed: want",
	} {
		_, err := Parse(raw)
		assert.ErrorContains(t, err, want, raw)
		assert.Assert(t, !strings.Contains(err.Error(), "secret"), "%v", err)
	}
}

func TestSecrets(t *testing.T) {
	e, err := Parse("http://host?key=k%2F1&api-version=2&key=a+b/c==;key=k3&key=%zz&bare&empty=")
	assert.NilError(t, err)
	assert.DeepEqual(t, e.Secrets(), []string{"", "%zz", "2", "a b/c==", "a+b/c==", "bare", "k%2F1", "k/1", "k3"})
}

// FuzzParse checks that the result of Parse is a URL that net/http can use, and that errors do not show a
// password.
func FuzzParse(f *testing.F) {
	for _, raw := range []string{"http://127.0.0.1:8000/v1?a=b", "unix:///run/x.sock:/p", "https://[::1%25lo]/", "http://u:passw0rd@h"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		e, err := Parse(raw)
		if err != nil {
			if u, parseErr := url.Parse(raw); parseErr == nil && u.User != nil {
				password, _ := u.User.Password()
				if len(password) > 8 && !strings.Contains(u.Host, password) && !strings.Contains(want, password) {
					assert.Assert(t, !strings.Contains(err.Error(), password), "%q: %v", raw, err)
				}
			}
			return
		}
		_, err = http.NewRequest(http.MethodGet, e.URL("/v1/models"), nil)
		assert.NilError(t, err, "%q", raw)
	})
}
