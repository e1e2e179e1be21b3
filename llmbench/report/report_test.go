package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compat"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// file writes a file to a new folder, and returns the path of the file.
func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// pageOf returns the page that is made from files.
func pageOf(t testing.TB, o Options, paths ...string) (*Report, string) {
	t.Helper()
	d, err := Read(paths...)
	assert.NilError(t, err)
	r, err := New(d, o)
	assert.NilError(t, err)
	var b bytes.Buffer
	assert.NilError(t, r.HTML(&b))
	return r, b.String()
}

const head = `{"version":1,"benchmark":"BenchmarkServe/backend=mock/model=m/workload=w/concurrency=2","dialect":"openai-chat","model":"m","stream":true,"concurrency":2,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}` + "\n"

// recs returns n lines of requests. Every fifth request has failed.
func recs(n int) string {
	var b strings.Builder
	for i := range n {
		outcome := "ok"
		if i%5 == 4 {
			outcome = `truncated","error":"cut off`
		}
		at := i / 2 * 100_000_000
		fmt.Fprintf(&b, `{"id":"a-%d","pass":0,"due_ns":%d,"start_ns":%d,"connect_ns":0,"first_ns":%d,"last_ns":%d,"end_ns":%d,"gaps_ns":[10000000,%d],"prompt_tokens":5,"output_tokens":3,"token_source":"usage","outcome":"%s","status":200}`+"\n",
			i, at, at, at+20_000_000, at+50_000_000, at+60_000_000, 20_000_000, outcome)
	}
	return b.String()
}

// sweepFile returns a benchmark file of two systems. Each has three loads with three samples.
func sweepFile() string {
	var b strings.Builder
	for s := range 3 {
		for _, backend := range []string{"vllm", "tgi"} {
			for c := 1; c <= 16; c *= 4 {
				fmt.Fprintf(&b, "BenchmarkServe/backend=%s/model=m/workload=w/concurrency=%d-2 1 %d.5 output-tok/s %d.25 req/s %d mean-e2e-ns %d mean-tpot-ns %d good-req/s\n",
					backend, c, 100*c-c*c+s, c, 1000000*c+s, 5000000+c*c*10000, c)
			}
		}
	}
	return b.String()
}

// TestFigures checks that the page contains every value of a benchmark file with all digits.
func TestFigures(t *testing.T) {
	published, _ := filepath.Glob("../../benchdata/published/*.txt")
	assert.Assert(t, len(published) >= 5)
	values := regexp.MustCompile(`([-+0-9.e]+)\s+([a-zA-Z%][^\s]*)`)
	n := 0
	for _, path := range append(published, file(t, "a.txt", sweepFile())) {
		r, page := pageOf(t, Options{}, path)
		// These are the numbers in each row of the page, by the name of the benchmark.
		rows := map[string]map[float64]bool{}
		for _, f := range r.Figures {
			for i, cells := range f.Table.Rows {
				name := cells[len(cells)-2]
				if rows[name] == nil {
					rows[name] = map[float64]bool{}
				}
				for j := range cells {
					exact := f.Table.Exact[i][j]
					assert.Assert(t, strings.Contains(page, html.EscapeString(exact)))
					for _, word := range regexp.MustCompile(`[-+0-9.e]+`).FindAllString(exact, -1) {
						if v, err := strconv.ParseFloat(word, 64); err == nil {
							rows[name][v] = true
						}
					}
				}
			}
		}
		text, err := os.ReadFile(path)
		assert.NilError(t, err)
		samples := map[string]int{}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 2 && strings.HasPrefix(f[0], "Benchmark") {
				samples[f[0]]++
			}
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 3 || !strings.HasPrefix(f[0], "Benchmark") || samples[f[0]] == 3 && strings.Contains(line, "1.5 ") {
				continue // all three samples are shown: as the minimum, the median and the maximum
			}
			row := rows[strings.TrimPrefix(f[0], "Benchmark")]
			for _, m := range values.FindAllStringSubmatch(strings.Join(f[2:], " "), -1) {
				v, err := strconv.ParseFloat(m[1], 64)
				assert.NilError(t, err)
				if !row[v] {
					t.Errorf("%s: %s %s of %s is not in the page", path, m[1], m[2], f[0])
				}
				n++
			}
		}
	}
	assert.Assert(t, n > 2000, "%d values", n)
}

// TestLeft checks that a request that the client cut off as planned is not a failure.
func TestLeft(t *testing.T) {
	left := strings.ReplaceAll(recs(20), `truncated","error":"cut off`, `left","error":"the client left`)
	r, _ := pageOf(t, Options{}, file(t, "r.1.jsonl", head+left))
	column := slices.Index(r.Runs.Head, "failed")
	assert.Equal(t, r.Runs.Rows[0][column], "0")
	for _, p := range r.Pictures {
		assert.Assert(t, p.ID != "failures")
	}
}

// TestPictures checks that pictures of every kind exist, and that none is empty.
func TestPictures(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	grid := ""
	for _, in := range []int{100, 500} {
		for _, out := range []int{50, 90} {
			grid += fmt.Sprintf("BenchmarkLengthGrid/model=m/workload=continuation-in%d-gen%d/concurrency=4 1 %d output-tok/s %d out-tok/req\n", in, out, in+out, out)
		}
	}
	old := file(t, "old.txt", strings.Repeat("Unit output-tok/s better=higher gate=2%\nBenchmarkServe/concurrency=1-2 1 100 output-tok/s 5 p99-ttft-err-ns\nPASS\n", 6))
	compare := func(name string) gate.File {
		text, err := os.ReadFile(name)
		assert.NilError(t, err)
		return gate.File{Name: name, Data: bytes.NewReader(text)}
	}
	verdict, err := gate.Compare(gate.File{}, compare(old), compare(old), gate.Options{})
	assert.NilError(t, err)
	r, page := pageOf(t, Options{Verdict: verdict}, file(t, "sweep.txt", sweepFile()), file(t, "grid.txt", grid), old,
		file(t, "r.1.jsonl", head+recs(60)), file(t, "r.2.jsonl", head+recs(20)))
	kinds := map[string]bool{}
	for _, p := range r.Pictures {
		kind, _, _ := strings.Cut(p.ID, "-")
		kinds[kind] = true
		var svg, img bytes.Buffer
		assert.NilError(t, p.SVG(&svg))
		assert.NilError(t, p.PNG(&img))
		marks := 0
		dec := xml.NewDecoder(&svg)
		for {
			token, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			assert.NilError(t, err, p.ID)
			if e, ok := token.(xml.StartElement); ok && (e.Name.Local == "path" || e.Name.Local == "text") {
				marks++
			}
		}
		assert.Assert(t, marks > 10, "%s: %d marks", p.ID, marks)
		drawn, err := png.Decode(&img)
		assert.NilError(t, err)
		colors := map[any]bool{}
		for x := 0; x < drawn.Bounds().Dx(); x += 2 {
			for y := 0; y < drawn.Bounds().Dy(); y += 2 {
				colors[drawn.At(x, y)] = true
			}
		}
		assert.Assert(t, len(colors) > 3, "%s has %d colours", p.ID, len(colors))
		assert.Assert(t, p.Caption != "", p.ID)
		for _, row := range p.Table.Rows {
			assert.Equal(t, len(row), len(p.Table.Head), p.ID)
		}
		assert.Assert(t, strings.Contains(page, `id="`+p.ID+`"`), p.ID)
	}
	for _, kind := range []string{"verdict", "sweep", "versus", "frontier", "lengths", "distributions", "timeline", "lanes", "failures", "error"} {
		assert.Assert(t, kinds[kind], kind)
	}
	assert.Equal(t, strings.Count(page, "<figure id="), len(r.Pictures))
	assert.Equal(t, strings.Count(page, `<div class="chart"`), len(r.Pictures))
	assert.Assert(t, !strings.Contains(page, "#0072B2"), "a colour that a dark page cannot change")
	assert.Assert(t, strings.Contains(page, "medians of samples, bands reach"))
	assert.Assert(t, strings.Contains(page, "one run, every tool&#39;s numbers"))
}

// TestHostile reads malicious input.
func TestHostile(t *testing.T) {
	const script = `<script>alert(1)</script>`
	evil := strings.NewReplacer(`"model":"m"`, `"model":"`+script+`"`, `model=m`, `model=`+script).Replace(head)
	_, page := pageOf(t, Options{Title: script, Command: script, Parts: []string{"model"}},
		file(t, "a.jsonl", evil+strings.ReplaceAll(recs(20), "cut off", script+`' onload="x`[:8])),
		file(t, "b.txt", "model: "+script+"\nBenchmarkA/model="+script+"/concurrency=1 1 2 "+script+" 3 req/s\nBenchmarkA/model="+script+"/concurrency=2 1 2 "+script+" 3 req/s\n"))
	assert.Assert(t, scripts(page), "a script in the page")
	assert.Assert(t, strings.Contains(page, "&lt;script&gt;"))
	assert.Assert(t, !regexp.MustCompile(`(?i)<[^>]*\son[a-z]+=`).MatchString(page), "a handler in the page")
	assert.Assert(t, !regexp.MustCompile(`(src|href)="(https?:)?//`).MatchString(page), "another host in the page")

	for _, c := range []struct{ name, file, text, want string }{
		{"NaN", "a.txt", "BenchmarkA 1 NaN req/s\n", "a.txt:1: req/s is NaN: want a finite number"},
		{"infinite", "a.txt", "BenchmarkA 1 +Inf req/s\n", "a.txt:1: req/s is +Inf: want a finite number"},
		{"too large", "a.txt", "BenchmarkA 1 1e200 req/s\n", "a.txt:1: req/s is 1e+200: want at most 1e+100"},
		{"a unit twice", "a.txt", "BenchmarkA 1 1 req/s 2 req/s\n", "a.txt:1: req/s twice in one result"},
		{"nothing", "a.txt", "hello\n", "a.txt: no result file that is known"},
		{"cut results", "a.txt", "BenchmarkA 1 1 req/s\nBenchmarkA 1 1", "a.txt:2: the last line has no line end: was the file cut off?"},
		{"results cut in a number", "a.txt", "BenchmarkA 1 12 req/s 345 mean-e2e-ns", "a.txt:1: the last line has no line end: was the file cut off?"},
		{"cut records", "a.jsonl", head[:50], "a.jsonl:1: the line about the benchmark was cut"},
		{"another version", "a.jsonl", strings.Replace(head, `"version":1`, `"version":7`, 1), "a.jsonl:1: version 7"},
		{"an empty run", "a.jsonl", head, "a.jsonl: an empty run: no request was recorded"},
		{"a choice before the send", "a.jsonl", head + strings.Replace(recs(3), `"first_ns":120000000`, `"choices":{"first_ns":1,"last_ns":150000000},"first_ns":120000000`, 1), "a.jsonl:4: choices: first_ns 1"},
		{"a choice after all time", "a.jsonl", head + strings.Replace(recs(1), `"gaps_ns"`, `"choices":{"first_ns":20000000,"last_ns":9000000000000000000},"gaps_ns"`, 1), "a.jsonl:2: an instant of 9000000000000000000 ns"},
		{"NaN in records", "a.jsonl", head + strings.Replace(recs(1), `"end_ns":60000000`, `"end_ns":NaN`, 1), "a.jsonl:2: want a request's record"},
	} {
		_, err := Read(file(t, c.file, c.text))
		assert.ErrorContains(t, err, c.want, c.name)
	}
	_, err := Read(t.TempDir())
	assert.ErrorContains(t, err, "neither results nor records")
	_, err = Read("nowhere")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// scripts reports whether a page has its own script and data of pictures, and no other script.
func scripts(page string) bool {
	data := strings.Count(page, `<script type="application/json">`)
	return strings.Count(page, "<script>") == 1 && strings.Count(page, "<script") == data+1 && strings.Count(page, "</script") == data+1
}

// TestExtremes draws unusual values, such as only zeros, the largest values, and a single request.
func TestExtremes(t *testing.T) {
	for _, text := range []string{
		"BenchmarkA/concurrency=1 1 0 req/s 0 mean-e2e-ns\nBenchmarkA/concurrency=2 1 0 req/s 0 mean-e2e-ns\n",
		"BenchmarkA/concurrency=1 1 1e99 req/s 1e-99 mean-tpot-ns\nBenchmarkA/concurrency=2 1 1e100 req/s 1e-99 mean-tpot-ns\n",
		"BenchmarkA/concurrency=1 1 -5 output-tok/s 7 user-tok/s\nBenchmarkA/concurrency=1000000 1 -5 output-tok/s 7 user-tok/s\n",
		"BenchmarkA/rate=0.001 1 5 req/s\nBenchmarkA/rate=1e-9 1 5 req/s\n",
		"BenchmarkA/concurrency=99999999999999999999/workload=x-in99999999999999999999999 1 5 out-tok/req\n",
	} {
		pageOf(t, Options{}, file(t, "a.txt", text))
	}
	pageOf(t, Options{}, file(t, "a.jsonl", head+recs(1)))
	whole := strings.NewReplacer(`"first_ns":20000000,"last_ns":50000000`, `"first_ns":null,"last_ns":null`, `[10000000,20000000]`, `[]`).Replace(recs(1))
	pageOf(t, Options{}, file(t, "a.jsonl", strings.Replace(head, `"stream":true`, `"stream":false`, 1)+whole))
	instant := `{"id":"a","pass":0,"due_ns":0,"start_ns":0,"end_ns":0,"gaps_ns":[],"outcome":"connect","error":"refused","status":0}` + "\n"
	pageOf(t, Options{}, file(t, "a.jsonl", head+instant))
}

// TestEnded checks that a run is marked if it failed, if it was killed, or if its client was too
// slow. The same benchmark is also in a benchmark file.
func TestEnded(t *testing.T) {
	ends := strings.NewReplacer(`"dialect"`, `"ends":true,"config":{"backend":"mock","commit":"a"},"dialect"`).Replace(head)
	const ok = `{"end":{"outcome":"ok"}}` + "\n"
	at := func(t *testing.T, text string) (*results.Data, *Report, string) {
		path := file(t, "r.1.jsonl", text)
		d, err := Read(path)
		assert.NilError(t, err)
		r, page := pageOf(t, Options{}, path)
		return d, r, page
	}
	d, r, page := at(t, ends+recs(60)+ok)
	assert.Equal(t, len(d.Rows), 1)
	assert.Assert(t, !strings.Contains(page, "no result") && !strings.Contains(page, "withheld"))
	ended := slices.Index(r.Runs.Head, "ended")
	assert.Equal(t, r.Runs.Rows[0][ended], "ok")

	for text, want := range map[string]string{
		ends + recs(60) + recs(1)[:40]: "the run was cut: its process was killed or still runs, and the records have no line about its end",
		ends + recs(60):                "the run was cut: its process was killed or still runs, and the records have no line about its end",
		ends + recs(60) + `{"end":{"outcome":"failed","why":"pass 0: 12 of 60 requests failed\n  request 4"}}` + "\n": "pass 0: 12 of 60 requests failed",
	} {
		d, r, page := at(t, text)
		assert.Equal(t, len(d.Rows), 0)
		assert.Assert(t, strings.HasPrefix(r.Runs.Rows[0][ended], want))
		assert.Assert(t, strings.HasSuffix(d.Sources[0].Kind, "; no result: "+want))
		for _, p := range r.Pictures {
			assert.Assert(t, p.ID == "failures" || strings.Contains(p.Title, "(failed)") && strings.Contains(p.Caption, "no result: "+want), "%+v", p)
		}
		assert.Assert(t, strings.Contains(r.Tools[0].Caption, "no result: "+want))
		assert.Assert(t, strings.Contains(page, "no result: "+want))
	}

	d, r, _ = at(t, ends+recs(60)+`{"end":{"outcome":"ok","withheld":["mean-ttft-ns"]}}`+"\n")
	_, has := d.Rows[0].Spread("mean-ttft-ns")
	assert.Equal(t, has, "")
	assert.Equal(t, r.Runs.Rows[0][ended], "ok, withheld mean-ttft-ns")
	for _, row := range r.Tools[0].Table.Rows {
		assert.Equal(t, row[1] == "withheld", row[0] == "mean TTFT (ms)", row)
	}
	for _, p := range r.Sections[len(r.Sections)-1].Folds[0].Pictures {
		assert.Assert(t, strings.Contains(p.Caption, "the client distorted mean-ttft-ns"), p.ID)
	}
	assert.Assert(t, strings.Contains(strings.Join(r.Warnings, "\n"), "The client distorted mean-ttft-ns"))
	for i, row := range r.Headline.Table.Rows { // these are the distributions
		assert.Equal(t, strings.Contains(strings.Join(row, " "), "†"), strings.HasPrefix(row[0], "time to first token (ms)"), r.Headline.Table.Exact[i])
	}

	// A benchmark file only has the values of a run if the configurations are equal.
	const name = "Serve/backend=mock/model=m/workload=w/concurrency=2"
	run := file(t, "r.1.jsonl", ends+recs(60)+ok)
	for config, rows := range map[string]int{"backend: mock\ncommit: b\n": 1, "backend: vllm\n": 2, "": 2} {
		d, err := Read(file(t, "a.txt", config+"Benchmark"+name+"-8 1 5 req/s\n"), run)
		assert.NilError(t, err)
		assert.Equal(t, len(d.Rows), rows, config)
		assert.Equal(t, strings.Contains(d.Sources[1].Kind, "; its figures are taken from "), rows == 1)
	}
}

// TestApart checks that runs in different folders are not combined, and that they can be told
// apart.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i, sub := range []string{"a", "a", "b"} {
		path := filepath.Join(dir, sub, fmt.Sprintf("r.%d.jsonl", i))
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		assert.NilError(t, os.WriteFile(path, []byte(head+recs(20)), 0o600))
		paths = append(paths, path)
	}
	d, err := Read(paths...)
	assert.NilError(t, err)
	assert.Equal(t, len(d.Rows), 2)
	assert.Equal(t, len(d.Rows[0].Runs), 2)
	r, err := New(d, Options{})
	assert.NilError(t, err)
	detail := r.Sections[len(r.Sections)-1]
	assert.Equal(t, detail.Folds[0].Title+" "+detail.Folds[1].Title, "a b")
}

// TestFolder reads a folder that contains records and other files.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.jsonl": head + recs(10), "server.log": "x", "r.txt": sweepFile()} {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	r, page := pageOf(t, Options{}, dir)
	assert.Equal(t, len(r.Sources), 3)
	again, err := Read(dir, filepath.Join(dir, "r.txt"))
	assert.NilError(t, err)
	assert.Equal(t, len(again.Sources), 3)
	assert.Assert(t, strings.Contains(page, "server.log</code>: not read: none of .jsonl .txt .bench .json .csv .yaml .yml"))
}

// TestPanels draws a unit that the first row does not have. A mean must not be shown as a median.
func TestPanels(t *testing.T) {
	r, _ := pageOf(t, Options{}, file(t, "a.txt", "BenchmarkA/concurrency=1 1 5 req/s 70 mean-ttft-ns\n"+
		"BenchmarkA/concurrency=2 1 9 req/s 60 p50-ttft-ns 80 mean-ttft-ns 2 good-req/s\n"+
		"BenchmarkA/concurrency=4 1 9 req/s 61 p50-ttft-ns 81 mean-ttft-ns 3 good-req/s\n"+
		"BenchmarkA/concurrency=8 1 9 req/s 90 mean-ttft-ns 7 output-tok/s\nBenchmarkA/concurrency=16 1 9 req/s 8 tok/s\n"))
	sweep := r.Sections[0].Pictures[0]
	assert.DeepEqual(t, sweep.Table.Head, []string{"concurrency", "requests per second (req/s)", "output tokens per second (tok/s)",
		"time to first token, p50 (ns)", "time to first token, mean (ns)", "requests within the SLO per second (req/s)"})
	assert.DeepEqual(t, sweep.Table.Rows, [][]string{
		{"1", "5", "", "", "70", ""}, {"2", "9", "", "60", "", "2"}, {"4", "9", "", "61", "", "3"},
		{"8", "9", "7", "", "90", ""}, {"16", "9", "8", "", "", ""}})
}

// TestLeaders checks that groups in which nothing can be compared come after all others, and say so. The folds have the
// order of the rows, because the chooser hides both.
func TestLeaders(t *testing.T) {
	var text strings.Builder
	for model := range 20 {
		fmt.Fprintf(&text, "BenchmarkA/model=m%d/backend=x/concurrency=1 1 5 output-tok/s\n", model)
		if model%2 == 1 {
			fmt.Fprintf(&text, "BenchmarkA/model=m%d/backend=y/concurrency=1 1 4 output-tok/s\n", model)
		} else {
			fmt.Fprintf(&text, "BenchmarkA/model=m%d/backend=x/concurrency=2 1 7 output-tok/s\n", model)
		}
	}
	r, _ := pageOf(t, Options{}, file(t, "a.txt", text.String()))
	var models []string
	fastest, next := slices.Index(r.Lead.Table.Head, "fastest"), slices.Index(r.Lead.Table.Head, "next")
	for i, row := range r.Lead.Table.Rows {
		assert.Equal(t, row[next], map[bool]string{true: "y", false: "no rival"}[i < 10], "%v", row)
		assert.Equal(t, row[fastest], "x")
		models = append(models, row[slices.Index(r.Lead.Table.Head, "model")])
	}
	assert.Equal(t, len(models), 20)
	for i, fold := range r.Sections[0].Folds {
		assert.Assert(t, strings.Contains(fold.Title, models[i]), "%s at the row of %s", fold.Title, models[i])
	}
}

// TestLeadersOfGateways checks that a gateway is not ranked with the server behind it: neither beside other groups nor
// alone, where the report says what the gateway adds, streamed and not.
func TestLeadersOfGateways(t *testing.T) {
	group := func(model string) string {
		var text strings.Builder
		for _, stream := range []string{"true", "false"} {
			unit := map[string]string{"true": "added-ttft-ms", "false": "added-whole-ms"}[stream]
			name := "BenchmarkGatewayOverhead/model=" + model + "/workload=w/stream=" + stream + "/via="
			fmt.Fprintf(&text, "%sdirect/concurrency=1 1 118 output-tok/s\n%sgateway/concurrency=1 1 100 output-tok/s 44.3 %s\n", name, name, unit)
		}
		return text.String()
	}
	r, _ := pageOf(t, Options{}, file(t, "a.txt", group("m")))
	assert.DeepEqual(t, r.Answer, []string{
		"The gateway adds 44.3 ms to the first token at 1 user. An interval needs six rounds, as with -benchtime=8x.",
		"The gateway adds 44.3 ms to an answer that is not streamed at 1 user. An interval needs six rounds, as with -benchtime=8x."})
	assert.Assert(t, !slices.Contains(r.Lead.Table.Head, "ratio"), "%q", r.Lead.Table.Head)

	var text strings.Builder
	for i := range 8 {
		text.WriteString(group(fmt.Sprint("m", i)))
	}
	r, _ = pageOf(t, Options{}, file(t, "a.txt", text.String()))
	next := slices.Index(r.Lead.Table.Head, "next")
	assert.Equal(t, len(r.Lead.Table.Rows), 8)
	for _, row := range r.Lead.Table.Rows {
		assert.Equal(t, row[next], "no rival", "%v", row)
	}
}

// TestFirstScreen checks the first screen of a page about two systems: the sentence, a tile with the marks of both systems,
// the curve, and a table in which a mark says who leads. What the server said about itself comes before the tiles.
func TestFirstScreen(t *testing.T) {
	text := "slots: 4\n"
	for run := range 6 {
		for users := 1; users <= 16; users *= 4 {
			text += fmt.Sprintf("BenchmarkServe/backend=vllm/concurrency=%[1]d 1 %[2]d output-tok/s 10000000 mean-tpot-ns 20000000 p50-ttft-ns\nBenchmarkServe/backend=tgi/concurrency=%[1]d 1 %[3]d output-tok/s 12000000 mean-tpot-ns 15000000 p50-ttft-ns\n",
				users, 1200*users+run, 1000*users+run)
		}
	}
	r, page := pageOf(t, Options{Prices: map[string]float64{"vllm": 2, "tgi": 1}}, file(t, "a.txt", text))
	assert.Equal(t, r.Short, "vllm is 20 % faster than tgi at every load")
	order := []string{`<p class="short">vllm is 20 %`, `<ul class="stated"`, `The server serves 4 requests at once`, `<dl class="tiles">`, `<span class="of c1" data-mark="●">vllm</span>`, `<span class="of c2" data-mark="■">tgi</span>`,
		`<div class="screen">`, `<figure id="frontier-`, `data-name="lead"`, `<th scope="col" class="of c2" data-mark="■">tok/s, tgi`, `class="n lead c2" data-mark="■" title=`, `<p class="said">vllm is faster than tgi at 1 to 16 users`, `<nav`}
	at := 0
	for _, want := range order {
		i := strings.Index(page[at:], want)
		assert.Assert(t, i >= 0, "%s is not in its place", want)
		at += i
	}
	for _, text := range []string{r.Text(), r.Markdown()} {
		assert.Assert(t, strings.Contains(text, "A million output tokens: vllm "), "%s", text)
	}
}

// TestVerdictPrice checks that a comparison with an old file has the prices of both.
func TestVerdictPrice(t *testing.T) {
	text := func(rate int) string {
		return strings.Repeat(fmt.Sprintf("Unit output-tok/s better=higher gate=2%%\nBenchmarkServe/concurrency=1 1 50 output-tok/s\nBenchmarkServe/concurrency=8 1 %d output-tok/s\nPASS\n", rate), 6)
	}
	old, now := file(t, "old.txt", text(1000)), file(t, "new.txt", text(500))
	verdict, err := gate.Compare(gate.File{}, gate.File{Name: old, Data: strings.NewReader(text(1000))}, gate.File{Name: now, Data: strings.NewReader(text(500))}, gate.Options{})
	assert.NilError(t, err)
	r, _ := pageOf(t, Options{Verdict: verdict, Prices: map[string]float64{"": 3.6}}, old, now)
	assert.Assert(t, strings.HasPrefix(r.Text(), "Regression in 1 of 2 figures: new.txt is worse than old.txt\nLargest change: -50.00% (output tokens per second at 8 users; 2% worse is allowed)\nHow sure: p < 0.001 (6 and 6 runs)\nA million output tokens: old.txt 1, new.txt 2 (at 8 users)\n"), "%s", r.Text())
}

// TestUnknown checks that each reason is listed once, with all the values that it explains.
func TestUnknown(t *testing.T) {
	values := make([]compat.Value, len(toolFigures))
	values[0] = compat.Value{Bound: compat.CannotTell, Why: "a"}
	values[2] = compat.Value{Bound: compat.CannotTell, Why: "b"}
	values[3] = compat.Value{Bound: compat.CannotTell, Why: "a"}
	values[4] = compat.Value{Bound: compat.Absent}
	assert.Equal(t, unknown(values), "completed, output tok/s: a; req/s: b")
}

// FuzzPage looks for benchmark files from which no page can be made, or only a broken one.
func FuzzPage(f *testing.F) {
	f.Add(sweepFile())
	f.Add("BenchmarkA/concurrency=1 1 0 req/s\nBenchmarkA/concurrency=2 1 1e308 req/s\n")
	f.Add("model: <script>\nBenchmarkA/model=<b>/rate=1 1 5 output-tok/s 3 out-tok/req\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, broken, err := results.Parse([]byte(text), "f")
		if err != nil {
			return
		}
		r, err := New(&results.Data{Rows: rows, Broken: broken}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.HTML(&b); err != nil {
			t.Fatal(err)
		}
		if !scripts(b.String()) || !strings.HasSuffix(b.String(), "</html>\n") {
			t.Fatal("a broken page")
		}
	})
}

// TestJSON checks the summary of two samples, of a figure that one sample withheld, of a benchmark without a result, and of
// what the server stated and the harness saw of its cache.
func TestJSON(t *testing.T) {
	path := file(t, "a.txt", `model: m
slots: 1
BenchmarkServe/backend=mock/concurrency=2-4 1 100 output-tok/s 5e6 p50-ttft-ns
--- BENCH: BenchmarkServe/backend=mock/concurrency=2-4
    x.go:1: it was <slow> & late
    run.go:1: llmbench warns (cache: p50-ttft-ns): the server took 77% of the prompts' tokens from its cache
BenchmarkServe/backend=mock/concurrency=2-4 1 300 output-tok/s
--- FAIL: BenchmarkServe/backend=mock/concurrency=4-4
    x.go:1: nobody listens
FAIL
`)
	r, _ := pageOf(t, Options{Title: "T"}, path)
	var b bytes.Buffer
	assert.NilError(t, r.JSON(&b))
	golden.Assert(t, strings.ReplaceAll(b.String(), filepath.Dir(path), "DIR"), "summary.json")
}
