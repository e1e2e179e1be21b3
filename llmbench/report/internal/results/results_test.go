package results

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestSameRow checks that the samples of a benchmark stay in one row although the order of
// configuration lines differs or lines were cleared.
func TestSameRow(t *testing.T) {
	const result = "BenchmarkChat/concurrency=8-2 1 20 req/s\nPASS\n"
	for _, c := range []struct {
		name, text string
		samples    []int // the number of samples of each row
	}{
		{"three runs", strings.Repeat("backend: mock\nmodel: m\n"+result, 3), []int{3}},
		{"another order", "backend: mock\nmodel: m\n" + result + "model: m\nbackend: mock\n" + result, []int{2}},
		{"a line cleared and set again", "backend: mock\nmodel: m\n" + result + "backend:\n" + "backend: mock\n" + result + "backend:\nmodel:\nmodel: m\nbackend: mock\n" + result, []int{3}},
		{"a line cleared that another run had", "gpu: a\ngpu:\nbackend: mock\n" + result + "backend: mock\n" + result, []int{2}},
		{"versions and times", "commit: a\ndate: 1\n" + result + "commit: b\ndate: 2\n" + result, []int{2}},
		{"another value", "backend: mock\n" + result + "backend: vllm\n" + result, []int{1, 1}},
		{"without the line", "backend: mock\n" + result + "backend:\n" + result, []int{1, 1}},
	} {
		rows, _, err := Parse([]byte(c.text), "a.txt")
		assert.NilError(t, err, c.name)
		var samples []int
		for _, r := range rows {
			samples = append(samples, r.Samples())
		}
		assert.DeepEqual(t, samples, c.samples)
	}
}

// logged3 has the form in which older releases logged.
const logged3 = `BenchmarkServe/concurrency=1-2 1 100 output-tok/s 5000 p50-ttft-ns 9000 p99-itl-ns 3 client-err-%
BenchmarkServe/concurrency=2-2 1 100 output-tok/s 5000 p50-ttft-ns 9000 p99-itl-ns 37 client-err-%
--- BENCH: BenchmarkServe/concurrency=2-2
    run.go:227: the client may distort these figures by more than 5%: p99-itl-ns 37% (at most 91%), p50-ttft-ns 6% (at most 7%)
          one wait of a goroutine for a CPU in a hundred took 80µs or longer
    run.go:213: 15 of 16 requests had to open a connection; the time it took is in their latency, and in the records
BenchmarkServe/rate=5-2 1 100 output-tok/s 40 client-err-%
--- BENCH: BenchmarkServe/rate=5-2
    run.go:162: pass 0: 5 requests per second were asked for, and 3.2 sent
--- FAIL: BenchmarkServe/concurrency=4-2
    run.go:90: pass 0: 3 of 16 requests failed
PASS
`

// TestLogged checks which values are in doubt because of the log of a benchmark.
func TestLogged(t *testing.T) {
	rows, failed, err := Parse([]byte(logged3), "a.txt")
	assert.NilError(t, err)
	for _, c := range []struct {
		row  int
		unit string
		want string
	}{
		{0, "p99-itl-ns", ""},
		{0, "output-tok/s", ""},
		{1, "p99-itl-ns", "the client may distort these figures by more than 5%: p99-itl-ns 37% (at most 91%)"},
		{1, "p50-ttft-ns", "the client may distort these figures by more than 5%: p50-ttft-ns 6% (at most 7%)"},
		{1, "output-tok/s", ""},
		{2, "output-tok/s", "pass 0: 5 requests per second were asked for, and 3.2 sent; the client may have distorted figures by 40% (client-err-%)"},
	} {
		assert.Equal(t, rows[c.row].Doubt(c.unit), c.want, "%s of row %d", c.unit, c.row)
	}
	assert.Equal(t, rows[1].Doubts[1].Note, true)
	assert.Equal(t, len(failed), 1)
	assert.Equal(t, failed[0].Name, "Serve/concurrency=4-2")
	assert.Equal(t, failed[0].Failed, "pass 0: 3 of 16 requests failed")
}

// TestNotes checks which lines of a log put values in doubt. Those are lines in the form of the
// harness's warnings, in this release or in older ones. Lines that a benchmark's own code logged
// must put nothing in doubt.
func TestNotes(t *testing.T) {
	const units = "1 100 output-tok/s 5000 p50-ttft-ns 9000 p99-itl-ns"
	for _, c := range []struct {
		line  string
		want  Doubt
		wrong []string // the units that are in doubt
	}{
		{"llmbench warns (client: p99-itl-ns): the client may distort these figures by more than 5%: p99-itl-ns 37% (at most 91%)",
			Doubt{Text: "the client may distort these figures by more than 5%: p99-itl-ns 37% (at most 91%)", Kind: "client", Units: []string{"p99-itl-ns"}}, []string{"p99-itl-ns"}},
		{"llmbench warns (of-tomorrow): all is lost", Doubt{Text: "all is lost", Kind: "of-tomorrow"}, []string{"output-tok/s", "p50-ttft-ns", "p99-itl-ns"}},
		{"llmbench notes (failures): 3 of 16 requests failed", Doubt{Text: "3 of 16 requests failed", Kind: "failures", Note: true}, nil},
		{"the server took 15% of the prompts' tokens from its cache, which shortens the TTFT",
			Doubt{Text: "the server took 15% of the prompts' tokens from its cache, which shortens the TTFT", Kind: "cache", Units: []string{"p50-ttft-ns", "p99-ttft-ns"}}, []string{"p50-ttft-ns"}},
		{"answers are shorter than asked: mean 46 of 683 output tokens; figures depend on the length",
			Doubt{Text: "answers are shorter than asked: mean 46 of 683 output tokens; figures depend on the length", Kind: "lengths"}, []string{"output-tok/s", "p50-ttft-ns", "p99-itl-ns"}},
		{"warming up took 3 s", Doubt{Text: "warming up took 3 s", Note: true}, nil},
		{"p99-itl-ns is output-tok/s", Doubt{Text: "p99-itl-ns is output-tok/s", Note: true}, nil},
		{"I think that the client may distort these figures by more than 5%: p99-itl-ns 37%", Doubt{Text: "I think that the client may distort these figures by more than 5%: p99-itl-ns 37%", Note: true}, nil},
		{"warning: the client is slow", Doubt{Text: "warning: the client is slow", Note: true}, nil},
	} {
		rows, _, err := Parse([]byte("BenchmarkA "+units+"\n--- BENCH: BenchmarkA\n    a.go:1: "+c.line+"\n"), "a.txt")
		assert.NilError(t, err)
		assert.Equal(t, len(rows[0].Doubts), 1, c.line)
		got := rows[0].Doubts[0]
		got.Units = slices.DeleteFunc(got.Units, func(u string) bool { return u != "p99-ttft-ns" && !slices.Contains(rows[0].Units, u) })
		assert.DeepEqual(t, got, c.want)
		for _, u := range rows[0].Units {
			assert.Equal(t, rows[0].Doubt(u) != "", slices.Contains(c.wrong, u), "%s: %s", u, c.line)
		}
	}
}

// TestNotesOfRecords checks that the notes in records become doubts of their row. A note that is
// also in the log must occur only once.
func TestNotesOfRecords(t *testing.T) {
	dir := t.TempDir()
	text := "BenchmarkServe/concurrency=1-2 1 30.00 output-tok/s 9 p99-itl-ns\n--- BENCH: BenchmarkServe/concurrency=1-2\n" +
		"    a.go:1: llmbench warns (client: p99-itl-ns): the client may distort these figures by more than 5%: p99-itl-ns 37% (at most 91%)\n        one read\n    a.go:2: a remark\n"
	run := `{"version":2,"benchmark":"BenchmarkServe/concurrency=1","dialect":"openai-chat","stream":true,"concurrency":1,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}` + "\n" +
		`{"id":"a","pass":0,"due_ns":0,"start_ns":0,"first_ns":20000000,"last_ns":50000000,"end_ns":1000000000,"gaps_ns":[30000000],"prompt_tokens":5,"output_tokens":30,"token_source":"usage","outcome":"ok","status":200}` + "\n" +
		`{"end":{"outcome":"ok","withheld":["p99-itl-ns"],"notes":[{"kind":"client","doubt":true,"units":["p99-itl-ns"],"text":"the client may distort these figures by more than 5%: p99-itl-ns 37% (at most 91%)\n  one read"},{"kind":"steady","text":"no steady state"}]}}` + "\n"
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o600))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(run), 0o600))
	d, err := Read(dir)
	assert.NilError(t, err)
	assert.Equal(t, len(d.Rows), 1)
	assert.DeepEqual(t, d.Rows[0].Doubts, []Doubt{
		{Text: "the client may distort these figures by more than 5%: p99-itl-ns 37% (at most 91%)", Kind: "client", Units: []string{"p99-itl-ns"}},
		{Text: "a remark", Note: true},
		{Text: "no steady state", Kind: "steady", Note: true},
	})
	assert.Equal(t, d.Rows[0].Doubt("output-tok/s"), "")
}

// TestEmptyLog checks that a benchmark may log an empty line.
func TestEmptyLog(t *testing.T) {
	text := "BenchmarkA 1 5 req/s\n--- BENCH: BenchmarkA\n    a.go:1: \n    a.go:2: \n        5 retries\n--- FAIL: BenchmarkB\n    a.go:1: \n"
	rows, failed, err := Parse([]byte(text), "a.txt")
	assert.NilError(t, err)
	assert.DeepEqual(t, rows[0].Doubts, []Doubt{{Text: "5 retries", Note: true}})
	assert.Equal(t, len(failed), 1)
	assert.Equal(t, failed[0].Failed, "the log does not say why")
	assert.Equal(t, len(failed[0].Doubts), 0)
}

// TestJoin checks that runs of the same benchmark are joined with the file that has their values.
func TestJoin(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	run := func(tokens string) string {
		return `{"version":1,"benchmark":"BenchmarkServe/concurrency=1","dialect":"openai-chat","stream":true,"concurrency":1,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}` + "\n" +
			`{"id":"a","pass":0,"due_ns":0,"start_ns":0,"first_ns":20000000,"last_ns":50000000,"end_ns":1000000000,"gaps_ns":[30000000],"prompt_tokens":5,"output_tokens":` + tokens + `,"token_source":"usage","outcome":"ok","status":200}` + "\n"
	}
	d, err := Read(write("old.txt", "BenchmarkServe/concurrency=1-2 1 20.00 output-tok/s\n"), write("new.txt", "BenchmarkServe/concurrency=1-2 1 30.00 output-tok/s\n"),
		write("a.jsonl", run("30")), write("b.jsonl", run("20")))
	assert.NilError(t, err)
	assert.Equal(t, len(d.Rows), 2)
	assert.Equal(t, filepath.Base(d.Rows[0].Runs[0].Name), "b.jsonl")
	assert.Equal(t, filepath.Base(d.Rows[1].Runs[0].Name), "a.jsonl")
}

// TestHidden checks which units of a run are not computed from its records, because the run withheld them or units that
// measure the same.
func TestHidden(t *testing.T) {
	judged := map[string]sample.Interval{"p50-ttft-ns": {High: 2}, "mean-ttft-ns": {High: 1}}
	for _, c := range []struct {
		end          *records.End
		hidden, kept []string
	}{
		{nil, nil, []string{"p50-ttft-ns", "p99-tpot-ns"}},
		{&records.End{}, nil, []string{"p50-ttft-ns", "p99-tpot-ns"}},
		{&records.End{Withheld: []string{"p50-ttft-ns"}, Bounds: judged}, []string{"p50-ttft-ns", "p90-ttft-ns", "p99-ttft-ns"}, []string{"mean-ttft-ns", "p99-tpot-ns", "output-tok/s", "fail-%"}},
		{&records.End{Buffered: []string{"mean-tpot-ns"}}, []string{"mean-tpot-ns", "p99-tpot-ns"}, []string{"mean-ttft-ns", "fail-%"}},
		{&records.End{Unread: []string{"fail-%"}}, []string{"fail-%"}, []string{"shed-%", "mean-ttft-ns"}},
	} {
		got := hidden(&records.Run{End: c.end})
		for _, unit := range c.hidden {
			assert.Assert(t, got[unit], "%s: %v", unit, c.end)
		}
		for _, unit := range c.kept {
			assert.Assert(t, !got[unit], "%s: %v", unit, c.end)
		}
	}
}

func TestNatural(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"c=2", "c=16", -1}, {"c=16", "c=2", 1}, {"c=2", "c=2", 0}, {"c=02", "c=2", 0}, {"a", "b", -1}, {"a", "a1", -1}, {"a9b", "a10a", -1}, {"", "1", -1},
	} {
		assert.Equal(t, Natural(c.a, c.b), c.want, "%q and %q", c.a, c.b)
	}
}

func TestIdentity(t *testing.T) {
	got := Identity([]benchfile.Setting{{Key: "model", Value: "m"}, {Key: "pkg", Value: "p"}, {Key: "commit", Value: "c"}, {Key: "gpu"}, {Key: "backend", Value: "b"}})
	assert.DeepEqual(t, got, []benchfile.Setting{{Key: "backend", Value: "b"}, {Key: "model", Value: "m"}})
}

// TestAbout checks that a doubt about a unit shows the part of the text that is about that unit.
func TestAbout(t *testing.T) {
	d := Doubt{Text: "the client may distort: p99-itl-ns (likely 140%, at most 597%), mean-tpot-ns (likely 3%, at most 7%)", Units: []string{"p99-itl-ns", "mean-tpot-ns", "req/s"}}
	for unit, want := range map[string]string{
		"p99-itl-ns":   "the client may distort: p99-itl-ns (likely 140%, at most 597%)",
		"mean-tpot-ns": "the client may distort: mean-tpot-ns (likely 3%, at most 7%)",
		"req/s":        d.Text,
		"p50-ttft-ns":  "",
	} {
		assert.Equal(t, d.about([]string{unit}), want)
	}
}

// TestAdd checks that reported figures are added to the rows of records, which keep their own, and that a benchmark without
// records gets a row.
func TestAdd(t *testing.T) {
	row := newRow(benchfile.ParseName("A/c=1"))
	row.count = 1
	row.add("x", 1)
	d := &Data{Rows: []*Row{row}}
	d.Add("BenchmarkA/c=1", "x", map[int]float64{0: 5})
	d.Add("BenchmarkA/c=1", "y", map[int]float64{1: 7, 0: 6})
	d.Add("BenchmarkA/search", "y", map[int]float64{0: 8})
	assert.Equal(t, len(d.Rows), 2)
	assert.DeepEqual(t, d.Rows[0].Values, map[string][]float64{"x": {1}, "y": {6, 7}})
	assert.DeepEqual(t, d.Rows[1].Values, map[string][]float64{"y": {8}})
	assert.Equal(t, d.Rows[1].Name, "A/search")
}
