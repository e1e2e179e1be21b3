package gate

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestSource checks that reports name a figure as the tool that wrote it does.
func TestSource(t *testing.T) {
	r, err := Compare(File{}, File{Name: "old", Data: strings.NewReader("Unit p50-ttft-ns better=lower gate=5%\n" + runs(6, "BenchmarkA/rate=2 1 31200000 p50-ttft-ns"))},
		File{Name: "new", Data: strings.NewReader(runs(6, "BenchmarkA/rate=2 1 62400000 p50-ttft-ns"))}, Options{})
	assert.NilError(t, err)
	r.Rows[0].Source = &Source{Tool: "vLLM", Key: "median_ttft_ms", Unit: "ms", Factor: 1e6}
	r.Notes = []string{"old: a note"}
	for _, render := range []func(*strings.Builder) error{func(b *strings.Builder) error { return r.Text(b) }, func(b *strings.Builder) error { return r.Markdown(b) }} {
		var b strings.Builder
		assert.NilError(t, render(&b))
		text := strings.NewReplacer(`\_`, "_", "&gt;", ">").Replace(b.String())
		for _, want := range []string{
			"regression: rate=2 vLLM: median_ttft_ms 31.2 -> 62.4 ms, +100.00% (margin 5%)",
			"rate=2 vLLM: median_ttft_ms 31.2 -> 62.4 ms, +100.00%, may be 5% worse",
			"p50-ttft-ns (vLLM: median_ttft_ms), lower is better",
			"note: old: a note",
		} {
			assert.Assert(t, strings.Contains(text, want), "%s lacks %q", text, want)
		}
	}
	for v, want := range map[float64]string{0.12345: "0.1235", 999.4: "999.4", 2391: "2,391", 1234567.8: "1,234,568", -1000: "-1,000", 1e20: "1e+20"} {
		assert.Equal(t, grouped(v), want)
	}
}
