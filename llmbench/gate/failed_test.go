package gate

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// Failed requests are compared by their share of all requests.
func TestFailedRequests(t *testing.T) {
	side := func(shares ...int) string {
		var b strings.Builder
		for _, s := range shares {
			b.WriteString(run(fmt.Sprintf("BenchmarkChat-2 1 100 tok/s %d fail-%%", s)))
		}
		return b.String()
	}
	const units = "Unit tok/s better=higher gate=2%\nUnit fail-% better=lower same=5\n"
	none := side(0, 0, 0, 0, 0, 0, 0, 0)
	for _, c := range []struct {
		new  string
		want string
	}{
		{side(40, 40, 40, 40, 40, 40, 40, 40), "the mean of fail-% is 40, but 0 in old: want results that differ by at most same=5"},
		{side(40, 40, 40, 0, 0, 0, 0, 0), "the mean of fail-% is 15, but 0 in old: want results that differ by at most same=5"},
		{side(0, 0, 4, 0, 4, 0, 0, 0), ""},
	} {
		r := judge(t, units, none, c.new, Options{})
		assert.Equal(t, r.Verdict == Pass, c.want == "", "%q", r.reasons())
		assert.Assert(t, strings.Contains(strings.Join(r.reasons(), "\n"), c.want), "%q", r.reasons())
	}
}
