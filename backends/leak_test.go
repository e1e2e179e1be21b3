package backends_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
)

// planted matches a secret of TestLeaks. Each has characters that are escaped in JSON, HTML or a URL.
var planted = regexp.MustCompile(`planted[A-Za-z0-9+/=&<.-]*tornado`)

// spellings returns a text in the encodings in which servers write it.
func spellings(text string) (all []string) {
	each := func(format string) string {
		var b strings.Builder
		for _, c := range []byte(text) {
			fmt.Fprintf(&b, format, c)
		}
		return b.String()
	}
	inJSON, _ := json.Marshal(text)
	all = []string{
		text, string(inJSON), url.QueryEscape(text), url.PathEscape(text), html.EscapeString(text), fmt.Sprintf("%+q", text), strings.ReplaceAll(text, "/", `\/`),
		each(`\u%04x`), each(`\u%04X`), each(`\x%02x`), each("%%%02X"), each("%%%02x"), each("&#%d;"), each("&#x%x;"), each(`\\u%04x`), each("%%25%02X"),
		hex.EncodeToString([]byte(text)), text[:9] + "\n" + text[9:], text[:2] + "\r\n    " + text[2:],
	}
	for _, before := range []string{"", "a", "user:"} {
		all = append(all, base64.StdEncoding.EncodeToString([]byte(before+text+":b")), base64.RawURLEncoding.EncodeToString([]byte(before+text)))
	}
	return all
}

// A hostile server repeats every secret that it knows, in every encoding, in its log and in its answers.
type hostile struct {
	log  io.Writer
	how  string       // when it repeats secrets: "error" in answers with an error, "stream" in streams, "log" in the log alone
	own  string       // what it knows without a request
	sent atomic.Int64 // requests for completions
	read atomic.Int64 // requests for metrics
}

// know returns all secrets in a request, as the server writes them.
func (h *hostile) know(r *http.Request) string {
	text := h.own + " " + r.RequestURI
	if query, err := url.QueryUnescape(r.URL.RawQuery); err == nil {
		text += " " + query
	}
	for _, values := range r.Header {
		text += " " + strings.Join(values, " ")
		if decoded, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(values[0], "Basic ")); err == nil {
			text += " " + string(decoded)
		}
	}
	if r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		text += " " + string(body)
	}
	var all []string
	for _, secret := range planted.FindAllString(text, -1) {
		all = append(all, spellings(secret)...)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

func (h *hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secrets := h.know(r)
	fmt.Fprintf(h.log, "request %s with %s\n::set-output name=x::y\n\x1b[2J\n", r.URL.Path, secrets)
	for key := range r.Header {
		w.Header().Set("X-Echo-"+key, r.Header.Get(key))
	}
	r.URL.Scheme, r.URL.Host = "", "" // as in a request to a proxy
	switch {
	case r.URL.Path == "/metrics" && (h.how != "log" || h.read.Add(1) > 2): // it is read at the start, and before and after a pass
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "not for %s\n::stop-commands::z", secrets)
	case !strings.HasSuffix(r.URL.Path, "/completions") || h.sent.Add(1) < 12 || h.how == "log":
		mock().ServeHTTP(w, r)
	case h.how == "error":
		w.Header().Set("Location", "/?"+url.Values{"key": {secrets}}.Encode())
		w.WriteHeader([]int{400, 302, 500}[h.sent.Load()%3])
		fmt.Fprintf(w, "\n::set-output name=x::%s\n##[error]%s", secrets, secrets)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		for _, secret := range strings.Fields(secrets) {
			inJSON, _ := json.Marshal(secret)
			if h.sent.Add(1)%2 == 0 {
				fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":%s}]}\n\n", inJSON)
				continue
			}
			fmt.Fprintf(w, "data: {\"error\":{\"message\":%s}}\n\n", inJSON)
			return
		}
	}
}

func init() {
	roles["hostile"] = func(port string) {
		h := &hostile{log: os.Stdout, how: os.Args[2], own: strings.Join(append(os.Environ(), os.Args...), " ")}
		fmt.Println("started with", h.know(&http.Request{URL: &url.URL{}}))
		listen(port, h)
	}
}

// TestLeaks measures a server that repeats the secrets of all settings wherever it can, and checks every byte that is
// printed or written.
func TestLeaks(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it builds the scenarios")
	}
	self, err := os.Executable()
	assert.NilError(t, err)
	program := scenariostest.Program(t)
	const common = "LLMBENCH_API_KEY=planted-api+key/1=tornado\nLLMBENCH_BODY={\"user_key\":\"planted-body<&key+tornado\"}\n" +
		"HF_TOKEN=planted-hf/token+tornado\nLLMBENCH_REQUESTS=24\nLLMBENCH_CONCURRENCY=2\nLLMBENCH_WARMUP=0\nLLMBENCH_CLIENT_BOUND=report"
	for _, how := range []string{"log", "error", "stream"} {
		for _, c := range []struct{ name, settings string }{
			{"process", "LLMBENCH_BACKEND=process\nLLMBENCH_HEADER=X-Team: planted-header&/2tornado\n" +
				"LLMBENCH_COMMAND=MY_PASSWORD=planted-env.3tornado sh -c '" + roleVariable + "=hostile OPENAI_API_KEY=\"planted-script&4+tornado\" exec \"$0\" \"$@\"' " +
				self + " {port} " + how + " --api-key planted-option/5tornado --other=http://u:planted-url6tornado@host/ Authorization:\\ Bearer\\ planted-field7tornado"},
			{"URL", "LLMBENCH_URL=http://llm.example/v1?key=planted-query/8tornado\nLLMBENCH_HEADER=Cookie: a=planted-cookie9tornado\n" +
				"LLMBENCH_PROXY=http://user:planted-proxy%2B10tornado@PROXY"},
		} {
			t.Run(c.name+", "+how, func(t *testing.T) {
				out := t.TempDir()
				var log bytes.Buffer
				h := httptest.NewServer(&hostile{log: io.Discard, how: how})
				defer h.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, program, "-test.run=^$", "-test.bench=Serve", "-test.benchtime=1x", "-test.v")
				cmd.Env = append(os.Environ(), "LLMBENCH_OUT="+out)
				settings := strings.Replace(common+"\n"+c.settings, "@PROXY", "@"+strings.TrimPrefix(h.URL, "http://"), 1)
				cmd.Env = append(cmd.Env, strings.Split(settings, "\n")...)
				cmd.Stdout, cmd.Stderr = &log, &log
				err := cmd.Run()
				assert.Equal(t, err == nil, how == "log", "%v:\n%s", err, &log)
				assert.NilError(t, filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
					if err != nil || d.IsDir() {
						return err
					}
					text, err := os.ReadFile(path)
					fmt.Fprintf(&log, "\n%s:\n%s", path, text)
					return err
				}))
				shown := log.String()
				assert.Assert(t, strings.Contains(shown, "[redacted]"), shown)
				if how == "log" && c.name == "URL" {
					assert.Assert(t, strings.Contains(shown, "the server's own figures are left out: "), shown)
				}
				if c.name == "process" {
					assert.Assert(t, strings.Contains(shown, "command: sh -c"), shown)
				}
				for _, part := range []string{"planted", "tornado"} {
					for _, form := range forms(part) {
						if at := strings.Index(strings.ToLower(shown), strings.ToLower(form)); at >= 0 {
							t.Errorf("%q is shown: %q", form, shown[max(0, at-200):min(len(shown), at+200)])
						}
					}
				}
				printed, _, _ := strings.Cut(shown, "\n"+out)
				for _, active := range []string{"\x1b[2J", "##[error]"} {
					assert.Assert(t, !strings.Contains(printed, active), "%q is printed: %s", active, printed)
				}
				command := regexp.MustCompile(`(?m)^\s*::[a-z]`)
				assert.Assert(t, !command.MatchString(printed), "a command to a CI system is printed: %s", printed)
			})
		}
	}
}

// forms returns the forms in which a part of a secret would be seen.
func forms(part string) (all []string) {
	all = []string{part, hex.EncodeToString([]byte(part))}
	for _, format := range []string{`u%04x`, `x%02x`, "%%%02x", "25%02x", "&#%d;", "&#x%x;"} {
		var b strings.Builder
		for _, c := range []byte(part) {
			b.WriteString(fmt.Sprintf(format, c))
			if strings.HasPrefix(format, "u") || strings.HasPrefix(format, "x") {
				break // a backslash, or several, follow
			}
		}
		if b.Len() > 6 {
			all = append(all, b.String())
		}
	}
	for before := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + part))
		all = append(all, encoded[(before*8+5)/6:(before+len(part))*8/6])
	}
	return all
}
