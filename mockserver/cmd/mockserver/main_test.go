package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

func TestRunServesUntilCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr, w := io.Pipe()
	status := make(chan int)
	go func() {
		status <- run(ctx, []string{"-addr=127.0.0.1:0", "-ttft=0", "-per-token=0", "-per-prompt-token=0"}, io.Discard, w)
	}()
	line := make([]byte, 200)
	n, err := stderr.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`^mockserver: serving (http://127\.0\.0\.1:\d+)\n$`).FindSubmatch(line[:n])
	if m == nil {
		t.Fatalf("stderr = %q, want one line with the URL", line[:n])
	}
	resp, err := http.Post(string(m[1])+"/v1/completions", "application/json",
		strings.NewReader(`{"prompt":"a b","max_tokens":2}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !strings.Contains(string(body), `"text":" the quick"`) {
		t.Errorf("POST /v1/completions = %s, %v, want the text \" the quick\"", body, err)
	}
	cancel()
	if got := <-status; got != 0 {
		t.Errorf("run() after the signal = %d, want 0", got)
	}
	if _, err := http.Get(string(m[1]) + "/health"); err == nil {
		t.Error("the server still answers after run has returned")
	}
}

func TestRunBadUsage(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte(`{"slots":-1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   []string
		status int
		stderr string
	}{
		{[]string{"-bogus"}, 2, "flag provided but not defined: -bogus"},
		{[]string{"-ttft=fast"}, 2, `invalid value "fast" for flag -ttft`},
		{[]string{"extra"}, 2, `argument "extra": want flags only`},
		{[]string{"-profile=h100"}, 2, `profile "h100": not known: want llamacpp-`},
		{[]string{"-profile=" + bad}, 2, "slots: -1: want 0 (no limit) or more"},
		{[]string{"-jitter=2"}, 2, "jitter: 2: want 0 to 1"},
		{[]string{"-fault=flood"}, 2, `kind: "flood": want one of http-400, `},
		{[]string{"-fault=reset,every=0"}, 2, "every: 0: want 1 or more"},
		{[]string{"-fault=reset,often"}, 2, `"often": want every, share, seed, above, at or size`},
		{[]string{"-shape=lf,round"}, 2, `shape "round": not known: want one of lf, `},
		{[]string{"-shape=tokens-per-chunk"}, 2, `want tokens-per-chunk=N`},
		{[]string{"-flavor=plain"}, 2, `flavor: "plain": want tgi, sglang, lmdeploy, vllm or mindie`},
		{[]string{"-addr=nowhere"}, 1, "nowhere"},
		{[]string{"-addr=nowhere", "-replicas=2"}, 1, "nowhere"},
		{[]string{"-addr=127.0.0.1:65535", "-replicas=2"}, 1, "address 127.0.0.1:65535 for 2 replicas: want a port from 1 to 65534, or 0"},
		{[]string{"-replicas=0"}, 2, "-replicas=0: want 1 to 1000"},
		{[]string{"-replica=1"}, 2, `invalid value "1" for flag -replica: want a number and a flag`},
		{[]string{"-replica=1:addr=x"}, 2, `want a number and a flag other than addr`},
		{[]string{"-replica=2:speed=2"}, 2, "-replica=2:speed=2: want a replica from 1 to -replicas, which is 1"},
		{[]string{"-replica=1:speed=fast"}, 2, `-replica=1:speed=fast: `},
		{[]string{"-replica=1:haste=2"}, 2, `-replica=1:haste=2: no such flag`},
		{[]string{"-replica=1:jitter=2"}, 2, `replica 1: mockserver: jitter: 2: want 0 to 1`},
		{[]string{"-lora=a,a"}, 2, `lora[1]: "a": want different names`},
		{[]string{"-max-lora=2"}, 2, `max_lora: 2 with 0 adapters`},
		{[]string{"-retry-after=-1s"}, 2, `retry_after: -1s: want 0s or more`},
	} {
		var stdout, stderr bytes.Buffer
		if got := run(t.Context(), tt.args, &stdout, &stderr); got != tt.status {
			t.Errorf("run(%q) = %d, want %d", tt.args, got, tt.status)
		}
		if !strings.Contains(stderr.String(), tt.stderr) {
			t.Errorf("run(%q) stderr = %q, want it with %q", tt.args, &stderr, tt.stderr)
		}
		if stdout.Len() > 0 {
			t.Errorf("run(%q) stdout = %q, want nothing", tt.args, &stdout)
		}
	}
}

// TestFlagsReplaceProfile checks that a flag replaces the profile's value, and that other values stay.
func TestFlagsReplaceProfile(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile.json")
	if err := os.WriteFile(profile, []byte(`{"slots":4,"seed":5,"per_token":"7ns","shape":{"ping":true},"faults":[{"kind":"reset","every":1}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	reset, stall, empty := fault.Fault{Kind: fault.Reset, Every: 1}, fault.Fault{Kind: fault.Stall, Every: 1}, fault.Fault{Kind: fault.Empty, Every: 1}
	for _, tt := range []struct {
		args []string
		want mockserver.Config
	}{
		{nil, mockserver.Config{Slots: 4, Seed: 5, PerToken: 7, Shape: shape.Shape{Ping: true}, Faults: []fault.Fault{reset}}},
		{[]string{"-slots=0", "-seed=6", "-per-token=1s"}, mockserver.Config{Seed: 6, PerToken: time.Second, Shape: shape.Shape{Ping: true}, Faults: []fault.Fault{reset}}},
		{[]string{"-shape=cr", "-shape=bom", "-fault=stall", "-fault=empty"}, mockserver.Config{Slots: 4, Seed: 5, PerToken: 7, Shape: shape.Shape{CR: true, BOM: true}, Faults: []fault.Fault{stall, empty}}},
	} {
		o, err := parse(append(tt.args, "-profile="+profile), io.Discard, io.Discard)
		if err != nil || !reflect.DeepEqual(o.config, tt.want) {
			t.Errorf("parse(%q) = %+v, %v, want %+v", tt.args, o.config, err, tt.want)
		}
	}
}

// TestReplicas checks the configuration of each replica.
func TestReplicas(t *testing.T) {
	o, err := parse([]string{"-profile=default", "-replicas=3", "-lora=a,b", "-max-lora=1", "-retry-after=2s", "-fault=empty,every=9",
		"-replica=2:speed=0.5", "-replica=2:slots=4", "-replica=3:fault=die,every=5", "-replica", "3:lora=c"}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	one := mockserver.Default()
	one.LoRA, one.MaxLoRA, one.RetryAfter = []string{"a", "b"}, 1, 2*time.Second
	one.Faults = []fault.Fault{{Kind: fault.Empty, Every: 9}}
	two, three := one, one
	two.Speed, two.Slots = 0.5, 4
	three.LoRA, three.Faults = []string{"c"}, append(slices.Clone(one.Faults), fault.Fault{Kind: fault.Die, Every: 5})
	if want := []mockserver.Config{one, two, three}; !reflect.DeepEqual(o.replicas, want) {
		t.Errorf("parse() replicas = %+v, want %+v", o.replicas, want)
	}
}

// TestRunServesReplicas starts two replicas, of which the second refuses everything.
func TestRunServesReplicas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr, w := io.Pipe()
	status := make(chan int)
	go func() {
		status <- run(ctx, []string{"-addr=127.0.0.1:0", "-replicas=2", "-ttft=0", "-per-token=0", "-per-prompt-token=0", "-replica=2:fault=http-503", "-replica=2:retry-after=1s"}, io.Discard, w)
	}()
	lines := bufio.NewReader(stderr)
	for i, want := range []int{200, 503} {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		url := strings.TrimPrefix(strings.TrimSpace(line), "mockserver: serving ")
		resp, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"a b","max_tokens":2}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want || (resp.Header.Get("Retry-After") == "1") != (want == 503) {
			t.Errorf("replica %d: %s, Retry-After %q, want %d", i+1, resp.Status, resp.Header.Get("Retry-After"), want)
		}
	}
	cancel()
	if got := <-status; got != 0 {
		t.Errorf("run() after the signal = %d, want 0", got)
	}
}

func TestHelpAndDocNameEveryFlag(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if got := run(t.Context(), []string{"--help"}, &stdout, &stderr); got != 0 || stderr.Len() > 0 {
		t.Errorf("run(--help) = %d with stderr %q, want 0 and nothing", got, &stderr)
	}
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, _, _ := strings.Cut(string(source), "\npackage main")
	flags := regexp.MustCompile(`(?m)^  (-[a-z-]+)`).FindAllStringSubmatch(stdout.String(), -1)
	if len(flags) != 19 {
		t.Errorf("run(--help) lists %d flags, want 19:\n%s", len(flags), &stdout)
	}
	for _, f := range flags {
		if !strings.Contains(doc, "//\t"+f[1]+" ") {
			t.Errorf("the doc comment does not list %s", f[1])
		}
	}
	for _, names := range []iter.Seq2[string, string]{shape.Names(), fault.Names()} {
		for name := range names {
			if !strings.Contains(stdout.String(), "\n\t"+name+" ") {
				t.Errorf("run(--help) does not list %s", name)
			}
		}
	}
}

func TestFlagsOverrideProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.json")
	if err := os.WriteFile(file, []byte(`{"ttft":"1s","per_token":"9ms","slots":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"-profile", file, "-ttft=0", "-slots=7", "-speed=2", "-jitter=.5", "-seed=4",
		"-per-prompt-token=1us", "-flavor=tgi", "-shape=crlf,ping", "-shape=tokens-per-chunk=3",
		"-fault=reset,every=10,at=3", "-fault=stall,share=.5,seed=2"}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := mockserver.Config{PerPromptToken: time.Microsecond, PerToken: 9 * time.Millisecond, Slots: 7,
		Speed: 2, Jitter: .5, Seed: 4, Flavor: mockserver.FlavorTGI,
		Shape: shape.Shape{CRLF: true, Ping: true, TokensPerChunk: 3},
		Faults: []fault.Fault{
			{Kind: fault.Reset, Every: 10, At: 3}, {Kind: fault.Stall, Share: .5, Seed: 2},
		}}
	if !reflect.DeepEqual(o.config, want) {
		t.Errorf("parse() config = %+v, want %+v", o.config, want)
	}
}
