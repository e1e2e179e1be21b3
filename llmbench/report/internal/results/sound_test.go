package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// run returns a sample of BenchmarkA as package testing prints it: its values, and what it logged.
func run(values string, logged ...string) (text string) {
	text = "BenchmarkA/concurrency=64-2 1 " + values + "\n"
	if len(logged) > 0 {
		text += "--- BENCH: BenchmarkA/concurrency=64-2\n"
	}
	for _, l := range logged {
		text += "    a.go:1: " + l + "\n"
	}
	return text
}

// TestSoundSamples checks that a value in doubt is left out if another sample has a sound one, and only then.
func TestSoundSamples(t *testing.T) {
	const warn = "llmbench warns (client: p99-itl-ns): the client may distort these figures by more than 5%: p99-itl-ns "
	const whole = "llmbench warns (of-tomorrow): all is lost"
	for _, c := range []struct {
		name, text string
		values     []float64 // of p99-itl-ns
		doubt      string    // of p99-itl-ns
		others     int       // values of output-tok/s
	}{
		{"none", run("1 output-tok/s 1 p99-itl-ns") + run("2 output-tok/s 2 p99-itl-ns"), []float64{1, 2}, "", 2},
		{"one of four is reported", run("1 output-tok/s 1 p99-itl-ns") + run("2 output-tok/s 9 p99-itl-ns", warn+"37%") + run("3 output-tok/s 3 p99-itl-ns") + run("4 output-tok/s 4 p99-itl-ns"),
			[]float64{1, 3, 4}, "", 4},
		{"one of three is withheld", run("1 output-tok/s", warn+"37%") + run("2 output-tok/s 2 p99-itl-ns") + run("3 output-tok/s 3 p99-itl-ns"), []float64{2, 3}, "", 3},
		{"a whole run", run("1 output-tok/s 1 p99-itl-ns", whole) + run("2 output-tok/s 2 p99-itl-ns"), []float64{2}, "", 1},
		{"all, by different amounts", run("1 output-tok/s 1 p99-itl-ns", warn+"37%") + run("2 output-tok/s 2 p99-itl-ns", warn+"9%"), []float64{1, 2},
			warn[strings.Index(warn, "the client"):] + "37%; the client may distort these figures by more than 5%: p99-itl-ns 9%", 2},
		{"all, in the same words", run("1 output-tok/s 1 p99-itl-ns", whole) + run("2 output-tok/s 2 p99-itl-ns", whole), []float64{1, 2}, "all is lost", 2},
		{"a run without a result", run("1 output-tok/s 1 p99-itl-ns") + "--- FAIL: BenchmarkA/concurrency=64-2\n    a.go:1: " + whole + "\n", []float64{1}, "", 1},
		{"before the first result", "--- BENCH: BenchmarkA/concurrency=64-2\n    a.go:1: " + whole + "\n" + run("1 output-tok/s 1 p99-itl-ns") + run("2 output-tok/s 2 p99-itl-ns"), []float64{1, 2}, "all is lost", 2},
		{"the error of the client", run("1 output-tok/s 1 p99-itl-ns 2 client-err-%") + run("2 output-tok/s 2 p99-itl-ns 40 client-err-%"), []float64{1}, "", 1},
	} {
		rows, _, err := Parse([]byte(c.text), "a.txt")
		assert.NilError(t, err)
		assert.Equal(t, len(rows), 1)
		assert.DeepEqual(t, rows[0].Values["p99-itl-ns"], c.values)
		assert.Equal(t, rows[0].Doubt("p99-itl-ns"), c.doubt, c.name)
		assert.Equal(t, len(rows[0].Values["output-tok/s"]), c.others, c.name)
		assert.Equal(t, rows[0].Samples(), strings.Count(c.text, "BenchmarkA/concurrency=64-2 1 "), c.name)
	}
}

// TestSoundRuns checks the same of records: the runs of a doubtful note are not sound, with and without a benchmark file.
func TestSoundRuns(t *testing.T) {
	dir := t.TempDir()
	write := func(name, tokens, notes string) {
		text := `{"version":2,"benchmark":"BenchmarkServe/concurrency=1","dialect":"openai-chat","stream":true,"concurrency":1,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}` + "\n" +
			`{"id":"a","pass":0,"due_ns":0,"start_ns":0,"first_ns":20000000,"last_ns":50000000,"end_ns":1000000000,"gaps_ns":[30000000],"prompt_tokens":5,"output_tokens":` + tokens + `,"token_source":"usage","outcome":"ok","status":200}` + "\n" +
			`{"end":{"outcome":"ok"` + notes + `}}` + "\n"
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("1.jsonl", "10", "")
	write("2.jsonl", "99", `,"notes":[{"kind":"client","doubt":true,"units":["output-tok/s"],"text":"the client may distort these figures by more than 5%: output-tok/s 37%"}]`)
	write("3.jsonl", "30", `,"withheld":["output-tok/s"]`)
	for _, text := range []string{"", "BenchmarkServe/concurrency=1-2 1 10.00 output-tok/s\nBenchmarkServe/concurrency=1-2 1 99.00 output-tok/s\nBenchmarkServe/concurrency=1-2 1 5.00 req/s\n"} {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("BenchmarkOther 1 1 req/s\n"+text), 0o600))
		d, err := Read(dir)
		assert.NilError(t, err)
		row := d.Rows[1]
		assert.DeepEqual(t, row.Values["output-tok/s"], []float64{10})
		assert.Equal(t, row.Doubt("output-tok/s"), "")
		assert.Equal(t, len(row.Runs), 3)
		assert.Equal(t, len(row.SoundRuns("output-tok/s")), 1)
		assert.Equal(t, len(row.SoundRuns("p50-ttft-ns")), 3)
		assert.Equal(t, filepath.Base(row.SoundRuns("output-tok/s")[0].Name), "1.jsonl")
	}
}

// TestPriceInDoubt checks that the price of output tokens is in doubt with the throughput, and that a sample without output
// tokens has no price.
func TestPriceInDoubt(t *testing.T) {
	const warn = "llmbench warns (client: output-tok/s): the client may distort these figures by more than 5%: output-tok/s 37%"
	price := func(text string) (values []float64, doubt string) {
		path := filepath.Join(t.TempDir(), "a.txt")
		assert.NilError(t, os.WriteFile(path, []byte(text+"PASS\n"), 0o600))
		d, err := Read(path)
		assert.NilError(t, err)
		d.Rows[0].Price(3.6)
		return d.Rows[0].Values["price/Mtok"], d.Rows[0].Doubt("price/Mtok")
	}
	values, doubt := price(run("1000 output-tok/s", warn))
	assert.DeepEqual(t, values, []float64{1})
	assert.Assert(t, strings.Contains(doubt, "the client may distort these figures"), doubt)
	values, doubt = price(run("1000 output-tok/s", warn) + run("2000 output-tok/s") + run("0 output-tok/s"))
	assert.DeepEqual(t, values, []float64{0.5})
	assert.Equal(t, doubt, "")
}
