package history

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

func (p *project) overview(t testing.TB) *Overview {
	t.Helper()
	runs := p.runs(t)
	o, err := p.reader.Overview(runs, defaults, dayAfter(runs))
	assert.NilError(t, err)
	return o
}

// dayAfter returns the day after the newest run.
func dayAfter(runs []*Run) time.Time { return runs[len(runs)-1].Time.AddDate(0, 0, 1) }

// changed is a history with an improvement long ago, a new baseline, and a change for the worse in the week of the newest run.
func changed() *project {
	return &project{nights: 60, rows: 3, noise: 0.01, step: func(night, row int) float64 {
		switch {
		case row == 1 && night >= 54:
			return 0.06
		case row == 0 && night >= 20:
			return -0.06
		}
		return 0
	}, edit: func(night int, lines []string) []string {
		if night >= 40 {
			lines[2] = strings.Replace(lines[2], "BenchmarkServing", "gpu: H200\nBenchmarkServing", 1)
		}
		return lines
	}}
}

var pageOptions = PageOptions{Title: "serving <nightly>", Commits: "https://example.com/commit/{commit}"}

func TestOverviewText(t *testing.T) {
	var b strings.Builder
	assert.NilError(t, changed().overview(t).Text(&b))
	golden.Assert(t, b.String(), "overview.text")
}

// TestOverviewAgreesWithCheck checks that the overview of the newest run says what Check says, and that no change
// is lost or drawn in a wrong place.
func TestOverviewAgreesWithCheck(t *testing.T) {
	p := changed()
	o, r := p.overview(t), p.check(t)
	assert.DeepEqual(t, o.report.Summary, r.Summary)
	worse, better, baselines := 0, 0, 0
	for i := range o.panels {
		panel := &o.panels[i]
		assert.Equal(t, len(panel.points), 60)
		assert.Equal(t, panel.levels[0].from, 0)
		assert.Equal(t, panel.levels[len(panel.levels)-1].to, 60)
		for _, s := range panel.shifts {
			switch {
			case s.worse:
				worse++
				assert.Assert(t, strings.Contains(panel.Benchmark, "concurrency=2-") && s.begins >= 52 && s.begins <= 56, "%s %+v", panel.Benchmark, s)
			default:
				better++
				assert.Assert(t, strings.Contains(panel.Benchmark, "concurrency=1-") && s.begins >= 18 && s.begins <= 22, "%s %+v", panel.Benchmark, s)
			}
		}
		for _, x := range panel.points {
			if x.baseline {
				baselines++
				assert.Equal(t, x.night, 40)
			}
		}
	}
	assert.Equal(t, worse, 2)
	assert.Equal(t, better, 2)
	assert.Equal(t, baselines, 3)
	assert.Equal(t, len(o.recent()), 0) // what changed is open
}

// TestOverviewHTML parses the page.
func TestOverviewHTML(t *testing.T) {
	var b strings.Builder
	o := changed().overview(t)
	assert.NilError(t, o.HTML(&b, pageOptions))
	doc, err := html.Parse(strings.NewReader(b.String()))
	assert.NilError(t, err)
	figures, links, ids := 0, 0, map[string]bool{}
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			switch {
			case a.Key == "id":
				assert.Assert(t, !ids[a.Val], a.Val)
				ids[a.Val] = true
			case a.Key == "data-points":
				figures++
				var points [][5]any
				assert.NilError(t, json.Unmarshal([]byte(a.Val), &points))
				assert.Equal(t, len(points), 60)
			case a.Key == "href" && strings.HasPrefix(a.Val, "https://example.com/commit/"):
				links++
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
			case a.Key == "href":
				assert.Equal(t, a.Val, "data:,")
			}
		}
	}
	assert.Equal(t, figures, 9)
	assert.Assert(t, links > 3)
	assert.Assert(t, strings.Contains(b.String(), "<title>serving &lt;nightly&gt;</title>"))
	assert.Assert(t, !regexp.MustCompile(`NaN|Inf\b|ZgotmplZ`).MatchString(b.String()))
	if path := os.Getenv("LLMBENCH_HISTORY_PAGE"); path != "" { // to look at it
		assert.NilError(t, os.WriteFile(path, []byte(b.String()), 0o666))
	}
}

// TestLargeOverview writes a page with 10,000 points of equal values.
func TestLargeOverview(t *testing.T) {
	p := &project{nights: 1112, rows: 3}
	var b strings.Builder
	assert.NilError(t, p.overview(t).HTML(&b, PageOptions{Title: "large"}))
	assert.Assert(t, b.Len() < 2e6, "%d bytes", b.Len())
	assert.Assert(t, strings.Contains(b.String(), "No change for the worse is open. Nothing changed in the last 7 days."))
}

// TestOneRun shows a history that has just begun.
func TestOneRun(t *testing.T) {
	o := (&project{nights: 1, rows: 1}).overview(t)
	var b strings.Builder
	assert.NilError(t, o.Text(&b))
	assert.NilError(t, o.HTML(&b, PageOptions{}))
	assert.NilError(t, o.Atom(&b, PageOptions{}))
	assert.Assert(t, strings.Contains(b.String(), "1 new baseline"), b.String())
}

func TestAtom(t *testing.T) {
	p := changed()
	runs := p.runs(t)
	feed := func(runs []*Run) atomFeed {
		o, err := p.reader.Overview(runs, defaults, dayAfter(runs))
		assert.NilError(t, err)
		var b strings.Builder
		assert.NilError(t, o.Atom(&b, pageOptions))
		var f atomFeed
		assert.NilError(t, xml.Unmarshal([]byte(b.String()), &f))
		return f
	}
	f := feed(runs)
	assert.Equal(t, f.Title, pageOptions.Title)
	assert.Equal(t, len(f.Entries), 1)
	entry := f.Entries[0]
	assert.Assert(t, strings.HasPrefix(entry.Title, "worse: output tokens per second at 2 users -") && strings.HasSuffix(entry.Title, " and 1 more series since "+strings.Repeat("37", 6)), entry.Title)
	assert.Assert(t, strings.Contains(entry.Content.Text, "after commit ") && strings.HasSuffix(entry.Content.Text, "\nall series: serving.Serving\n"), entry.Content.Text)
	assert.Assert(t, strings.HasPrefix(entry.Link.Href, "https://example.com/commit/"), entry.Link.Href)
	for _, text := range []string{f.Updated, entry.Updated} {
		_, err := time.Parse(time.RFC3339, text)
		assert.NilError(t, err)
	}
	// The feed keeps its identifier, whatever the links are and when runs are added.
	for _, commits := range []string{"", "https://example.org/{commit}"} {
		o, err := p.reader.Overview(runs[:30], defaults, dayAfter(runs[:30]))
		assert.NilError(t, err)
		var b strings.Builder
		assert.NilError(t, o.Atom(&b, PageOptions{Title: pageOptions.Title, Commits: commits}))
		var other atomFeed
		assert.NilError(t, xml.Unmarshal([]byte(b.String()), &other))
		assert.Equal(t, other.ID, f.ID)
	}
	// The entry keeps its identifier when runs are added.
	before := feed(runs[:59])
	assert.Equal(t, len(before.Entries), 1)
	assert.Equal(t, before.Entries[0].ID, entry.ID)
	assert.Assert(t, regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(entry.ID), entry.ID)
}

// TestOverviewOfWrongClocks checks that the week is the one before the newest run, whatever some commit's date is.
func TestOverviewOfWrongClocks(t *testing.T) {
	p := changed()
	p.about = func(night int, a *About) {
		if night == 30 {
			a.Time = a.Time.AddDate(5, 0, 0)
		}
	}
	var dated []*Run
	for i, run := range p.runs(t) {
		run.Date = time.Date(2026, 1, 1+i, 3, 0, 0, 0, time.UTC).Format(time.RFC3339)
		dated = append(dated, run)
	}
	dated = inOrder(dated, dated[59].Time.AddDate(0, 0, 1))
	o, err := p.reader.Overview(dated, defaults, time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC))
	assert.NilError(t, err)
	assert.Equal(t, o.headline(), "1 change for the worse is open. Nothing else changed in the last 7 days.")
}

// TestOverviewOfOldRuns checks that the last week is the week before the present, in which nothing may have run.
func TestOverviewOfOldRuns(t *testing.T) {
	p := changed()
	runs := p.runs(t)
	for days, want := range map[int]string{
		3:  "Nothing else changed in the last 7 days.",
		6:  "Nothing changed in the last 7 days.", // the change was found on February 26
		20: "No run in the last 7 days: the newest is of 2026-03-01.",
	} {
		o, err := p.reader.Overview(runs, defaults, runs[59].Time.AddDate(0, 0, days))
		assert.NilError(t, err)
		assert.Equal(t, o.headline(), "1 change for the worse is open. "+want)
	}
}

// TestAcceptedChange checks that a change is on top until its run or a later one is accepted.
func TestAcceptedChange(t *testing.T) {
	p := changed()
	runs := p.runs(t)
	o, err := p.reader.Overview(runs, defaults, dayAfter(runs))
	assert.NilError(t, err)
	assert.Equal(t, len(o.open), 1)
	accept := o.open[0].Bad.Run
	for i, want := range []bool{true, true, false} {
		assert.Equal(t, o.panels[i].open, want, o.panels[i].Series.text())
	}
	for _, run := range runs {
		run.Accepted = run.Name == accept
	}
	o, err = p.reader.Overview(runs, defaults, dayAfter(runs))
	assert.NilError(t, err)
	assert.Equal(t, len(o.open), 0)
	assert.Assert(t, strings.HasPrefix(o.headline(), "No change for the worse is open."), o.headline())
}

// TestNumericOrder checks that loads are in the order of their size.
func TestNumericOrder(t *testing.T) {
	o := (&project{nights: 3, rows: 12}).overview(t)
	var got []string
	for i := 0; i < len(o.panels); i += 3 {
		got = append(got, o.names.Benchmark(o.panels[i].benchmark))
	}
	assert.DeepEqual(t, got, []string{"1 user", "2 users", "3 users", "4 users", "5 users", "6 users", "7 users", "8 users", "9 users", "10 users", "11 users", "12 users"})
}

func TestDatesOf(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	of := func(made, ran int) dates { // the days from one commit to the next, and from one run to the next
		var runs []*Run
		for i := range 30 {
			runs = append(runs, &Run{About: About{Time: start.AddDate(0, 0, i*made)}, Date: start.AddDate(0, 2, 1+i*ran).Format(time.RFC3339)})
		}
		return datesOf(runs, start.AddDate(1, 0, 0))
	}
	nightly, same, old := of(1, 1), of(0, 1), of(1, 0)
	assert.Equal(t, nightly.day(29), "2026-03-31")
	assert.Equal(t, same.day(29), "2026-03-31")
	assert.Equal(t, old.day(29), "2026-01-30") // old commits were measured on one day
	assert.Equal(t, old.found(29), "2026-03-02")
}

// TestOverviewOfMachines checks that each machine has its own panels, and that the newest run of each is judged.
func TestOverviewOfMachines(t *testing.T) {
	p := &project{nights: 100, rows: 2, noise: 0.01, step: slower(80, 0.2, 1)}
	p.about = func(night int, a *About) { a.Machine = string(rune('a' + night%2)) }
	o := p.overview(t)
	assert.Equal(t, len(o.panels), 12)
	for i := range o.panels {
		panel := &o.panels[i]
		assert.Equal(t, len(panel.points), 50)
		for _, x := range panel.points {
			assert.Equal(t, o.runs[x.night].Machine, panel.machine)
		}
		for _, s := range panel.shifts {
			assert.Assert(t, math.Abs(s.change) < 0.05 || s.begins >= 78 && s.begins <= 84, "%+v", s)
		}
	}
	assert.Assert(t, strings.Contains(o.report.Summary, `nothing on machine "b"`) && strings.Contains(o.report.Summary, `nothing on machine "a"`), o.report.Summary)
	runs := p.runs(t)
	causes, err := p.reader.Changes(runs, defaults)
	assert.NilError(t, err)
	var b strings.Builder
	assert.NilError(t, WriteChanges(&b, causes))
	assert.Assert(t, strings.HasPrefix(b.String(), "all series: serving.Serving\non machine \"a\":\nafter commit") && strings.Contains(b.String(), "\non machine \"b\":\nafter commit"), b.String())
}

// BenchmarkOverview makes a page of 1,000 runs with 200 series.
func BenchmarkOverview(b *testing.B) {
	p := project{nights: 1000, rows: 67, noise: 0.02}
	runs := p.runs(b)
	b.ReportAllocs()
	for b.Loop() {
		o, err := p.reader.Overview(runs, defaults, dayAfter(runs))
		assert.NilError(b, err)
		f, err := os.Create(filepath.Join(b.TempDir(), "page.html"))
		assert.NilError(b, err)
		assert.NilError(b, o.HTML(f, PageOptions{Title: fmt.Sprint(b.N)}))
		assert.NilError(b, f.Close())
	}
}
