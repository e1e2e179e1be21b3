package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history"
)

// A night is one run of a simulated history: 7 benchmarks with 2 units, with a noise of 1 %.
type night struct {
	machine string    // "a" if it is ""
	commit  string    // a new one if it is ""
	made    time.Time // the commit time; three hours before the run if it is zero
	ran     time.Time // what the clock of the machine says; a day after the machine's last run if it is zero
	date    string    // written instead of ran
	slow    float64   // the share by which the benchmarks of rows are slower
	rows    []int     // nil means all
	edit    func(text string) string
}

// A nightly adds nights to a history and checks it.
type nightly struct {
	*testing.T
	dir  string
	last map[string]time.Time
	n    int
	rng  *rand.Rand
}

func newNightly(t *testing.T) *nightly {
	return &nightly{T: t, dir: t.TempDir(), last: map[string]time.Time{}, rng: rand.New(rand.NewPCG(7, 7))}
}

// results returns the results of a night.
func (h *nightly) results(n night, rows ...int) string {
	var b strings.Builder
	b.WriteString("Unit ns/op better=lower gate=5%\nUnit p50-ttft-ns better=lower gate=5%\npkg: example.com/serving\n")
	for _, row := range rows {
		slow := 1.0
		if n.rows == nil || slices.Contains(n.rows, row) {
			slow += n.slow
		}
		draw := func(v float64) float64 { return v * slow * (1 + 0.01*h.rng.NormFloat64()) }
		fmt.Fprintf(&b, "BenchmarkServing/n=%d 1 %.0f ns/op %.0f p50-ttft-ns\n", row, draw(1e6*float64(row)), draw(3e7))
	}
	if n.edit != nil {
		return n.edit(b.String())
	}
	return b.String()
}

// add adds a night and returns the name of its run.
func (h *nightly) add(n night) string {
	h.Helper()
	h.n++
	if n.machine == "" {
		n.machine = "a"
	}
	if n.ran.IsZero() {
		before, ok := h.last[n.machine]
		if !ok {
			before = time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
		}
		n.ran = before.Add(24 * time.Hour)
		h.last[n.machine] = n.ran
	}
	if n.commit == "" {
		n.commit = fmt.Sprintf("%03x%037x", 0xa00+h.n, h.n)
	}
	if n.made.IsZero() {
		n.made = n.ran.Add(-3 * time.Hour)
	}
	text := h.results(n, 1, 2, 3, 4, 5, 6, 7)
	if n.date != "" {
		text = "date: " + n.date + "\n" + text
	}
	name, err := history.Dir(h.dir).Add([]byte(text), history.About{Commit: n.commit, Time: n.made, Machine: n.machine}, n.ran)
	assert.NilError(h, err)
	return name
}

// healthy adds nights without a change.
func (h *nightly) healthy(nights int, machines ...string) (last string) {
	h.Helper()
	for range nights {
		for _, m := range append([]string{}, machines...) {
			last = h.add(night{machine: m})
		}
	}
	return last
}

// check checks the history and returns the exit status, the last line and the whole output.
func (h *nightly) check(args ...string) (status int, line, whole string) {
	h.Helper()
	status, stdout, stderr := benchgateHistory("", append([]string{"check", "-dir", h.dir}, args...)...)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	return status, lines[len(lines)-1], stdout + stderr
}

// expect checks the history, and checks the exit status, that the last line begins with begin, and that the output has texts.
func (h *nightly) expect(status int, begin string, texts ...string) {
	h.Helper()
	h.expectOf(nil, status, begin, texts...)
}

func (h *nightly) expectOf(args []string, status int, begin string, texts ...string) {
	h.Helper()
	got, line, whole := h.check(args...)
	assert.Assert(h, got == status && strings.HasPrefix(line, begin), "status %d, want %d: %q\n%s", got, status, begin, whole)
	for _, text := range texts {
		assert.Assert(h, strings.Contains(whole, text), "want %q\n%s", text, whole)
	}
}

const quiet = "nothing: 14 series in line with what came before"

// found adds up to ten nights, checks after each, and returns the number of the night with an alarm. Each night before
// must have status 2.
func (h *nightly) found(n func(i int) night) int {
	h.Helper()
	for i := range 10 {
		name := h.add(n(i))
		status, line, whole := h.check()
		assert.Assert(h, strings.Contains(whole, "run: "+name), "the newest run is not judged:\n%s", whole)
		if status == 1 {
			return i + 1
		}
		assert.Equal(h, status, 2, "night %d: %s", i, line)
	}
	h.Fatal("no alarm")
	return 0
}

// TestHistoryClocks checks that a run is judged whatever the clocks say, and that what they say is told.
func TestHistoryClocks(t *testing.T) {
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		made, ran time.Duration // how wrong the clocks of one night are
		told      string
	}{
		"commit in 2031":                  {made: 5 * 365 * day, told: "a clock is wrong"},
		"commit a year ahead":             {made: 365 * day, told: "a clock is wrong"},
		"commit an hour ahead of the run": {made: 4 * time.Hour, told: "a clock is wrong"},
		"commit a year behind":            {made: -365 * day, told: "is older than commit"},
		"commit of 2001":                  {made: -25 * 365 * day, told: "is older than commit"},
		"author date of three weeks ago":  {made: -21 * day, told: "is older than commit"},
		"machine an hour ahead":           {ran: time.Hour},
		"machine two years ahead":         {ran: 730 * day, told: "the clock of the machine is wrong"},
		"machine an hour behind":          {ran: -time.Hour},
		"machine four hours behind":       {ran: -4 * time.Hour, told: "a clock is wrong"},
		"machine a year behind":           {ran: -365 * day, told: "a clock is wrong"},
		"machine in 1970":                 {ran: -56 * 365 * day, told: "a clock is wrong"},
		"both two years ahead":            {made: 730 * day, ran: 730 * day, told: "the clock of the machine is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := func(h *nightly, slow float64) night {
				ran := h.last["a"].Add(day)
				h.last["a"] = ran
				return night{made: ran.Add(-3*time.Hour + c.made), ran: ran.Add(c.ran), slow: slow, rows: []int{2}}
			}
			// A healthy night with wrong clocks is judged and told, and later nights are judged.
			h := newNightly(t)
			h.healthy(40, "a")
			run := h.add(wrong(h, 0))
			h.expectOf([]string{"-run=" + run}, 0, quiet, "run: "+run, c.told)
			if c.told == "" {
				_, _, whole := h.check("-run=" + run)
				assert.Assert(t, !strings.Contains(whole, "out of order"), whole)
			}
			if c.ran > day && c.made > day { // nobody knows where the run belongs
				h.healthy(1, "a")
				h.expect(2, "cannot judge: not sound: run "+run+", which is in the future, as its commit is")
				h.ack(run)
			}
			nights := h.found(func(int) night { return night{slow: 0.5, rows: []int{2}} })
			assert.Assert(t, nights <= 3, "%d", nights)

			// Slow nights with wrong clocks raise an alarm when the run is named, as nightly.sh does.
			h = newNightly(t)
			h.healthy(40, "a")
			for i := range 4 {
				if i == 3 && c.ran > day && c.made > day {
					break // each of them is out of line, and nobody knows which of them came first
				}
				run := h.add(wrong(h, 0.5))
				status, line, whole := h.check("-run=" + run)
				assert.Assert(t, status > 0, line)
				assert.Assert(t, strings.Contains(whole, "run: "+run), whole)
				if status == 1 {
					break
				}
				assert.Assert(t, i < 3, "no alarm: %s", whole)
			}
		})
	}
}

// TestHistoryCommits checks nights whose commits are in no order of time.
func TestHistoryCommits(t *testing.T) {
	t.Run("two machines measure the same commit", func(t *testing.T) {
		h := newNightly(t)
		h.healthy(42, "a", "b")
		alarm := 0
		for i := range 10 {
			commit := fmt.Sprintf("%03x%037x", 0xf00+i, i)
			made := h.last["a"].Add(20 * time.Hour)
			a := h.add(night{commit: commit, made: made, slow: 0.5, rows: []int{2}})
			b := h.add(night{commit: commit, made: made, machine: "b"})
			h.expectOf([]string{"-run=" + b}, 0, quiet, "run: "+b)
			status, _, _ := h.check()
			switch {
			case i == 0:
				h.expect(2, `cannot judge on machine "a": 2 series out of line, to be rerun; nothing on machine "b": 14 series`)
				h.expectOf([]string{"-run=" + a}, 2, "cannot judge: 2 series out of line")
			case alarm == 0 && status == 1:
				alarm = i
				h.expect(1, `alarm on machine "a": `, "Serving/n=2 ns/op ", " since f")
			case alarm == 0:
				h.expect(2, `cannot judge on machine "a": 2 series out of line`)
			default:
				h.expect(0, `nothing on machine "b"`, "; still open: ", "Serving/n=2 ns/op ")
			}
		}
		assert.Assert(t, alarm > 0 && alarm <= 3, "%d", alarm)
	})
	t.Run("an old commit again", func(t *testing.T) {
		h := newNightly(t)
		old := strings.Repeat("0c", 20)
		h.healthy(10, "a")
		made := h.last["a"]
		h.add(night{commit: old, made: made})
		h.healthy(29, "a")
		h.add(night{commit: old, made: made})
		h.expect(0, quiet, "out of order\n  commit 0c0c0c0c0c0c of 2026-03-11 02:00 UTC was measured before commit")
		h.healthy(1, "a")
		h.expect(0, quiet)
		run := h.add(night{commit: old, made: made, ran: h.last["a"].Add(time.Hour)}) // an hour after the night
		h.expect(0, quiet, "run: "+run, "was measured before commit")
		h.healthy(1, "a")

		// If the old commit is slower, that is told, and is no baseline for the next night.
		h.add(night{commit: old, made: made, slow: 0.5, rows: []int{2}})
		h.expect(2, "cannot judge: 2 series out of line", "was measured before commit")
		h.healthy(1, "a")
		h.expect(0, quiet)
		// But it becomes the baseline if the machine stays with it.
		nights := h.found(func(int) night { return night{commit: old, made: made, slow: 0.5, rows: []int{2}} })
		assert.Assert(t, nights <= 4, "%d", nights)
	})
	t.Run("one commit for many nights", func(t *testing.T) {
		h := newNightly(t)
		made := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
		for range 40 {
			h.add(night{commit: "c1", made: made})
		}
		h.expect(0, quiet)
		_, _, whole := h.check()
		assert.Assert(t, !strings.Contains(whole, "out of order"), whole)
		assert.Assert(t, h.found(func(int) night { return night{commit: "c1", made: made, slow: 0.5, rows: []int{2}} }) <= 3)
	})
	t.Run("one commit twice in a night", func(t *testing.T) {
		h := newNightly(t)
		h.healthy(40, "a")
		made := h.last["a"].Add(20 * time.Hour)
		h.add(night{commit: "c1", made: made})
		run := h.add(night{commit: "c1", made: made, ran: h.last["a"].Add(time.Hour), slow: 0.5, rows: []int{2}})
		h.expect(2, "cannot judge: 2 series out of line", "run: "+run)
	})
	t.Run("rebased commits", func(t *testing.T) {
		h := newNightly(t)
		h.healthy(40, "a")
		for range 3 { // new hashes of old changes, committed now
			h.healthy(1, "a")
			h.expect(0, quiet)
		}
	})
	t.Run("old commits, the newest first", func(t *testing.T) {
		h := newNightly(t)
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range 30 {
			slow := 0.0
			if 29-i >= 20 {
				slow = 0.2
			}
			h.add(night{made: begin.AddDate(0, 0, 29-i), ran: begin.AddDate(0, 2, 0).Add(time.Duration(i) * time.Hour), slow: slow, rows: []int{2}})
		}
		status, stdout, stderr := benchgateHistory("", "changes", "-dir", h.dir)
		assert.Equal(t, status, 0, stderr)
		assert.Assert(t, strings.Contains(stdout, "of 2026-01-20, in commit") && strings.Contains(stdout, "of 2026-01-21 at the latest") && strings.Contains(stdout, "Serving/n=2 ns/op: +2"), stdout)
	})
	t.Run("zeros", func(t *testing.T) {
		_, err := history.Dir(t.TempDir()).Add([]byte("BenchmarkX 1 1 ns/op\n"), history.About{Commit: strings.Repeat("0", 40), Time: time.Now()}, time.Now())
		assert.ErrorContains(t, err, "commit: 0000000000000000000000000000000000000000: want the hash of a commit")
		// Older histories may have such commits.
		h := newNightly(t)
		h.healthy(40, "a")
		entries, err := os.ReadDir(h.dir)
		assert.NilError(t, err)
		for _, e := range entries {
			path := filepath.Join(h.dir, e.Name())
			text, err := os.ReadFile(path)
			assert.NilError(t, err)
			_, rest, _ := strings.Cut(string(text), "\n")
			assert.NilError(t, os.WriteFile(path, []byte("commit: "+strings.Repeat("0", 40)+"\n"+rest), 0o600))
		}
		h.expect(0, quiet, "git writes zeros where there is none")
	})
}

// TestHistoryMachines checks machines that come, go and rest.
func TestHistoryMachines(t *testing.T) {
	t.Run("missed nights", func(t *testing.T) {
		h := newNightly(t)
		h.healthy(20, "a", "b", "c")
		for i := range 20 {
			for j, m := range []string{"a", "b", "c"} {
				if (i+j)%3 == 0 {
					h.last[m] = h.last[m].Add(24 * time.Hour)
				} else {
					h.add(night{machine: m})
				}
			}
			status, line, _ := h.check()
			assert.Equal(t, status, 0, line)
		}
	})
	t.Run("a machine is renamed", func(t *testing.T) {
		h := newNightly(t)
		h.healthy(40, "a")
		h.last["b"] = h.last["a"]
		h.healthy(1, "b")
		h.expect(2, `cannot judge on machine "b": 14 series with too few earlier runs; nothing on machine "a"`, `the first run of machine "b"`)
		h.healthy(30, "b")
		h.expect(0, quiet, `machine "a": no run since 2026-04-10`)
		// The old name is no reason to overlook a change.
		assert.Assert(t, h.found(func(int) night { return night{machine: "b", slow: 0.5, rows: []int{2}} }) <= 3)
	})
	t.Run("a machine goes with a change", func(t *testing.T) {
		h := newNightly(t)
		h.healthy(40, "a", "b")
		h.found(func(int) night { return night{slow: 0.5, rows: []int{2}} })
		h.healthy(20, "b")
		h.expect(0, quiet, `machine "a": no run since 2026-04-`, "; it had ", " still open")
	})
	t.Run("time zones", func(t *testing.T) {
		// Ten minutes after midnight in one zone is before the run in another zone. As text the order is another one.
		h := newNightly(t)
		for i := range 40 {
			at := time.Date(2026, 3, 20+i, 10, 0, 0, 0, time.UTC) // also over the begin of summer time
			for j, zone := range []int{14, -11, 1, 2} {
				ran := at.Add(time.Duration(j) * time.Minute)
				h.add(night{commit: "c", made: at.AddDate(0, 0, -i-1), date: ran.In(time.FixedZone("", zone*3600)).Format(time.RFC3339), ran: ran})
			}
		}
		h.expect(0, quiet)
		newest := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
		text := newest.In(time.FixedZone("", -11*3600)).Format(time.RFC3339) // 2026-05-31T13:00:00-11:00
		h.add(night{commit: "c", made: newest.AddDate(0, -3, 0), date: newest.Add(-time.Hour).In(time.FixedZone("", 14*3600)).Format(time.RFC3339), ran: newest})
		run := h.add(night{commit: "c", made: newest.AddDate(0, -3, 0), date: text, ran: newest, slow: 0.5, rows: []int{2}})
		h.expect(2, "cannot judge: 2 series out of line", "run: "+run)
	})
	t.Run("dates of other tools have no zone", func(t *testing.T) {
		h := newNightly(t)
		for i := range 40 {
			ran := time.Date(2026, 3, 1+i, 2, 0, 0, 0, time.UTC)
			h.add(night{ran: ran, date: ran.Add(-9 * time.Hour).Format("2006-01-02T15:04:05")})
		}
		h.expect(0, quiet)
		_, _, whole := h.check()
		assert.Assert(t, !strings.Contains(whole, "out of order"), whole)
	})
	t.Run("another machine loses its margins", func(t *testing.T) {
		h := newNightly(t)
		h.healthy(40, "a", "b")
		h.add(night{machine: "b", edit: func(text string) string { return strings.ReplaceAll(text, " gate=5%", "") }})
		h.add(night{ran: h.last["b"].Add(time.Hour)})
		h.expect(2, `cannot judge on machine "b": no unit is gated: want a line such as`, `; nothing on machine "a": 14 series`)
	})
}

// TestHistoryMissing checks that what vanishes is as loud as what is worse, until it is accepted.
func TestHistoryMissing(t *testing.T) {
	without := func(old string) func(string) string {
		return func(text string) string {
			var kept []string
			for line := range strings.Lines(text) {
				if strings.Contains(line, "n=2 ") {
					if old == "" {
						continue
					}
					at := strings.Index(line, old) + len(old)
					line = strings.TrimSpace(line[:at]) + "\n"
				}
				kept = append(kept, line)
			}
			return strings.Join(kept, "")
		}
	}
	for name, c := range map[string]struct {
		edit       func(string) string
		line, told string
		after      string // the last line when the run is accepted
		status     int
	}{
		"a figure":            {without("ns/op"), "cannot judge: missing in this run: serving.Serving/n=2 p50-ttft-ns", "missing, although earlier runs had it", "nothing: 13 series in line with what came before", 0},
		"a benchmark":         {without(""), "cannot judge: missing in this run: serving.Serving/n=2", "", "nothing: 12 series in line with what came before", 0},
		"a renamed benchmark": {func(s string) string { return strings.Replace(s, "Serving/n=2 ", "Serving/m=2 ", 1) }, "cannot judge: missing in this run: serving.Serving/n=2; 2 series with too few earlier runs", "", "nothing: 12 series in line with what came before: 2 series with too few earlier runs", 0},
		"a margin": {func(s string) string {
			return strings.Replace(s, "Unit p50-ttft-ns better=lower gate=5%", "Unit p50-ttft-ns better=lower", 1)
		}, "cannot judge: missing in this run: the margin of p50-ttft-ns, which run ", "", "nothing: 7 series in line with what came before", 0},
		"a Unit line": {func(s string) string { return strings.Replace(s, "Unit p50-ttft-ns better=lower gate=5%\n", "", 1) }, "cannot judge: missing in this run: the margin of p50-ttft-ns, which run ", "", "nothing: 7 series in line with what came before", 0},
		"a direction": {func(s string) string {
			return strings.Replace(s, "p50-ttft-ns better=lower", "p50-ttft-ns better=higher", 1)
		}, "cannot judge: missing in this run: better=lower of p50-ttft-ns, which run ", "", "nothing: 14 series in line with what came before", 0},
		"all figures of a row": {func(s string) string { return strings.Replace(without("")(s), "pkg:", "pkg:", 1) }, "cannot judge: missing in this run: serving.Serving/n=2", "", "nothing: 12 series", 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newNightly(t)
			h.healthy(40, "a")
			for range 3 { // also in the second and third night
				h.add(night{edit: c.edit})
				h.expect(2, c.line, c.told)
			}
			run := h.add(night{edit: c.edit})
			_, _, whole := h.check()
			assert.Assert(t, strings.Contains(whole, "  go tool benchgate history ack -dir "+h.dir+" "+run+"\n"), whole)
			h.ack(run)
			h.expect(c.status, c.after)
			h.add(night{edit: c.edit})
			h.expect(c.status, c.after)
			if name == "a direction" {
				return
			}
			// What comes back and vanishes again is missing again.
			h.healthy(1, "a")
			h.add(night{edit: c.edit})
			h.expect(2, c.line)
		})
	}
	t.Run("a benchmark of each seventh night", func(t *testing.T) {
		h := newNightly(t)
		weekly := func(i int) night {
			if i%7 == 0 {
				return night{}
			}
			return night{edit: without("")}
		}
		for i := range 56 {
			h.add(weekly(i))
		}
		for i := 56; i < 77; i++ {
			h.add(weekly(i))
			status, line, whole := h.check()
			assert.Equal(t, status, 0, "%d: %s\n%s", i, line, whole)
		}
		h.add(night{edit: without("")})
		h.expect(2, "cannot judge: missing in this run: serving.Serving/n=2")
	})
}

func (h *nightly) ack(run string) {
	h.Helper()
	status, stdout, stderr := benchgateHistory("", "ack", "-dir", h.dir, run)
	assert.Equal(h, status, 0, stderr)
	assert.Equal(h, stdout, "ack-"+run+"\n")
}

// TestHistoryKnownChange checks that a change stays in the last line until it is gone or accepted.
func TestHistoryKnownChange(t *testing.T) {
	slow := func(int) night { return night{slow: 0.3, rows: []int{2}} }
	const open = "; still open: "
	for name, end := range map[string]func(h *nightly){
		"accepted": func(h *nightly) {
			run := h.add(slow(0))
			h.ack(run)
			h.ack(run) // is no error
			_, line, _ := h.check()
			assert.Assert(h, !strings.Contains(line, "open"), line)
			for range 10 {
				h.add(slow(0))
			}
		},
		"gone": func(h *nightly) { h.healthy(10, "a") },
	} {
		t.Run(name, func(t *testing.T) {
			h := newNightly(t)
			h.healthy(40, "a")
			assert.Assert(t, h.found(slow) <= 3)
			for i := range 30 {
				h.add(slow(0))
				status, line, whole := h.check()
				assert.Assert(t, status == 0 && strings.HasPrefix(line, "nothing: 1") && strings.Contains(line, open) && strings.Contains(line, "Serving/n=2 ns/op "), "night %d: %s", i, line)
				assert.Assert(t, strings.Contains(whole, "\nknown: found in earlier runs, and still open\n"), whole)
			}
			end(h)
			h.expect(0, quiet)
			_, line, _ := h.check()
			assert.Equal(t, line, quiet)
		})
	}
	t.Run("partly gone", func(t *testing.T) {
		h := newNightly(t)
		h.healthy(40, "a")
		assert.Assert(t, h.found(slow) <= 3)
		for range 10 {
			h.add(slow(0))
		}
		for range 10 {
			h.add(night{slow: 0.15, rows: []int{2}})
		}
		h.expect(0, quiet+open, "Serving/n=2 ns/op ")
	})
	t.Run("an alarm is accepted at once", func(t *testing.T) {
		h := newNightly(t)
		h.healthy(40, "a")
		h.add(slow(0))
		run := h.add(slow(0))
		for status, _, _ := h.check(); status != 1; status, _, _ = h.check() {
			run = h.add(slow(0))
		}
		h.expect(1, "alarm: ", "go tool benchgate history ack -dir "+h.dir+" "+run)
		h.ack(run)
		status, line, _ := h.check()
		assert.Assert(t, status != 1 && !strings.Contains(line, "open"), line)
		// A later change is another one.
		for range 15 {
			h.add(slow(0))
		}
		assert.Assert(t, h.found(func(int) night { return night{slow: 0.7, rows: []int{2}} }) <= 3)
	})
	t.Run("the configuration changes", func(t *testing.T) { // a new baseline does not hide what was found
		h := newNightly(t)
		h.healthy(40, "a")
		assert.Assert(t, h.found(slow) <= 3)
		for range 10 {
			h.add(night{slow: 0.3, rows: []int{2}, edit: func(s string) string { return "driver: 2\n" + s }})
		}
		h.expect(0, quiet+open, "Serving/n=2 ns/op ")
	})
}

func TestHistoryAckErrors(t *testing.T) {
	h := newNightly(t)
	run := h.healthy(2, "a")
	rerun, err := history.Dir(h.dir).Add([]byte("BenchmarkX 1 1 ns/op\n"), history.About{Commit: "c", Time: h.last["a"], Machine: "a", RerunOf: run}, time.Now())
	assert.NilError(t, err)
	for want, args := range map[string][]string{
		"history ack: no run: want names of runs": {},
		`"x": want the name of a run`:             {"x"},
		"no such file":                            {strings.Replace(run, "2026", "2025", 1)},
		"a rerun cannot be accepted: want the run that it repeats, " + run: {rerun},
	} {
		status, _, stderr := benchgateHistory("", append([]string{"ack", "-dir", h.dir}, args...)...)
		assert.Equal(t, status, 2)
		assert.Assert(t, strings.Contains(stderr, want), stderr)
	}
	for _, name := range []string{"x", rerun} {
		status, _, stderr := benchgateHistory("", "check", "-dir", h.dir, "-run="+name)
		assert.Equal(t, status, 2)
		assert.Assert(t, strings.Contains(stderr, "run: \""+name+"\""), stderr)
	}
	h.ack(run)
	_, stdout, _ := benchgateHistory("", "log", "-dir", h.dir)
	assert.Assert(t, strings.Contains(stdout, "  accepted  "+run), stdout)
	_, stdout, _ = benchgateHistory("", "prune", "-dir", h.dir, "-keep=0")
	assert.Assert(t, strings.Contains(stdout, run+"\nack-"+run+"\n"), stdout)
	status, _, stderr := benchgateHistory(stdout, "prune", "-dir", h.dir, "-f", "-")
	assert.Equal(t, status, 0, stderr)
}

// TestHistoryAllSlow checks nights in which all series are slow.
func TestHistoryAllSlow(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("-rerun needs sh")
	}
	for name, c := range map[string]struct {
		again  float64 // how slow the reruns are
		before bool    // the machine was as slow in a night 20 nights before
		status int
		line   string
	}{
		"reruns confirm":                     {0.5, false, 1, "alarm: all series of the machine, for the worse +"},
		"reruns do not confirm":              {0, false, 0, quiet},
		"slow nights are usual":              {0.5, true, 2, "cannot judge: all series of the machine worse by about "},
		"slow nights are usual, not confirm": {0, true, 0, quiet},
	} {
		t.Run(name, func(t *testing.T) {
			h := newNightly(t)
			h.healthy(20, "a")
			if c.before {
				h.add(night{slow: 0.5})
			}
			h.healthy(20, "a")
			h.add(night{slow: 0.5})
			h.expect(2, "cannot judge: all series of the machine worse by about ", ", to be rerun\n", "\na slow run: taken out of each series\n", "; needs ", "rerun these, too")
			// The command of -rerun prints one of some prepared results.
			for i := range 20 {
				path := filepath.Join(t.TempDir(), "results")
				assert.NilError(t, os.WriteFile(path, []byte(h.results(night{slow: c.again}, 1, 2, 3, 4, 5, 6, 7)), 0o600))
				t.Setenv(fmt.Sprint("RESULTS", i), path)
			}
			t.Setenv("COUNT", filepath.Join(t.TempDir(), "count"))
			rerun := `echo >>"$COUNT"; eval "cat \$RESULTS$(wc -l <"$COUNT" | tr -d ' ')"`
			h.expectOf([]string{"-rerun=" + rerun}, c.status, c.line)
			h.expectOf(nil, c.status, c.line)
			// The next nights.
			if c.status == 1 {
				h.add(night{slow: 0.5})
				h.expect(0, quiet+"; still open: all series of the machine, for the worse +")
			}
			h.healthy(1, "a")
			if c.status != 1 {
				h.expect(0, quiet)
			}
			h.healthy(9, "a")
			h.expect(0, quiet)
			_, line, _ := h.check()
			assert.Equal(t, line, quiet)
		})
	}
	t.Run("without reruns, later nights decide", func(t *testing.T) {
		h := newNightly(t)
		h.healthy(40, "a")
		nights := h.found(func(int) night { return night{slow: 0.5} })
		assert.Assert(t, nights >= 2 && nights <= 5, "%d", nights)
	})
	t.Run("a rerun needs its machine", func(t *testing.T) {
		h := newNightly(t)
		h.healthy(40, "a", "b")
		run := h.add(night{slow: 0.5})
		h.expectOf([]string{"-rerun=exit 3"}, 2, `cannot judge on machine "a": all series`, "want -run=NAME")
		status, _, whole := h.check("-rerun=exit 3", "-run="+run)
		assert.Assert(t, status == 2 && strings.Contains(whole, "-rerun: ^BenchmarkServing$/^n=1$: exit status 3"), whole)
	})
}
