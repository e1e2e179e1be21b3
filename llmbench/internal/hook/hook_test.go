package hook

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// TestRead checks what values are commands, requests and errors, and what results say of them.
func TestRead(t *testing.T) {
	for value, want := range map[string]string{
		"":                                    "",
		"/usr/bin/perf record -p 12":          "perf",
		"sh -c 'curl -d \"a b\"'":             "sh",
		"POST /start_profile":                 "POST /start_profile",
		`POST /v1/reset?key=secret '{"a":1}'`: "POST /v1/reset",
		"POSTER /x":                           "POSTER",
		"POST /x?a=1&b=2":                     "POST /x",
	} {
		r := env.NewReader([]string{"LLMBENCH_AFTER_PASS=" + value})
		p := ReadFrom(r)
		assert.NilError(t, r.Err())
		assert.Equal(t, p.Settings()["after-pass"], want)
		assert.Equal(t, p.After.IsSet(), value != "")
		assert.Assert(t, !p.Before.IsSet())
	}
	for value, want := range map[string]string{
		"sh -c 'x":      string(errWant),
		" ":             string(errWant),
		"'' x":          string(errWant),
		"POST":          string(errRequest),
		"POST x":        string(errRequest),
		"POST /x {} {}": string(errRequest),
		"x && y":        "LLMBENCH_AFTER_PASS=x && y: && outside of quotation marks, and no shell reads the command: want sh -c '…'",
	} {
		r := env.NewReader([]string{"LLMBENCH_AFTER_PASS=" + value})
		ReadFrom(r)
		assert.ErrorContains(t, r.Err(), want)
	}
}

// TestTail checks that the end of an output is kept.
func TestTail(t *testing.T) {
	var out tail
	for range 10 * mostOutput {
		n, err := out.Write([]byte("ab"))
		assert.NilError(t, err)
		assert.Equal(t, n, 2)
	}
	out.Write([]byte("end\n"))
	text := out.text()
	assert.Assert(t, len(text) < mostOutput && len(text) > mostOutput-8 && text[len(text)-5:] == "abend", len(text))
}
