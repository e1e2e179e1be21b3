package env

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// load holds the variables that the tests read.
type load struct {
	requests int
	rate     []float64
	timeout  time.Duration
	key      Secret
}

func readLoad(r *Reader) load {
	l := load{requests: 16, timeout: time.Minute}
	Read(r, &l.requests, "LLMBENCH_REQUESTS", AtLeast(1), "a whole number, at least 1")
	Read(r, &l.rate, "LLMBENCH_RATE", List(Positive), "rates above 0")
	Read(r, &l.timeout, "LLMBENCH_TIMEOUT", Duration, "a duration like 10m, above 0")
	ReadHidden(r, &l.key, "LLMBENCH_API_KEY", func(v string) (Secret, error) {
		if v == "short" {
			return Secret{}, fmt.Errorf("too short")
		}
		return NewSecret(v), nil
	}, "a long key")
	r.Exclusive("LLMBENCH_REQUESTS", "LLMBENCH_RATE")
	r.Requires("LLMBENCH_TIMEOUT", "LLMBENCH_REQUESTS")
	return l
}

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name    string
		environ []string
		want    load
		err     string
	}{
		{"nothing is set", []string{"HOME=/", "LLMBENCH_REQUESTS=", "XLLMBENCH_A=1"}, load{requests: 16, timeout: time.Minute}, ""},
		{"values", []string{"LLMBENCH_RATE=0.5,2", "LLMBENCH_API_KEY=a=b"}, load{requests: 16, rate: []float64{0.5, 2}, timeout: time.Minute, key: NewSecret("a=b")}, ""},
		{"the last value counts", []string{"LLMBENCH_REQUESTS=1", "LLMBENCH_REQUESTS=2"}, load{requests: 2, timeout: time.Minute}, ""},
		{"wrong values leave the default", []string{"LLMBENCH_TIMEOUT=x", "LLMBENCH_REQUESTS=0"}, load{requests: 16, timeout: time.Minute},
			"LLMBENCH_REQUESTS=0: want a whole number, at least 1\nLLMBENCH_TIMEOUT=x: want a duration like 10m, above 0"},
		{"a secret", []string{"LLMBENCH_API_KEY=short"}, load{requests: 16, timeout: time.Minute}, "LLMBENCH_API_KEY=[not shown]: want a long key"},
		{"two that exclude each other", []string{"LLMBENCH_REQUESTS=1", "LLMBENCH_RATE=1"}, load{requests: 1, rate: []float64{1}, timeout: time.Minute},
			"LLMBENCH_REQUESTS and LLMBENCH_RATE: want at most one of them"},
		{"one without another", []string{"LLMBENCH_TIMEOUT=1s"}, load{requests: 16, timeout: time.Second}, "LLMBENCH_TIMEOUT: means nothing without LLMBENCH_REQUESTS"},
		{"an unknown name", []string{"LLMBENCH_REQUEST=1"}, load{requests: 16, timeout: time.Minute}, "LLMBENCH_REQUEST: no such variable; the nearest is LLMBENCH_REQUESTS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(tt.environ)
			assert.DeepEqual(t, fmt.Sprintf("%+v", readLoad(r)), fmt.Sprintf("%+v", tt.want))
			if tt.err == "" {
				assert.NilError(t, r.Err())
				return
			}
			assert.Error(t, r.Err(), tt.err)
		})
	}
}

// TestErrOnce checks that an invalid value is reported only once if two packages read the same variable.
func TestErrOnce(t *testing.T) {
	r := NewReader([]string{"LLMBENCH_REQUESTS=0"})
	readLoad(r)
	readLoad(r)
	assert.Error(t, r.Err(), "LLMBENCH_REQUESTS=0: want a whole number, at least 1")
}

func TestReadUnknownName(t *testing.T) {
	defer func() { assert.Equal(t, recover(), "env: LLMBENCH_NOSUCH is not in the list of names") }()
	var s string
	Read(NewReader(nil), &s, "LLMBENCH_NOSUCH", Text, "a text")
}

func TestCheck(t *testing.T) {
	defer func(before []func(*Reader)) { registered = before }(registered)
	Register(func(r *Reader) { readLoad(r) })
	Register(func(r *Reader) {
		var seed uint64
		Read(r, &seed, "LLMBENCH_SEED", Uint64, "a whole number, at least 0")
	})
	assert.NilError(t, Check([]string{"LLMBENCH_SEED=7", "LLMBENCH_MODEL=m"}))
	assert.Error(t, Check([]string{"LLMBENCH_SEED=-7", "LLMBENCH_REQUESTS=x"}),
		"LLMBENCH_REQUESTS=x: want a whole number, at least 1\nLLMBENCH_SEED=-7: want a whole number, at least 0")
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"LLMBENCH_CONCURENCY":   "LLMBENCH_CONCURRENCY",
		"LLMBENCH_concurrency":  "LLMBENCH_CONCURRENCY",
		"LLMBENCH_MODELS":       "LLMBENCH_MODEL",
		"LLMBENCH_IDLETIMEOUT":  "LLMBENCH_IDLE_TIMEOUT",
		"LLMBENCH_MOK":          "LLMBENCH_MOCK",
		"LLMBENCH_TOKENISER":    "LLMBENCH_TOKENIZER",
		"LLMBENCH_API_KEYS":     "LLMBENCH_API_KEY",
		"LLMBENCH_CLIENT_BOUNT": "LLMBENCH_CLIENT_BOUND",
	} {
		assert.Equal(t, Nearest(name, Names()), want, "%s", name)
	}
}

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ac", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 2},
	} {
		assert.Equal(t, edits(tt.a, tt.b), tt.want, "edits(%q, %q)", tt.a, tt.b)
		assert.Equal(t, edits(tt.b, tt.a), tt.want, "edits(%q, %q)", tt.b, tt.a)
	}
}

func TestSecret(t *testing.T) {
	s := NewSecret("planted")
	assert.Equal(t, s.Reveal(), "planted")
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		for _, v := range []any{s, &s, []Secret{s}, struct{ Key Secret }{s}} {
			text := fmt.Sprintf(format, v)
			assert.Assert(t, !slices.Contains([]string{"planted", `"planted"`, "706c616e746564"}, text), "%s: %s", format, text)
		}
	}
	assert.Equal(t, Secret{}.String(), "")
}
