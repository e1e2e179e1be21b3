package process

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
)

func TestParseConfig(t *testing.T) {
	for _, tt := range []struct {
		environ []string
		want    Config
	}{
		{nil, Config{}},
		{[]string{"PATH=/bin", "LLMBENCH_OUT=", "LLMBENCH_UNITS=core", "LLMBENCH_PROGRESS=none", "LLMBENCH_CLIENT_BOUND=fail"}, Config{Progress: screen.None, ClientBound: "fail"}},
		{[]string{"LLMBENCH_OUT=out", "LLMBENCH_UNITS=all", "LLMBENCH_PROGRESS=tty", "LLMBENCH_CLIENT_BOUND=withhold"}, Config{Out: "out", AllUnits: true, Progress: screen.TTY, ClientBound: "withhold"}},
		{[]string{"LLMBENCH_CLIENT_BOUND=report"}, Config{ClientBound: "report"}},
		{[]string{"LLMBENCH_PRICE=2.49/h", "LLMBENCH_REPORT=a.html"}, Config{Price: 2.49, Report: "a.html"}},
	} {
		r := env.NewReader(tt.environ)
		got := parseConfig(r)
		assert.NilError(t, r.Err(), "%q", tt.environ)
		assert.Equal(t, got, tt.want, "%q", tt.environ)
	}
}

func TestParseConfigErrors(t *testing.T) {
	for entry, want := range map[string]string{
		"LLMBENCH_OUT= ":                                   "LLMBENCH_OUT= : want a folder",
		"LLMBENCH_UNITS=some":                              "LLMBENCH_UNITS=some: want core or all",
		"LLMBENCH_PROGRESS=stderr":                         "LLMBENCH_PROGRESS=stderr: want auto, tty or none",
		"LLMBENCH_CLIENT_BOUND=maybe":                      "LLMBENCH_CLIENT_BOUND=maybe: want fail, withhold or report",
		"LLMBENCH_PRICE=2.49":                              "LLMBENCH_PRICE=2.49: want a price of an hour of the server, such as 2.49/h",
		"LLMBENCH_BEFORE_PASS=POST x":                      `LLMBENCH_BEFORE_PASS=POST x: want a path of the server behind the method, and at most a body behind it, as in POST /path '{"a":1}'`,
		"LLMBENCH_AFTER_PASS=no-such-program-anywhere":     `LLMBENCH_AFTER_PASS: exec: "no-such-program-anywhere": executable file not found in $PATH`,
		"LLMBENCH_AFTER_PASS=/no/such/program {benchmark}": "LLMBENCH_AFTER_PASS: exec: \"/no/such/program\": stat /no/such/program: no such file or directory",
		"LLMBENCH_UNIT=all":                                "LLMBENCH_UNIT: no such variable; the nearest is LLMBENCH_UNITS",
	} {
		assert.Error(t, env.Check([]string{entry}), want)
	}
}
