package mockserver

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		file := filepath.Join(dir, "p.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, name := range []string{"", "default"} {
		if got, err := Load(name); err != nil || !reflect.DeepEqual(got, Default()) {
			t.Errorf("Load(%q) = %+v, %v, want Default()", name, got, err)
		}
	}
	for _, name := range profiles.Names() {
		c, err := Load(name)
		if err != nil || c.Engine == nil {
			t.Errorf("Load(%q) = %+v, %v, want an engine", name, c, err)
			continue
		}
		text, err := os.ReadFile(filepath.Join("internal", "profiles", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Load(write(string(text))); err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("Load(%s.json): %+v, %v, want %+v", name, again, err, c)
		}
	}
	full := `{"model":"m","ttft":"1s","per_prompt_token":"10us","per_token":"2ms","slots":3,"output_tokens":4,"jitter":0.5,
		"aws":{"access_key_id":"a","secret_access_key":"b","session_token":"c","region":"d"},
		"seed":18446744073709551615,"speed":2,
		"shape":{"tokens_per_chunk":2,"crlf":true,"ping":true,"no_space":true,"role_first":true,"usage":"last"},
		"faults":[{"kind":"reset","every":10,"at":3},{"kind":"http-500","every":7}]}`
	want := Config{
		Model: "m", TTFT: time.Second, PerPromptToken: 10 * time.Microsecond, PerToken: 2 * time.Millisecond, Slots: 3,
		OutputTokens: 4, Jitter: 0.5, Seed: math.MaxUint64, Speed: 2, AWS: &AWSKeys{"a", "b", "c", "d"},
		Shape:  shape.Shape{TokensPerChunk: 2, CRLF: true, Ping: true, NoSpace: true, RoleFirst: true, Usage: shape.UsageLast},
		Faults: []fault.Fault{{Kind: fault.Reset, Every: 10, At: 3}, {Kind: fault.HTTP500, Every: 7, At: 0}},
	}
	if got, err := Load(write(full)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Load(file) = %+v, %v, want %+v", got, err, want)
	}
	if got, err := Load(write(`{}`)); err != nil || !reflect.DeepEqual(got, Config{}) {
		t.Errorf("Load({}) = %+v, %v, want the zero Config", got, err)
	}
	for _, tt := range []struct{ text, want string }{
		{`{`, "unexpected end of JSON input"},
		{`{} {}`, "after top-level value"},
		{`{"ttfs":"1s"}`, `unknown field "ttfs"`},
		{`{"shape":{"lf":true}}`, `unknown field "lf"`},
		{`{"faults":[{"how":"reset"}]}`, `unknown field "how"`},
		{`{"engine":{"max_batch":8,"step_ms":20}}`, `unknown field "step_ms"`},
		{`{"engine":{"max_batch":0}}`, "engine.max_batch: 0: want 1 to"},
		{`{"points":[],"engine":{"max_batch":0}}`, "engine.max_batch: 0: want 1 to"},
		{`{"points":[],"speed":1}`, `unknown field "speed"`},
		{`{"ttft":"soon"}`, `duration "soon": want a string with a unit`},
		{`{"ttft":20}`, `duration 20: want a string with a unit`},
		{`{"ttft":"-1s"}`, "ttft: -1s: want 0s or more"},
	} {
		file := write(tt.text)
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), file) {
			t.Errorf("Load(%s): %v, want the file's name and %q", tt.text, err, tt.want)
		}
	}
	for name, want := range map[string]string{
		"h100":         `, vllm-qwen2-7b-t4, `,
		"../h100":      `profile "../h100": not known: want `,
		"missing.json": "missing.json: no such file",
	} {
		if _, err := Load(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%q): %v, want %q", name, err, want)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, ""},
		{Default(), ""},
		{Config{TTFT: -1}, "ttft: -1ns: want 0s or more"},
		{Config{PerPromptToken: -1}, "per_prompt_token: -1ns: want 0s or more"},
		{Config{PerToken: -1}, "per_token: -1ns: want 0s or more"},
		{Config{Slots: -1}, "slots: -1: want 0 (no limit) or more"},
		{Config{OutputTokens: -1}, "output_tokens: -1: want 0 (run to max_tokens) or more"},
		{Config{Jitter: 1.1}, "jitter: 1.1: want 0 to 1"},
		{Config{Jitter: math.NaN()}, "jitter: NaN: want 0 to 1"},
		{Config{Engine: &engine.Profile{MaxBatch: 1}, FullStatus: 429}, ""},
		{Config{Engine: &engine.Profile{}}, "engine.max_batch: 0: want 1 to 1073741824"},
		{Config{Engine: &engine.Profile{MaxBatch: 1, Step: -2}}, "engine.step_us: -2: want 0 to 1e+12 microseconds"},
		{Config{Engine: &engine.Profile{MaxBatch: 1}, Slots: 3}, "slots: set together with engine, which has its own times and limits: want only one of the two"},
		{Config{Engine: &engine.Profile{MaxBatch: 1}, FullStatus: 200}, "full_status: 200: want 429, 503 or 0 for 503"},
		{Config{FullStatus: 429}, "full_status: 429 without an engine: want 0: the queue has no limit"},
		{Config{Speed: -1}, "speed: -1: want a factor above 0, or 0 for 1"},
		{Config{Speed: math.NaN()}, "speed: NaN: want a factor above 0, or 0 for 1"},
		{Config{Speed: math.Inf(1)}, "speed: +Inf: want a factor above 0, or 0 for 1"},
		{Config{Shape: shape.Shape{TokensPerChunk: -1}}, "shape.tokens_per_chunk: -1: want 0 (one) or more"},
		{Config{Shape: shape.Shape{Usage: "always"}}, `shape.usage: "always": want asked, last, never, null or each`},
		{Config{Faults: []fault.Fault{{Kind: fault.Reset, Every: 1, At: 0}, {Kind: "flood", Every: 1, At: 0}}}, `faults[1].kind: "flood": want one of http-400, http-401, `},
		{Config{Faults: []fault.Fault{{Kind: fault.Reset, Every: 0, At: 0}}}, "faults[0].every: 0: want 1 or more; or set share instead"},
		{Config{Faults: []fault.Fault{{Kind: fault.Reset, Every: 1, At: -1}}}, "faults[0].at: -1: want 0 or more"},
	} {
		got := ""
		if err := tt.cfg.Validate(); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, tt.want) || got != "" && tt.want == "" {
			t.Errorf("%+v.Validate() = %q, want %q", tt.cfg, got, tt.want)
		}
		if _, err := New(tt.cfg); (err == nil) != (tt.want == "") {
			t.Errorf("New(%+v): %v, want the error of Validate", tt.cfg, err)
		}
	}
}

// UnmarshalJSON changes only the fields in the JSON, and no data that another configuration
// shares.
func TestUnmarshalOver(t *testing.T) {
	base := Default()
	base.Faults = []fault.Fault{{Kind: fault.Reset, Every: 1, At: 0}}
	c := base
	if err := json.Unmarshal([]byte(`{"slots":5,"faults":[{"kind":"stall","every":2}]}`), &c); err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Slots, want.Faults = 5, []fault.Fault{{Kind: fault.Stall, Every: 2, At: 0}}
	if !reflect.DeepEqual(c, want) || base.Faults[0].Kind != fault.Reset {
		t.Errorf("got %+v and left %+v, want %+v and the old faults", c, base.Faults, want)
	}
	batching := Config{Engine: &engine.Profile{MaxBatch: 1, Step: 5}}
	c = batching
	if err := json.Unmarshal([]byte(`{"engine":{"max_batch":2}}`), &c); err != nil {
		t.Fatal(err)
	}
	if want := (engine.Profile{MaxBatch: 2, Step: 5}); !reflect.DeepEqual(*c.Engine, want) || batching.Engine.MaxBatch != 1 {
		t.Errorf("got %+v and left %+v, want %+v and the old one", *c.Engine, *batching.Engine, want)
	}
}

func FuzzConfig(f *testing.F) {
	for _, s := range []string{
		`{}`, `null`, `{"ttft":"20ms","per_token":"1h2m3.5s","slots":32}`, `{"ttft":null,"faults":[],"shape":{}}`,
		`{"faults":[{"kind":"reset","every":10,"at":3}],"shape":{"usage":"never","tokens_per_chunk":3}}`,
		`{"engine":{"max_batch":3,"step_us":1.5,"output":[[0,1],[1,9]]},"full_status":429}`,
		`{"speed":1e308,"jitter":1,"seed":18446744073709551615,"ttft":"2540400h"}`, `{"speed":5e-324}`, `{"x":1}`, `[`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c Config
		if json.Unmarshal(data, &c) != nil {
			return
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatalf("Marshal(%+v): %v", c, err)
		}
		var again Config
		if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%s = %+v, %v, want %+v", text, again, err, c)
		}
		if c.Validate() != nil {
			return
		}
		mustNew(t, c)
	})
}

func TestDescribe(t *testing.T) {
	for _, tt := range []struct {
		c    Config
		want string
	}{
		{Config{}, "TTFT 0s, TPOT 0s"},
		{Default(), "TTFT 20ms + 10µs for each token of the prompt, TPOT 1.5ms, 32 requests at once"},
		{Config{TTFT: 20 * time.Millisecond, PerToken: 2 * time.Millisecond, Jitter: 0.5, Speed: 10}, "TTFT 2ms, TPOT 200µs, each time 50 % more or less"},
		{Config{Engine: &engine.Profile{Step: 1500, StepPerSeq: 100, Prefill: 5000, PrefillPerToken: 50, MaxBatch: 8}}, "TTFT 5ms + 50µs for each token of the prompt, TPOT 1.6ms of a lone request, 8 requests at once"},
		{Speculative(), "TTFT 10ms + 10µs for each token of the prompt, TPOT 10.1ms for each step of a lone request, 64 requests at once"},
	} {
		if got := tt.c.Describe(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.c, got, tt.want)
		}
	}
}
