package llmbench

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/mergepatch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
)

// config returns what the results depend on, keyed as in the configuration lines: the target's Config, its
// dialect, and every setting that changes the requests or the connections.
func (t Target) config() map[string]string {
	c := map[string]string{"dialect": t.dialect().Name()}
	maps.Copy(c, t.Config)
	var names []string
	keyName, _ := dialect.KeyHeader(t.dialect(), "")
	for name := range t.Header {
		if name = http.CanonicalHeaderKey(name); name != "Authorization" && name != keyName {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		c["header"] = strings.Join(names, ", ")
	}
	if len(t.Echo) > 0 {
		c["echo"] = strings.Join(canonicalNames(t.Echo), ", ")
	}
	if len(t.ShedStatus) > 0 {
		c["shed-status"] = strings.Trim(fmt.Sprint(slices.Sorted(slices.Values(t.ShedStatus))), "[]")
	}
	if len(t.Body) > 0 {
		shown, _ := mergepatch.Hide(t.Body, env.IsSecret)
		c["body"] = shown
	}
	if t.Compressed {
		c["compression"] = "allowed, instants of compressed answers are those of whole compressed blocks"
	}
	if t.AWS != nil {
		c["signed"] = "with AWS keys, region " + t.AWS.Region
	}
	if t.Proxy != "" {
		if u, err := url.Parse(t.Proxy); err == nil {
			c["proxy"] = u.Scheme + "://" + u.Host
		}
	}
	if t.http2() {
		c["http"] = "2"
	}
	if t.overUnixSocket() {
		c["instants"] = "of the client's reads, a Unix socket has no kernel timestamps"
	}
	if t.TLS != nil && t.TLS.InsecureSkipVerify {
		c["tls"] = "insecure, the server's certificate is not verified"
	}
	secrets := t.secrets() // some values come from a server, which may repeat a secret
	for name, value := range c {
		c[name] = secrets.Hide(value)
	}
	return c
}

// settings returns the configuration of the target and of this process, as in configuration lines.
func (t Target) settings(cfg process.Config) map[string]string {
	c := t.config()
	if p := t.place(cfg); p != "" {
		c["priority"] = string(p)
	}
	maps.Copy(c, cfg.Hooks.Settings())
	return c
}

// validConfigKey reports whether key is valid in a configuration line
// (https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md).
func validConfigKey(key string) bool {
	return key != "" && key[0] >= 'a' && key[0] <= 'z' && strings.ToLower(key) == key && !strings.ContainsAny(key, ": \t\r\n")
}

// NameValue turns s into a valid value in a benchmark name, which consists of lower-case letters, digits,
// '.', '_' and '-'. Upper-case letters become lower-case, and every other character becomes '_'.
func NameValue(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, strings.ToLower(s))
}
