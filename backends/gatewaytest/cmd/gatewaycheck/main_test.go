package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
)

// A told is what the command writes to standard error, where a gateway finds the address of its upstream.
type told struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *told) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(b)
}

func (t *told) upstream() *url.URL {
	t.mu.Lock()
	defer t.mu.Unlock()
	u, _ := url.Parse(regexp.MustCompile(`servers at (http://[0-9.:]+)`).FindStringSubmatch(t.text.String())[1])
	return u
}

// TestReports checks a plain proxy, which passes the key of tenants on, and reads the reports.
func TestReports(t *testing.T) {
	check := func(args ...string) (status int, out string) {
		t.Helper()
		var stderr told
		var stdout bytes.Buffer
		gateway := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(stderr.upstream()) }})
		defer gateway.Close()
		status = run(append([]string{"-gateway", gateway.URL, "-listen", "127.0.0.1:0", "-class", "isolation/keys", "-class", "usage/whole"}, args...), &stdout, &stderr)
		return status, stdout.String()
	}
	status, out := check()
	assert.Equal(t, status, 1, out)
	assert.Assert(t, strings.Contains(out, "isolation/keys/tenant-key: the gateway sent the tenant's key to the upstream"), out)
	assert.Assert(t, strings.HasSuffix(out, "\n1 of 2 cases failed\n"), out)

	status, out = check("-format=markdown", "-gap=isolation/keys", "-gap=usage/whole")
	assert.Equal(t, status, 1, out) // one gap does not occur
	assert.Assert(t, strings.HasPrefix(out, "0 of 2 cases failed; findings that gaps declare: 1; gaps that no longer occur: 1.\n"), out)
	assert.Assert(t, strings.Contains(out, "\n| isolation/keys/tenant-key | "), out)
	assert.Assert(t, strings.Contains(out, "\nThe gap `usage/whole` no longer occurs.\n"), out)

	status, out = check("-format=junit")
	assert.Equal(t, status, 1, out)
	var suites struct {
		Suites []struct {
			Name            string `xml:"name,attr"`
			Tests, Failures int    `xml:",attr"`
			Cases           []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	assert.NilError(t, xml.Unmarshal([]byte(out), &suites))
	assert.Equal(t, len(suites.Suites), 2)
	usage, isolation := suites.Suites[0], suites.Suites[1]
	assert.Equal(t, usage.Name, "usage")
	assert.Assert(t, usage.Cases[0].Failure == nil)
	assert.Equal(t, isolation.Cases[0].Name, "keys")
	assert.Assert(t, strings.Contains(isolation.Cases[0].Failure.Message, "sent the tenant's key"))

	status, _ = check("-gap=isolation/keys/tenant-key")
	assert.Equal(t, status, 0)
}

// TestUsage checks the errors of the command line.
func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                        "-listen: missing: want one or two addresses",
		"-listen=a:1 x":           `argument "x": want flags only`,
		"-listen=127.0.0.1:0":     "-gateway=: want a base URL",
		"-listen=127.0.0.1:0 -x":  "flag provided but not defined: -x",
		"-listen=a:1 -format=pdf": "-format=pdf: want text, markdown or junit",
		"-listen=nowhere.invalid:1 -gateway=http://127.0.0.1:1":             "upstream 1",
		"-listen=127.0.0.1:0 -gateway=http://127.0.0.1:1 -api=x":            `Options.API: "x": want one of`,
		"-listen=127.0.0.1:0 -gateway=http://127.0.0.1:1 -pid=-1":           "Options.Measure: ",
		"-listen=127.0.0.1:0 -gateway=http://127.0.0.1:1 -class=end/resets": `Options.Classes: "end/resets" matches no case`,
	} {
		var stderr bytes.Buffer
		assert.Equal(t, run(strings.Fields(args), io.Discard, &stderr), 2, args)
		assert.Assert(t, strings.Contains(stderr.String(), want), "%s: %s", args, stderr.String())
	}
	var help, list bytes.Buffer
	assert.Equal(t, run([]string{"-help"}, &help, io.Discard), 0)
	assert.Equal(t, run([]string{"-list"}, &list, io.Discard), 0)
	assert.Assert(t, strings.Contains(list.String(), "end/reset "))
	doc, err := os.ReadFile("main.go")
	assert.NilError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^  -([a-z-]+)`).FindAllStringSubmatch(help.String(), -1) {
		assert.Assert(t, strings.Contains(string(doc), "\n//\t-"+m[1]), "the comment of the command lacks -%s", m[1])
	}
}
