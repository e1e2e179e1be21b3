package llamatest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/child"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

func TestStart(t *testing.T) {
	checkServer(t, Start(t, Options{Parallel: 2, Context: 1024}))
}

func TestStartContainer(t *testing.T) {
	checkServer(t, Start(t, Options{Parallel: 2, Context: 1024, Container: true}))
}

// checkServer checks what tests of a client need from the server.
func checkServer(t *testing.T, url string) {
	t.Helper()
	if status, body := get(t, url+"/health"); status != http.StatusOK {
		t.Errorf("GET /health = %d %s, want 200", status, body)
	}
	var models struct {
		Data []struct{ ID string }
	}
	_, body := get(t, url+"/v1/models")
	if err := json.Unmarshal(body, &models); err != nil || len(models.Data) != 1 || models.Data[0].ID == "" {
		t.Errorf("GET /v1/models = %s, want one model with an id (%v)", body, err)
	}
	if tokens, done := chat(t, url); tokens != 24 || !done {
		t.Errorf("streamed chat of 24 tokens: completion_tokens = %d, [DONE] = %t; want 24, true", tokens, done)
	}
}

func get(t *testing.T, url string) (status int, body []byte) {
	t.Helper()
	return do(t, http.MethodGet, url, nil)
}

func do(t *testing.T, method, url string, in io.Reader) (status int, body []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, in)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, body
}

// chat streams one answer of 24 tokens. It returns the number of tokens that the usage reports, and
// whether [DONE] ended the stream.
func chat(t *testing.T, url string) (tokens int, done bool) {
	t.Helper()
	status, body := do(t, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(`{
		"messages": [{"role": "user", "content": "Say something."}],
		"stream": true, "stream_options": {"include_usage": true},
		"max_tokens": 24, "ignore_eos": true}`))
	if status != http.StatusOK {
		t.Fatalf("POST /v1/chat/completions = %d %s, want 200", status, body)
	}
	for line := range strings.Lines(string(body)) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		var event struct {
			Usage *struct {
				CompletionTokens int `json:"completion_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatalf("event %s: %v", data, err)
		}
		if event.Usage != nil {
			tokens = event.Usage.CompletionTokens
		}
	}
	return tokens, done
}

// run is like Run, and skips or fails t as Start does.
func run(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Run(t.Context(), o)
	need.Check(t, need.LlamaCPP, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// TestCloseWithOpenStream checks that Close ends a server that ignores SIGTERM because a stream is
// open.
func TestCloseWithOpenStream(t *testing.T) {
	for _, o := range []Options{{}, {Container: true}} {
		t.Run(fmt.Sprintf("container=%t", o.Container), func(t *testing.T) {
			s := run(t, o)
			res, err := http.Post(s.URL+"/completion", "application/json", strings.NewReader(`{"prompt": "a", "stream": true, "n_predict": -1, "ignore_eos": true}`))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if _, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close() = %v, want nil", err)
			}
			if err := dial(s.URL); err == nil {
				t.Errorf("%s accepts connections after Close", s.URL)
			}
			if err := s.Close(); err != nil {
				t.Errorf("second Close() = %v, want nil", err)
			}
		})
	}
}

func dial(base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return err
	}
	c, err := net.DialTimeout("tcp", u.Host, 10*time.Second)
	if err == nil {
		c.Close()
	}
	return err
}

// TestRunReportsLog checks that, if a server cannot start, the error has the last lines of the log.
func TestRunReportsLog(t *testing.T) {
	for _, o := range []Options{{}, {Container: true}} {
		t.Run(fmt.Sprintf("container=%t", o.Container), func(t *testing.T) {
			run(t, o) // skips t if the server cannot run
			o.Args = []string{"--no-such-argument"}
			s, err := Run(t.Context(), o)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "ended") || !strings.Contains(err.Error(), "invalid argument: --no-such-argument") {
				t.Errorf("Run with a wrong argument = %v, want an error with the server's own message", err)
			}
		})
	}
}

// TestServerDiesWithKilledProcess checks that the server ends when the process that runs it is
// killed. For that, the test runs itself in another process.
func TestServerDiesWithKilledProcess(t *testing.T) {
	const variable = "LLAMATEST_HELPER"
	if mode := os.Getenv(variable); mode != "" {
		s, err := Run(t.Context(), Options{Container: mode == "container"})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("URL", s.URL)
		select { // until this process is killed, or five minutes have passed
		case <-s.Done():
		case <-time.After(5 * time.Minute):
			s.Close()
		}
		return
	}
	for _, mode := range []string{"chroot", "container"} {
		t.Run(mode, func(t *testing.T) {
			run(t, Options{Container: mode == "container"}).Close() // skips t if the server cannot run
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestServerDiesWithKilledProcess$")
			cmd.Env = append(os.Environ(), variable+"="+mode)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var base string
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if u, ok := strings.CutPrefix(lines.Text(), "URL "); ok {
					base = u
					break
				}
			}
			if err := dial(base); err != nil {
				t.Errorf("dial %q before the kill: %v", base, err)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for dial(base) == nil {
				select {
				case <-ctx.Done():
					t.Fatalf("%s still accepts connections", base)
				case <-tick.C:
				}
			}
		})
	}
}

func TestNoWait(t *testing.T) {
	s := run(t, Options{NoWait: true})
	if err := s.process.WaitReady(t.Context(), child.Answers(http.DefaultClient, s.URL+"/health", http.StatusOK)); err != nil {
		t.Errorf("the server does not become ready: %v\n%s", err, s.Log())
	}
}

func TestModelEndsTurns(t *testing.T) {
	url := Start(t, Options{Model: tinygguf.Options{EndsTurns: true, EOSBias: 4}})
	_, body := do(t, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(
		`{"messages": [{"role": "user", "content": "Say something."}], "max_tokens": 2000, "seed": 1}`))
	if !strings.Contains(string(body), `"finish_reason":"stop"`) {
		t.Errorf("finish reason of a model that ends its turns: %s, want stop", body)
	}
}

func TestImage(t *testing.T) {
	name, model := Image(t), Model(t, tinygguf.Options{})
	id, err := docker(t.Context(), "create", name, "-m", "/models/"+filepath.Base(model))
	if err != nil {
		t.Fatal(err)
	}
	remove, err := removeAtEnd(id)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	if _, err := docker(t.Context(), "cp", model, id+":/models/"); err != nil {
		t.Errorf("the image %s has no folder /models: %v", name, err)
	}
}

// TestWithoutEngine runs the tests in containers where no Docker engine answers. A required llama.cpp must not
// require an engine, and a required engine must.
func TestWithoutEngine(t *testing.T) {
	for _, c := range []struct {
		require, want string
		status        int
	}{
		{"", "SKIP", 0},
		{"llamacpp", "SKIP", 0},
		{"llamacpp,nginx,ollama", "SKIP", 0},
		{"docker", "FAIL", 1},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v",
			"-test.run=^(TestStartContainer|TestCloseWithOpenStream|TestRunReportsLog|TestServerDiesWithKilledProcess|TestImage)$/^container(=true)?$")
		cmd.Env = append(os.Environ(), "DOCKER_HOST=unix:///no-such-engine.sock", "LLMBENCH_REQUIRE="+c.require)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != c.status {
			t.Errorf("LLMBENCH_REQUIRE=%s: exit status %d, want %d:\n%s", c.require, got, c.status, out)
		}
		for _, name := range []string{"TestStartContainer", "TestCloseWithOpenStream/container=true", "TestRunReportsLog/container=true", "TestServerDiesWithKilledProcess/container", "TestImage"} {
			if want := "--- " + c.want + ": " + name; !strings.Contains(string(out), want) {
				t.Errorf("LLMBENCH_REQUIRE=%s: want %q:\n%s", c.require, want, out)
			}
		}
	}
}
