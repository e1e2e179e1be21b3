package gate

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestBrief checks which rows a brief report has, in which order and under which names, and that the whole report begins
// like it.
func TestBrief(t *testing.T) {
	const units = "Unit p50-ttft-ns better=lower gate=5%\nUnit output-tok/s better=higher gate=5%\nUnit own/op better=lower gate=5%\n"
	side := func(worse float64) (all string) {
		for i := range 8 {
			x := 1 + 0.001*float64(i)
			var lines []string
			for _, users := range []int{1, 2, 4, 8, 16} {
				at32 := 1 + worse*float64(users)/16
				lines = append(lines, fmt.Sprintf("BenchmarkServe/backend=a/concurrency=%d-2 1 %.0f p50-ttft-ns %.3f output-tok/s", users, 1e7*x*at32, 100*x/at32))
			}
			noise := []float64{1, 2000, 3, 4000, 5, 6000, 7, 8000}[i]
			lines = append(lines, fmt.Sprintf("BenchmarkServe/backend=a/rate=0.5-2 1 %.0f p50-ttft-ns %.3f own/op %.0f cpu", 1e7*x, 100*x, noise))
			all += run(lines...)
		}
		return all
	}
	r := judge(t, units, side(0), side(0.4), Options{})
	var brief, text strings.Builder
	assert.NilError(t, r.Brief(&brief))
	assert.NilError(t, r.Text(&text))
	var names []string
	for line := range strings.Lines(brief.String()) {
		if name, _, ok := strings.Cut(line, "  "); ok && (strings.Contains(line, " worse  ")) {
			names = append(names, name)
		}
	}
	assert.DeepEqual(t, names, []string{
		"TTFT p50, 16 users", "output (tok/s), 16 users", "TTFT p50, 8 users", "output (tok/s), 8 users", "TTFT p50, 4 users", "output (tok/s), 4 users",
		"TTFT p50, 2 users", "output (tok/s), 2 users", "TTFT p50, 1 user", "output (tok/s), 1 user"})
	start, _, found := strings.Cut(brief.String(), "-v also prints 2 more gated rows, with p-values")
	assert.Assert(t, found && strings.HasPrefix(text.String(), start), "%s", &brief)
	assert.Assert(t, strings.Contains(text.String(), "1 row left out: no difference, and a median that is not known to within 100 %"), "%s", &text)
}
