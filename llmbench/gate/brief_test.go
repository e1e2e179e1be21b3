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
		"time to first token, p50, at 16 users", "output tokens per second at 16 users", "time to first token, p50, at 8 users", "output tokens per second at 8 users", "time to first token, p50, at 4 users", "output tokens per second at 4 users",
		"time to first token, p50, at 2 users", "output tokens per second at 2 users", "time to first token, p50, at 1 user", "output tokens per second at 1 user"})
	start, _, found := strings.Cut(brief.String(), "-v also prints 2 more gated rows, with p-values")
	assert.Assert(t, found && strings.HasPrefix(text.String(), start), "%s", &brief)
	assert.Assert(t, strings.Contains(text.String(), "1 row left out: no difference, and a median that is not known to within 100 %"), "%s", &text)
}

// TestBriefNames checks the names of rows from several packages, and of rows with other values of GOMAXPROCS or with a
// model whose name ends like GOMAXPROCS.
func TestBriefNames(t *testing.T) {
	of := func(pkg, name string) string {
		return runs(6, "pkg: "+pkg, "Benchmark"+name+" 1 100 req/s")
	}
	for _, c := range []struct {
		names [2]string
		want  []string
	}{
		{[2]string{"example.com/a/x Serve/concurrency=8-2", "example.org/b-2/x Serve/concurrency=8-2"}, []string{"requests per second, example.com/a/x.Serve", "requests per second, example.org/b-2/x.Serve"}},
		{[2]string{"p Serve/concurrency=1-2", "p Serve/concurrency=8-4"}, []string{"requests per second, -2, at 1 user", "requests per second, -4, at 8 users"}},
		{[2]string{"p Serve/model=q-3", "p Serve/model=q-4"}, []string{"requests per second, -3", "requests per second, -4"}},
		{[2]string{"p A/rate=2", "p B/rate=2"}, []string{"requests per second, A", "requests per second, B"}},
	} {
		var text string
		for _, s := range c.names {
			pkg, name, _ := strings.Cut(s, " ")
			text += of(pkg, name)
		}
		r := judge(t, "Unit req/s better=higher gate=5%", text, text, Options{})
		var names []string
		for _, row := range r.decision(r.deciding()).rows {
			names = append(names, row[0])
		}
		assert.DeepEqual(t, names, c.want)
	}
}

// TestBriefOrder checks that rows of one side only come last, that a row with a budget is told once, and which rows
// without a margin a whole report leaves out.
func TestBriefOrder(t *testing.T) {
	const units = "Unit req/s better=higher gate=5%\nUnit x-ns better=lower max=100ns\n"
	side := func(x float64, fails int, more string) (text string) {
		for i := range 10 {
			failed := 0
			if i < fails {
				failed = 3
			}
			text += run(fmt.Sprintf("BenchmarkA 1 100 req/s %v x-ns %d fail-%% %d wild", x, failed, i*i*i), more)
		}
		return text
	}
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("BenchmarkB/concurrency=%d 1 100 req/s", i+1))
	}
	r := judge(t, units, side(90, 0, "BenchmarkC 1 100 req/s"), side(190, 2, strings.Join(many, "\n")), Options{AllowRemoved: true})
	var verdicts []string
	for _, row := range r.decision(r.deciding()).rows {
		verdicts = append(verdicts, row[len(row)-1])
	}
	assert.DeepEqual(t, verdicts[:4], []string{"REGRESSION", "no worse", "removed", "added"})
	assert.DeepEqual(t, r.remarks(r.deciding()), []string(nil))
	assert.Equal(t, r.rest(), "5 more gated rows and 2 rows without a margin")
	var text strings.Builder
	assert.NilError(t, r.Text(&text))
	assert.Assert(t, strings.Contains(text.String(), "\nfail-%, not gated\n"), "%s", &text)
	assert.Assert(t, strings.Contains(text.String(), "1 row left out: no difference"), "%s", &text)

	r = judge(t, units, run("BenchmarkA 1 100 req/s", "BenchmarkC 1 100 req/s"), run("BenchmarkA 1 100 req/s"), Options{})
	assert.Equal(t, r.deciding()[0].Verdict, Removed) // it is why the files cannot be judged
}
