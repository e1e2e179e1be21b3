package process

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestReasonOf checks which text of a failed benchmark's log is shown as the reason.
func TestReasonOf(t *testing.T) {
	long := strings.Repeat("é", maxReason)
	for _, c := range []struct{ name, log, want string }{
		{"a line", "    a_test.go:7: no server\n", "no server"},
		{"several lines", "    a_test.go:7: no server: want one\n        at :8000\n", "no server: want one"},
		{"progress before", "    a.go:6: port: done after 6ms\n    a.go:7: no server: want one\n        at :8000\n", "no server: want one"},
		{"a note behind", "    a.go:7: no server\n    run.go:1: llmbench notes (failures): 2 of 20 requests failed\n", "no server"},
		{"a note before", "    run.go:1: llmbench notes (failures): 2 of 20 requests failed\n        one\n    a.go:7: no server\n", "no server"},
		{"without a place", "    no server: it is gone\n", "no server: it is gone"},
		{"an empty text before", "    a.go:7: \n    a.go:8: no server\n", "no server"},
		{"a bound", "    a.go:7: " + long + "é\n", long + "…"},
		{"no more than the bound", "    a.go:7: " + long + "\n", long},
		{"nothing", "", ""},
		{"no log", "ok\n", ""},
	} {
		assert.Equal(t, reasonOf(c.log), c.want, c.name)
	}
}
