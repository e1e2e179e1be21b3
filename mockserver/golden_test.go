package mockserver

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

// TestWire compares bodies with golden files. The bodies are reproducible because of the bubble's
// fake clock, which starts at the beginning of the year 2000.
func TestWire(t *testing.T) {
	const (
		chat  = `{"messages":[{"role":"user","content":"say three words"}],"max_tokens":3,"stream":true`
		text  = `{"prompt":"say three words","max_tokens":3,"stream":true`
		usage = `,"stream_options":{"include_usage":true}}`
		k     = 2 // the token at which faults occur
	)
	for _, tt := range []struct {
		name string
		cfg  Config
		path string
		body string
	}{
		{"chat", Config{}, chatPath, chat + `}`},
		{"chat-usage", Config{}, chatPath, chat + usage},
		{"chat-usage-last", Config{Shape: shape.Shape{Usage: shape.UsageLast}}, chatPath, chat + usage},
		{"chat-usage-last-unasked", Config{Shape: shape.Shape{Usage: shape.UsageLast}}, chatPath, chat + `}`},
		{"chat-usage-never", Config{Shape: shape.Shape{Usage: shape.UsageNever}}, chatPath, chat + usage},
		{"chat-two-per-chunk", Config{Shape: shape.Shape{TokensPerChunk: 2}}, chatPath, chat + `}`},
		{"chat-all-in-one-chunk", Config{Shape: shape.Shape{TokensPerChunk: 9}}, chatPath, chat + `}`},
		{"chat-crlf", Config{Shape: shape.Shape{CRLF: true}}, chatPath, chat + usage},
		{"chat-ping", Config{Shape: shape.Shape{Ping: true}}, chatPath, chat + `}`},
		{"chat-crlf-ping-nospace", Config{Shape: shape.Shape{CRLF: true, Ping: true, NoSpace: true}}, chatPath, chat + usage},
		{"chat-nospace", Config{Shape: shape.Shape{NoSpace: true}}, chatPath, chat + `}`},
		{"chat-role-first", Config{Shape: shape.Shape{RoleFirst: true}}, chatPath, chat + `}`},
		{"chat-stop", Config{}, chatPath, chat + `,"stop":["\" ","own"]}`},
		{"chat-stop-at-once", Config{}, chatPath, chat + `,"stop":" the"` + usage},
		{"chat-natural-end", Config{OutputTokens: 2}, chatPath, chat + usage},
		{"chat-model", Config{Model: `a "b"\c`}, chatPath, chat + `}`},
		{"chat-whole", Config{}, chatPath, `{"messages":[{"content":"hi"}],"max_tokens":3}`},
		{"chat-whole-stop", Config{}, chatPath, `{"messages":[{"content":"hi"}],"stop":"brown"}`},
		{"text", Config{}, textPath, text + `}`},
		{"text-usage", Config{}, textPath, text + usage},
		{"text-usage-last", Config{Shape: shape.Shape{Usage: shape.UsageLast}}, textPath, text + usage},
		{"text-role-first", Config{Shape: shape.Shape{RoleFirst: true}}, textPath, text + `}`},
		{"text-whole", Config{}, textPath, `{"prompt":"hi","max_tokens":3}`},
		{"fault-truncate", Config{Faults: []fault.Fault{{Kind: fault.Truncate, Every: 1, At: k}}}, chatPath, chat + usage},
		{"fault-truncate-at-0", Config{Faults: []fault.Fault{{Kind: fault.Truncate, Every: 1, At: 0}}}, chatPath, chat + usage},
		{"fault-error-event", Config{Faults: []fault.Fault{{Kind: fault.ErrorEvent, Every: 1, At: k}}}, chatPath, chat + usage},
		{"fault-empty", Config{Faults: []fault.Fault{{Kind: fault.Empty, Every: 1, At: k}}, Shape: shape.Shape{RoleFirst: true}}, chatPath, chat + usage},
		{"fault-no-done", Config{Faults: []fault.Fault{{Kind: fault.NoDone, Every: 1, At: k}}}, chatPath, chat + usage},
		{"fault-malformed", Config{Faults: []fault.Fault{{Kind: fault.Malformed, Every: 1, At: 1}}}, chatPath, chat + usage},
		{"fault-malformed-in-chunk", Config{Faults: []fault.Fault{{Kind: fault.Malformed, Every: 1, At: 1}}, Shape: shape.Shape{TokensPerChunk: 2}}, chatPath, chat + usage},
		{"fault-beyond-the-output", Config{Faults: []fault.Fault{{Kind: fault.Truncate, Every: 1, At: 99}}, Shape: shape.Shape{TokensPerChunk: 9}}, chatPath, chat + usage},
		{"fault-whole-truncate", Config{Faults: []fault.Fault{{Kind: fault.Truncate, Every: 1, At: k}}}, textPath, `{"prompt":"hi","max_tokens":3}`},
		{"fault-whole-error-event", Config{Faults: []fault.Fault{{Kind: fault.ErrorEvent, Every: 1, At: k}}}, textPath, `{"prompt":"hi","max_tokens":3}`},
		{"fault-whole-empty", Config{Faults: []fault.Fault{{Kind: fault.Empty, Every: 1, At: k}}}, textPath, `{"prompt":"hi","max_tokens":3}`},
		{"fault-whole-no-done", Config{Faults: []fault.Fault{{Kind: fault.NoDone, Every: 1, At: k}}}, textPath, `{"prompt":"hi","max_tokens":3}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.cfg.TTFT, tt.cfg.PerToken = time.Second, time.Second
				got := inMemory(t, tt.cfg).must(tt.path, tt.body)
				golden(t, tt.name+".txt", got)
			})
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("body is not that of %s (-update writes it):\n got %q\nwant %q", file, got, want)
	}
}
