package pictures

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// dataOf reads texts as files. A text that begins with "{" is a file of records.
func dataOf(t *testing.T, texts ...string) *results.Data {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, text := range texts {
		name := fmt.Sprintf("%d.txt", i)
		if strings.HasPrefix(text, "{") {
			name = fmt.Sprintf("%d.jsonl", i)
		}
		path := filepath.Join(dir, name)
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
		paths = append(paths, path)
	}
	d, err := results.Read(paths...)
	assert.NilError(t, err)
	return d
}

// recorded returns the records of n requests with three tokens each, at a concurrency. Every fifth
// request has the given outcome.
func recorded(concurrency, n int, outcome string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"version":1,"benchmark":"BenchmarkServe/concurrency=%d","dialect":"openai-chat","stream":true,"concurrency":2,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}`+"\n", concurrency)
	for i := range n {
		of := "ok"
		if i%5 == 4 {
			of = outcome
		}
		at := i / 2 * 100_000_000
		fmt.Fprintf(&b, `{"id":"a-%d","pass":0,"due_ns":%d,"start_ns":%d,"connect_ns":0,"first_ns":%d,"last_ns":%d,"end_ns":%d,"gaps_ns":[10000000,%d],"prompt_tokens":5,"output_tokens":2,"token_source":"usage","outcome":"%s","status":200}`+"\n",
			i, at, at, at+20_000_000, at+50_000_000, at+60_000_000, 20_000_000, of)
	}
	return b.String()
}

// TestCourse checks that each token of a successful request is counted once, and that a bin is
// longer than several gaps between tokens.
func TestCourse(t *testing.T) {
	run := dataOf(t, recorded(2, 40, `truncated","error":"cut off`)).Runs[0] // there are 3 deltas, and one character is split over two of them
	c := courseOf(run)
	sum := 0.0
	for _, n := range c.tokens {
		sum += n
	}
	assert.Assert(t, sum > 63.999 && sum < 64.001, "%v tokens of 32 requests that got 2, and 8 that failed", sum)
	assert.Assert(t, c.gaps >= gapsPerBin && len(c.tokens) < maxBins, "%v gaps in each of %d bins", c.gaps, len(c.tokens))
}

// TestTimeline checks that there is no panel of failures if no request failed, and that the caption
// says how wide the steps are.
func TestTimeline(t *testing.T) {
	p := Timeline("t", "T", dataOf(t, recorded(2, 40, "ok")).Rows[0])
	assert.Equal(t, len(p.panels), 2)
	assert.Assert(t, strings.Contains(p.Caption, "median gaps between tokens"), p.Caption)
	p = Timeline("t", "T", dataOf(t, recorded(2, 40, `truncated","error":"cut`)).Rows[0])
	assert.Equal(t, len(p.panels), 3)
	assert.Assert(t, Timeline("t", "T", dataOf(t, recorded(2, 1, "ok")).Rows[0]) == nil, "one bin is no course")
}

// TestStagesOfTimeline checks that the course of a load with a warm-up and stages names them, and shows the users.
func TestStagesOfTimeline(t *testing.T) {
	stages := func(of string) *Picture {
		text := strings.Replace(recorded(2, 40, "ok"), `"concurrency":2,`, of, 1)
		return Timeline("t", "T", dataOf(t, text).Rows[0])
	}
	p := stages(`"concurrency":2,"users":"1..2:700ms,2:700ms","duration_ns":1400000000,"warmup_ns":500000000,`)
	assert.Assert(t, strings.HasSuffix(p.Caption, " The load: warm-up to 500ms, stage 1 to 1.2s (1..2:700ms), stage 2 to 1.9s (2:700ms)."), p.Caption)
	var names []string
	for _, row := range p.Table.Rows {
		names = append(names, row[len(row)-1])
	}
	assert.DeepEqual(t, slices.Compact(names), []string{"warm-up", "stage 1", "stage 2"})
	users := p.panels[1].Series[1]
	var values []float64
	for _, at := range users.Points {
		values = append(values, at.X/1e6, at.Value)
	}
	assert.DeepEqual(t, values, []float64{0, 1, 500, 1, 500, 1, 1200, 2, 1200, 2, 1900, 2})
	p = stages(`"arrivals":{"process":"stages","parameters":{"stages":"10:1s,20:1s"}},`)
	assert.Assert(t, strings.HasSuffix(p.Caption, " The load: stage 1 to 1s (10:1s), stage 2 to 2s (20:1s)."), p.Caption)
	assert.Equal(t, len(p.panels[1].Series), 1)
}

// TestLanes checks that failed requests are marked. Requests that were cut off as planned must not
// be marked.
func TestLanes(t *testing.T) {
	names := func(outcome string) (all []string) {
		for _, s := range Lanes("l", "L", dataOf(t, recorded(2, 20, outcome)).Rows[0]).panels[0].Series {
			all = append(all, s.Name)
		}
		return all
	}
	assert.DeepEqual(t, names("left"), []string{"until the first token", "answer"})
	assert.DeepEqual(t, names(`truncated","error":"cut`), []string{"until the first token", "answer", "failed"})
}

// TestFailures checks that each lane names its benchmark, and that lanes are in the order of the
// loads.
func TestFailures(t *testing.T) {
	d := dataOf(t, recorded(16, 20, `truncated","error":"cut`), recorded(2, 20, `http","error":"503`))
	p := Failures(d.Rows)
	assert.DeepEqual(t, p.panels[0].Lanes, []string{"concurrency=2 http", "concurrency=16 truncated"})
	assert.Assert(t, Failures(dataOf(t, recorded(2, 20, "ok")).Rows) == nil)
}

// TestBudget checks that each lane has a different name.
func TestBudget(t *testing.T) {
	text := ""
	for _, via := range []string{"direct", "gateway"} {
		for _, c := range []int{1, 8} {
			text += fmt.Sprintf("BenchmarkChat/via=%s/concurrency=%d 1 5000 p99-ttft-err-ns 2 client-err-%%\n", via, c)
		}
	}
	p := Budget(dataOf(t, text).Rows)
	assert.DeepEqual(t, p.panels[0].Lanes, []string{"TTFT error p99 direct concurrency=1", "TTFT error p99 direct concurrency=8", "TTFT error p99 gateway concurrency=1", "TTFT error p99 gateway concurrency=8"})
	assert.DeepEqual(t, p.Table.Rows[3], []string{"gateway concurrency=8", "5 µs", "2 %"})
}

// TestVerdict checks that each lane names its line of the verdict.
func TestVerdict(t *testing.T) {
	text := func(tokens int) string {
		return strings.Repeat(fmt.Sprintf("Unit output-tok/s better=higher gate=2%%\nBenchmarkChat/via=direct/concurrency=8 1 100 output-tok/s\nBenchmarkChat/via=gateway/concurrency=8 1 %d output-tok/s\nPASS\n", tokens), 6)
	}
	r, err := gate.Compare(gate.File{}, gate.File{Name: "old", Data: strings.NewReader(text(100))}, gate.File{Name: "new", Data: strings.NewReader(text(80))}, gate.Options{})
	assert.NilError(t, err)
	p := Verdict(r)
	assert.DeepEqual(t, p.panels[0].Lanes, []string{"output tokens per second, via=gateway", "output tokens per second, via=direct"}) // the regression comes first
	assert.Equal(t, strings.Join(p.Table.Rows[0][:4], "; "), "output tokens per second, via=gateway; regression; -20.00%; 2%")
}

// TestOffered checks that the sweep of an open loop has a line for the offered rate, and that the
// sweep of a closed loop has none.
func TestOffered(t *testing.T) {
	sweep := func(load string) *Picture {
		text := ""
		for _, x := range []int{2, 4, 8} {
			text += fmt.Sprintf("BenchmarkServe/%s=%d 1 %d req/s %d.5 offered-req/s\n", load, x, min(x, 5), x)
		}
		return Sweep(systems.Groups(dataOf(t, text).Rows, nil)[0])
	}
	series := sweep("rate").panels[0].Series
	assert.Equal(t, series[len(series)-1].Name, "offered rate")
	assert.DeepEqual(t, series[len(series)-1].Points, []chart.Point{chart.At(2, 2.5), chart.At(4, 4.5), chart.At(8, 8.5)})
	assert.Equal(t, len(sweep("concurrency").panels[0].Series), 1)
}

// TestDoubt checks that only a point that the client distorted is marked, both in the picture and
// in the table.
func TestDoubt(t *testing.T) {
	d := dataOf(t, "BenchmarkServe/concurrency=1 1 100 output-tok/s 5000 p50-ttft-ns 2 client-err-%\nBenchmarkServe/concurrency=2 1 100 output-tok/s 5000 p50-ttft-ns 91 client-err-%\nBenchmarkServe/concurrency=4 1 100 output-tok/s 5000 p50-ttft-ns\n")
	p := Sweep(systems.Groups(d.Rows, nil)[0])
	for _, panel := range p.panels {
		assert.Equal(t, panel.Series[0].Points[0].Doubt, "")
		assert.Assert(t, strings.Contains(panel.Series[0].Points[1].Doubt, "91%"))
	}
	assert.DeepEqual(t, p.Table.Rows, [][]string{{"1", "100", "5"}, {"2", "100 †", "5 †"}, {"4", "100", "5"}})
	assert.Equal(t, p.Table.Exact[1][2], "5000 p50-ttft-ns in doubt")
}

// TestDistributions checks that all loads are in one picture, and that the axis begins at the
// smallest value.
func TestDistributions(t *testing.T) {
	d := dataOf(t, recorded(16, 200, "ok"), recorded(2, 200, "ok"))
	p := Distributions("d", "D", d.Rows)
	for _, panel := range p.panels {
		assert.Equal(t, len(panel.Series), 2)
		assert.Equal(t, panel.Series[0].Name+", "+panel.Series[1].Name, "concurrency=2, concurrency=16")
		assert.Assert(t, !panel.Y.Zero)
	}
	assert.Equal(t, len(p.panels), 4)
	assert.Assert(t, Distributions("d", "D", dataOf(t, "BenchmarkA 1 5 req/s\n").Rows) == nil)
}

// TestRanking checks that systems are ordered by the load up to which they meet the SLO.
func TestRanking(t *testing.T) {
	text := ""
	for i, backend := range []string{"a", "b", "c"} {
		for _, c := range []int{1, 2, 4, 8} {
			good := 10
			if c > 1<<i {
				good = 5
			}
			text += fmt.Sprintf("BenchmarkServe/backend=%s/concurrency=%d 1 10 req/s %d good-req/s\n", backend, c, good)
		}
	}
	p := Ranking(systems.Groups(dataOf(t, text).Rows, nil)[0], systems.SLO{Share: 0.95})
	assert.DeepEqual(t, p.panels[0].Lanes, []string{"c", "b", "a"})
	assert.DeepEqual(t, p.Table.Rows[0], []string{"c", "4", "100 %", "10", "8", "50 %"})
}

// TestTopics checks in which table a benchmark of package scenarios is, and its name there.
func TestTopics(t *testing.T) {
	text := ""
	for _, name := range []string{"Chat/workload=w/stream=true/concurrency=1", "Chat/workload=w/stream=false/concurrency=1", "Serve/workload=v/stream=true/concurrency=1", "Serve/workload=v/stages=1..4_2s/concurrency=4", "Sweep/workload=w/stream=true/concurrency=1", "HTTP/tokens=spread/http=2/concurrency=1", "Error/tokens=spread/concurrency=1"} {
		text += "Benchmark" + name + " 1 10 output-tok/s\n"
	}
	var got []string
	for _, topic := range Topics(systems.Groups(dataOf(t, text).Rows, nil)) {
		for _, row := range topic.Table.Rows {
			got = append(got, topic.Title+": "+row[0]+", "+row[1])
		}
	}
	assert.DeepEqual(t, got, []string{"Speed: Chat w, 1 user", "Speed: Chat w not streamed, 1 user", "Speed: Serve v, 1 user", "Speed: Serve v stages=1..4_2s, 4 users at most",
		"Capacity: Sweep w, 1 user", "The harness: Error tokens=spread, 1 user", "The harness: HTTP tokens=spread http=2, 1 user"})
	// A page of one run has only records.
	control := strings.ReplaceAll(recorded(2, 5, "ok"), "BenchmarkServe/concurrency=2", "BenchmarkChat/asked-once")
	topics := Topics(systems.Groups(dataOf(t, recorded(2, 5, "ok"), control).Rows, nil))
	assert.Assert(t, len(topics) == 1 && len(topics[0].Table.Rows) == 1, "%v", topics)
	both := dataOf(t, text, recorded(2, 5, "ok"))
	for _, topic := range Topics(systems.Groups(both.Rows, nil)) {
		assert.Assert(t, !strings.Contains(fmt.Sprint(topic.Table.Rows), "2 users"), "%s", topic.Table.Rows)
	}
}

// TestLoadAxis checks that a rate has a unit, and that a number of users has none.
func TestLoadAxis(t *testing.T) {
	for load, unit := range map[string]string{"rate": "req/s", "qps": "req/s", "concurrency": "", "streams": ""} {
		assert.Equal(t, loadAxis(load, nil).Unit, unit, load)
	}
}

// TestVersus checks that the values of systems are divided by one system's values at the same load.
func TestVersus(t *testing.T) {
	text := "BenchmarkServe/backend=a/concurrency=1 1 100 output-tok/s 10 p50-ttft-ns\nBenchmarkServe/backend=a/concurrency=2 1 200 output-tok/s 20 p50-ttft-ns\n" +
		"BenchmarkServe/backend=b/concurrency=1 1 50 output-tok/s 10 p50-ttft-ns\nBenchmarkServe/backend=b/concurrency=2 1 400 output-tok/s 90 p50-ttft-ns\nBenchmarkServe/backend=b/concurrency=4 1 1 output-tok/s\n"
	p := Versus(systems.Groups(dataOf(t, text).Rows, nil)[0])
	assert.Equal(t, len(p.panels), 2)
	assert.DeepEqual(t, p.panels[0].Series[1].Points, []chart.Point{chart.At(1, 0.5), chart.At(2, 2)})
	assert.Equal(t, p.panels[0].Y.Log, false)
	assert.Equal(t, p.panels[1].Y.Log, true)
	assert.DeepEqual(t, p.Table.Rows, [][]string{{"a", "1", "1", "1"}, {"a", "2", "1", "1"}, {"b", "1", "0.5", "1"}, {"b", "2", "2", "4.5"}})
	assert.Assert(t, Versus(systems.Groups(dataOf(t, strings.ReplaceAll(text, "backend=b", "backend=a")).Rows, nil)[0]) == nil)
}

// TestOverlaid checks that each panel shows the systems at one load.
func TestOverlaid(t *testing.T) {
	var texts []string
	for _, backend := range []string{"a", "b"} {
		for _, c := range []int{2, 16} {
			texts = append(texts, strings.Replace(recorded(c, 200, "ok"), "Serve/", "Serve/backend="+backend+"/", 1))
		}
	}
	all := Overlaid(systems.Groups(dataOf(t, texts...).Rows, nil)[0], nil)
	assert.Equal(t, len(all), 2)
	for _, p := range all {
		assert.Equal(t, len(p.panels), 2)
		for i, title := range []string{"concurrency 2", "concurrency 16"} {
			assert.Equal(t, p.panels[i].Title, title)
			assert.Equal(t, p.panels[i].Series[0].Name+p.panels[i].Series[1].Name, "ab")
		}
	}
	assert.Equal(t, len(Overlaid(systems.Groups(dataOf(t, texts[:2]...).Rows, nil)[0], nil)), 0)
}

// TestStanding checks the bars of systems with a single load. If the picture over the load shows
// the systems, there must be no bars.
func TestStanding(t *testing.T) {
	text := "BenchmarkServe/backend=a/concurrency=4 1 100 output-tok/s\nBenchmarkServe/backend=b/concurrency=4 1 50 output-tok/s\nBenchmarkServe/backend=b/concurrency=8 1 400 output-tok/s\n"
	g := systems.Groups(dataOf(t, text).Rows, nil)[0]
	p := Standing(g, g.Systems, []string{"tok/s", "output-tok/s"})
	assert.DeepEqual(t, p.panels[0].Lanes, []string{"a", "b"})
	assert.Equal(t, p.panels[0].Series[0].Points[1].Value, 50.0)
	assert.Assert(t, strings.Contains(p.Caption, "at concurrency 4"), p.Caption)
	g = systems.Groups(dataOf(t, text+"BenchmarkServe/backend=a/concurrency=8 1 9 output-tok/s\n").Rows, nil)[0]
	assert.Assert(t, Standing(g, g.Systems, []string{"output-tok/s"}) == nil)
}

// TestPairCaption checks what the caption says about the brackets.
func TestPairCaption(t *testing.T) {
	// runs returns a system at 1 and at 8 users, with so many runs at each.
	runs := func(name string, at ...int) (text string) {
		for i, n := range at {
			for run := range n {
				text += fmt.Sprintf("BenchmarkServe/backend=%s/concurrency=%d 1 %d output-tok/s\n", name, 1+7*i, 100+run)
			}
		}
		return text
	}
	const confident, all = "with 95 % confidence", "ratios of all pairs of runs"
	for _, c := range []struct {
		text      string
		want, not []string
	}{
		{runs("a", 4, 4) + runs("b", 4, 4), []string{confident}, []string{all, "four runs"}},
		{runs("a", 3, 3) + runs("b", 3, 3), []string{all, "four of each suffice"}, []string{confident}},
		{runs("a", 4, 4) + runs("b", 4, 3), []string{confident, "Where too few runs have a sound figure, they hold the " + all}, nil},
		{runs("a", 1, 1) + runs("b", 1, 1), nil, []string{"Brackets"}},
	} {
		g := systems.Groups(dataOf(t, c.text).Rows, systems.DefaultParts)[0]
		_, caption := Pair(g, g.Systems[0], g.Systems[1], []string{"output-tok/s"}, true)
		for _, want := range c.want {
			assert.Assert(t, strings.Contains(caption, want), caption)
		}
		for _, not := range c.not {
			assert.Assert(t, !strings.Contains(caption, not), caption)
		}
	}
}

// TestPairLeads checks who leads in the rows of the table of two systems: nobody where they are about equal or where a
// figure is in doubt. A smaller TTFT and a smaller price lead.
func TestPairLeads(t *testing.T) {
	text := ""
	for i, speeds := range [][2]int{{100, 90}, {100, 101}, {100, 300}, {500, 100}} {
		for at, backend := range []string{"a", "b"} {
			text += fmt.Sprintf("BenchmarkServe/backend=%s/concurrency=%d 1 %d output-tok/s %d p50-ttft-ns %d price/Mtok\n", backend, i+1, speeds[at], 10-at, 5+at)
		}
	}
	text += "--- BENCH: BenchmarkServe/backend=a/concurrency=4\n    run.go:1: llmbench warns (client: output-tok/s): the client may distort these figures by more than 5%\n"
	g := systems.Groups(dataOf(t, text).Rows, systems.DefaultParts)[0]
	table, _ := Pair(g, g.Systems[0], g.Systems[1], []string{"output-tok/s"}, true)
	assert.DeepEqual(t, table.Head, []string{"users", "tok/s, a", "tok/s, b", "ratio", "TTFT ns, a", "TTFT ns, b", "price, a", "price, b"})
	assert.DeepEqual(t, table.Systems, []int{0, 1, 2, 0, 1, 2, 1, 2})
	assert.DeepEqual(t, table.Leads, [][]int{{1, 1, 0, 0, 0, 2, 1, 0}, {0, 0, 0, 0, 0, 2, 1, 0}, {2, 0, 2, 0, 0, 2, 1, 0}, {0, 0, 0, 0, 0, 2, 0, 0}})
	assert.DeepEqual(t, Ranks(g, "concurrency", []string{"output-tok/s"}).Leads, [][]int{{1, 1, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {2, 2, 0, 0, 0, 0}})
	kept := table.Trimmed()
	assert.DeepEqual(t, kept.Leads, table.Leads)
}

// TestFrontier checks that two loads are enough for the curve, that its points carry the number of users, and that there
// is one of the price if prices are known.
func TestFrontier(t *testing.T) {
	text := "BenchmarkServe/concurrency=1 1 100 output-tok/s 10000000 mean-tpot-ns\nBenchmarkServe/concurrency=8 1 400 output-tok/s 20000000 mean-tpot-ns\n"
	g := systems.Groups(dataOf(t, text).Rows, nil)[0]
	slo := systems.SLOOf(g.Rows)
	p := Frontier(g, slo)
	points := p.panels[0].Series[0].Points
	assert.Equal(t, points[0].X, 100.0)
	assert.Equal(t, points[1].X, 50.0)
	assert.Equal(t, points[1].Value, 400.0)
	assert.Equal(t, points[0].Label+" "+points[1].Label, "1 8")
	assert.Equal(t, p.panels[0].X.Label+", "+p.panels[0].Y.Label, "one user, all users")
	assert.Assert(t, Prices(g, slo) == nil)
	for _, r := range g.Rows {
		r.Price(3.6)
	}
	assert.Equal(t, Prices(g, slo).panels[0].Series[0].Points[1].Value, 2.5)
	withheld := text + "BenchmarkServe/concurrency=16 1 500 output-tok/s 40 user-tok/s\n--- BENCH: BenchmarkServe/concurrency=16\n    run.go:1: llmbench warns (client: mean-tpot-ns): mean-tpot-ns is withheld\n"
	p = Frontier(systems.Groups(dataOf(t, withheld).Rows, nil)[0], slo)
	assert.Equal(t, len(p.panels[0].Series[0].Points), 2)
	assert.Assert(t, strings.Contains(p.Caption, "withheld: 16 users."), p.Caption)
	assert.Assert(t, Frontier(systems.Groups(dataOf(t, "BenchmarkServe/concurrency=1 1 100 output-tok/s 1 mean-tpot-ns\n").Rows, nil)[0], slo) == nil)
}

// TestBudgetCaption checks that the caption names only what was measured: a real server has no log to compare with.
func TestBudgetCaption(t *testing.T) {
	for units, want := range map[string]string{
		"9 p99-read-lag-ns":                                  "how late the client read what had arrived",
		"9 p99-lag-ns 9 p99-read-lag-ns":                     "how late requests were sent and how late the client read what had arrived",
		"9 p99-ttft-err-ns 9 p99-lag-ns 1 p99-read-lag-ns":   "their error against the mock server's own log, how late requests were sent and how late the client read what had arrived",
		"1 req/s 3 client-err-% 9 p99-ttft-err-ns 2 other-u": "their error against the mock server's own log",
	} {
		p := Budget(dataOf(t, "BenchmarkServe/backend=url/concurrency=1 1 "+units+"\n").Rows)
		assert.Equal(t, p.Caption, "The part of the latencies that the client causes: "+want+".")
	}
}

// TestLoadsOfZero checks that a table of loads has a column of requests within the SLO although there are none, and no column
// of failures if there are none.
func TestLoadsOfZero(t *testing.T) {
	rows := dataOf(t, "BenchmarkA/concurrency=1 1 10 output-tok/s 0 good-req/s 0 fail-%\nBenchmarkA/concurrency=2 1 15 output-tok/s 0 good-req/s 0 fail-%\nPASS\n").Rows
	assert.DeepEqual(t, Loads(&systems.System{Load: "concurrency", Rows: rows}).Head, []string{"users", "output (tok/s)", "within the SLO (req/s)"})
}
