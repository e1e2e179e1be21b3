//go:build unix

package enginetest_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	servers "github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/gatewaytest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/enginetest"
)

// kitDocument has the table of what the gateway kit finds out about real gateways.
const kitDocument = "../../../gatewaytest/README.md"

// A deviation is what gateways are known to do, as gaps of the kit. What it says is checked by hand in the bytes of the
// findings.
type deviation struct {
	says string
	gaps []string
}

// The deviations that several gateways have.
var (
	passesKeys = deviation{"passes the tenant's key on to the upstream", []string{"isolation/keys/tenant-key"}}
	ownErrors  = deviation{"its own errors have no error object of the API", []string{"failover/dead*/error-object"}}
	passesHop  = deviation{"passes on fields of answers that Connection names", []string{"fidelity/hop-by-hop/hop-answer"}}
	passesHops = deviation{"passes on fields that Connection names", []string{"fidelity/hop-by-hop/*"}}
	oneDead    = deviation{"does not send a request to the other upstream if one refuses the connection", []string{"failover/one-dead/failed"}}
)

// deviations has the deviations of each gateway.
var deviations = map[string][]deviation{
	"ReverseProxy": {passesKeys, ownErrors},
	"haproxy": {passesKeys, ownErrors, passesHops, oneDead,
		{"while the upstream is silent, its request goes on after the client has left (without option abortonclose)", []string{"leaving/*/goes-on", "end/stall/goes-on"}}},
	"nginx": {passesKeys, ownErrors, passesHops, {"refuses requests of more than 1 MB with 413 (without client_max_body_size)", []string{"fidelity/request/no-upstream"}}},
	"envoy": {passesKeys, ownErrors, passesHop, oneDead},
	"caddy": {passesKeys, ownErrors, oneDead, {"ends a stream cleanly that breaks", []string{"end/fin/clean-end", "end/reset/clean-end"}}},
	"smg":   {passesKeys, passesHop, {`adds "logprobs":false to requests`, []string{"fidelity/request/request"}}},
	"litellm": {
		{"makes streams that break, or that are empty or HTML, complete answers with a finish reason, usage and [DONE]", []string{"end/truncate/success", "end/fin/success", "end/reset/success", "end/empty/success", "end/html-200/success"}},
		noRetryAfter,
		{"replaces messages of errors", []string{"end/http-4*/error-message"}},
		{"adds a count of reasoning tokens that the upstream has not stated", []string{"*/reasoning/usage"}},
		goesOn,
		{"answers with status 500 to events with id and event", []string{"fidelity/event-lines/failed"}},
		noLimits,
	},
	toAnthropic: {
		{"makes streams that break, or that are empty, HTML or not JSON, complete answers with a finish reason, usage and [DONE]", []string{"end/truncate/success", "end/fin/success", "end/reset/success", "end/empty/success", "end/html-200/success", "end/error-string/success", "end/malformed/success"}},
		noRetryAfter,
		{"changes status 413 to 400, and 422 to 500", []string{"end/http-413*/status", "end/http-422*/status"}},
		{"loses the count of thinking tokens", []string{"*/reasoning/usage"}},
		goesOn, {"also while the upstream is silent", []string{"end/stall/goes-on"}},
		noLimits,
	},
}

// The deviations of LiteLLM with both kinds of upstreams.
var (
	goesOn       = deviation{"reads the upstream's answer on after the client has left", []string{"leaving/*"}}
	noRetryAfter = deviation{"loses Retry-After", []string{"end/http-429*/retry-after"}}
	noLimits     = deviation{"keeps events, answers and requests that do not end", []string{"limits/event/*", "limits/tool-name/*", "limits/body/*", "limits/request-body/*"}}
)

// partly has the classes and cases that run with a gateway which cannot run all, and why.
var partly = map[string]struct {
	classes []string
	why     string
}{
	"smg": {[]string{"fidelity", "end", "leaving", "usage", "isolation/keys", "isolation/streams", "isolation/whole"},
		"after streams that broke, its circuit breaker refuses all requests, for up to a minute (`translation`, `failover`, `limits` and `isolation/broken` were not run)"},
	"litellm":   {liteLLM, "after each error it keeps the upstream out of use for five seconds (`isolation` was run for keys only)"},
	toAnthropic: {liteLLM, ""},
}

// liteLLM are the classes and cases that LiteLLM runs. A hundred requests at once take it longer than a case may take.
var liteLLM = []string{"fidelity", "end", "leaving", "usage", "isolation/keys", "translation", "failover/dead*", "limits"}

// toAnthropic is the name in deviations of LiteLLM with upstreams that have Anthropic's API.
const toAnthropic = "litellm-anthropic"

// A kitReport is what the kit found out about a gateway.
type kitReport struct{ name, title, version string }

// TestGatewayKit runs the gateway kit with each real gateway, which GATEWAY.md configures, and with httputil.ReverseProxy.
// What they do wrong is declared, so that a new version that does anything else fails.
func TestGatewayKit(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: real gateways take seconds")
	}
	t.Parallel()
	var mu sync.Mutex
	var reports []kitReport
	check := func(t *testing.T, name, title, version string, upstreams int, rewrites bool, start func(testing.TB, []string) string) {
		o := gatewaytest.Options{Upstreams: upstreams, Rewrites: rewrites, Classes: partly[name].classes, LeaveWithin: 2 * time.Second, RecoverWithin: time.Minute}
		if rewrites {
			o.Wait = time.Minute // such a gateway is slow, and a request that hangs once changes what later cases see
		}
		for _, d := range deviations[name] {
			o.Gaps = append(o.Gaps, d.gaps...)
		}
		gatewaytest.Run(t, start, o)
		if !t.Failed() {
			mu.Lock()
			defer mu.Unlock()
			reports = append(reports, kitReport{name, title, version})
		}
	}
	var wg sync.WaitGroup // the gateways run at the same time, because they mostly wait
	wg.Go(func() {
		t.Run("ReverseProxy", func(t *testing.T) {
			check(t, "ReverseProxy", "httputil.ReverseProxy, which reads the request first", strings.TrimPrefix(runtime.Version(), "go"), 1, false, reverseProxy)
		})
	})
	for _, g := range enginetest.Gateways {
		wg.Go(func() {
			t.Run(g.Name, func(t *testing.T) {
				if !g.Each && !*demand {
					t.Skipf("%s runs on demand: go run ./.ci/engines -gateways -check %[1]s", g.Name)
				}
				upstreams := 2
				if g.Template != "" && g.Second == nil {
					upstreams = 1
				}
				check(t, g.Name, g.Title, g.Version, upstreams, g.Rewrites, func(t testing.TB, upstreams []string) string { return startGateway(t, g, upstreams, nil) })
				if g.Name == "litellm" {
					check(t, toAnthropic, g.Title+", whose upstreams have Anthropic's API", g.Version, 1, true, func(t testing.TB, upstreams []string) string {
						return startGateway(t, g, upstreams, strings.NewReplacer("openai/mock", "anthropic/claude-sonnet-4-5", "/v1\"", "\""))
					})
				}
			})
		})
	}
	wg.Wait()
	if golden.FlagUpdate() && !t.Failed() {
		writeKitTable(t, reports)
	}
}

// reverseProxy starts a plain proxy of Go's library. It reads the request first, because a ReverseProxy breaks an answer now
// and then that begins before it has read the request (https://go.dev/issue/40747).
func reverseProxy(t testing.TB, upstreams []string) string {
	to, err := url.Parse(upstreams[0])
	assert.NilError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, ErrorLog: log.New(io.Discard, "", 0)}
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 32<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(gateway.Close)
	return gateway.URL
}

// startGateway starts a gateway in front of one server or two. It changes the configuration file by a replacer that is not nil.
func startGateway(t testing.TB, g enginetest.Gateway, upstreams []string, change *strings.Replacer) string {
	bin := g.Bin(t)
	words, err := shellquote.Split(g.Command)
	assert.NilError(t, err)
	p := servers.Program{Env: map[string]string{}}
	for _, word := range words {
		if name, value, set := strings.Cut(word, "="); set && len(p.Command) == 0 {
			p.Env[name] = value
		} else if word == "{urls}" {
			p.Command = append(p.Command, upstreams...)
		} else {
			p.Command = append(p.Command, word)
		}
	}
	p.Command[0] = filepath.Join(bin, p.Command[0])
	if g.Template != "" {
		text, err := os.ReadFile(gatewayDocument)
		assert.NilError(t, err)
		for _, m := range example.FindAllStringSubmatch(string(text), -1) {
			if m[1] == g.Template {
				file := m[3]
				if len(upstreams) > 1 {
					file, err = g.Second.Of(file)
					assert.NilError(t, err)
					second := strings.TrimPrefix(upstreams[1], "http://")
					file = strings.NewReplacer("{second}", second, "{second-port}", second[strings.LastIndex(second, ":")+1:]).Replace(file)
				}
				if change != nil {
					file = change.Replace(file)
				}
				p.Files = map[string]string{g.Template: file}
			}
		}
	}
	target := servers.Process{Program: p, Upstream: upstreams[0], Model: "mock"}.Start(t)
	return target.URL
}

// kitBlock matches the table, and kitRow a line of it.
var (
	kitBlock = regexp.MustCompile(`(?s)<!-- gatewaytest -->\n(.*)<!-- /gatewaytest -->`)
	kitRow   = regexp.MustCompile(`(?m)^\| ([^|]+) \| (\S+) \| \d{4}-\d\d-\d\d \| (.*) \|$`)
)

// writeKitTable writes the rows of gateways into the table. Rows of other gateways stay.
func writeKitTable(t *testing.T, reports []kitReport) {
	text, err := os.ReadFile(kitDocument)
	assert.NilError(t, err)
	rows := map[string]string{}
	for _, m := range kitRow.FindAllStringSubmatch(kitBlock.FindString(string(text)), -1) {
		rows[m[1]] = m[0]
	}
	for _, r := range reports {
		rows[r.title] = fmt.Sprintf("| %s | %s | %s | %s |", r.title, r.version, time.Now().Format(time.DateOnly), deviationCell(r.name))
	}
	table := "| gateway | version | run on | what it does that the kit finds, and the gap that declares it |\n| --- | --- | --- | --- |\n"
	for _, title := range slices.Sorted(maps.Keys(rows)) {
		table += rows[title] + "\n"
	}
	assert.NilError(t, os.WriteFile(kitDocument, kitBlock.ReplaceAllLiteral(text, []byte("<!-- gatewaytest -->\n"+table+"<!-- /gatewaytest -->")), 0o644))
}

// deviationCell returns the deviations of a gateway as a cell of a table.
func deviationCell(name string) string {
	var cell []string
	for _, d := range deviations[name] {
		cell = append(cell, fmt.Sprintf("%s (`%s`)", d.says, strings.Join(d.gaps, "`, `")))
	}
	if why := partly[name].why; why != "" {
		cell = append(cell, why)
	}
	return strings.Join(cell, "; ")
}

// TestGatewayKitTable checks that the table has the versions and the deviations of the gateways that each run runs.
func TestGatewayKitTable(t *testing.T) {
	text, err := os.ReadFile(kitDocument)
	assert.NilError(t, err)
	rows := map[string][]string{}
	for _, m := range kitRow.FindAllStringSubmatch(kitBlock.FindString(string(text)), -1) {
		rows[m[1]] = m
	}
	for _, g := range enginetest.Gateways {
		if g.Each {
			const how = "backends/gatewaytest/README.md; write it by: go test -run=GatewayKit$ ./backends/internal/testkit/enginetest -update"
			m := rows[g.Title]
			assert.Assert(t, m != nil, "%s has no row in %s", g.Title, how)
			assert.Equal(t, m[2], g.Version, how)
			assert.Equal(t, m[3], deviationCell(g.Name), how)
		}
	}
}
