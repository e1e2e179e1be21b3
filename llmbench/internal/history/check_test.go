package history

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"
)

const unitLines = "Unit output-tok/s better=higher gate=2%\nUnit p50-ttft-ns better=lower gate=5%\nUnit mean-tpot-ns better=lower gate=2%\n" +
	"Unit out-tok/req same=2%\nUnit accuracy-% better=higher gate=2pp of=checked-req\n"

// A project is a simulated history whose runs a test may change.
type project struct {
	nights, rows int
	noise        float64
	edit         func(night int, lines []string) []string // changes the result lines of a night; may be nil
	about        func(night int, a *About)                // may be nil
	step         func(night, row int) float64             // the share by which a row is slower; may be nil
	reader       *Reader
}

// runs returns the simulated runs of the project.
func (p *project) runs(t testing.TB) []*Run {
	rng := rand.New(rand.NewPCG(1, 2))
	p.reader = NewReader()
	var runs []*Run
	for night := range p.nights {
		about := About{Commit: strings.Repeat(fmt.Sprintf("%02x", night+1), 20), Time: time.Date(2026, 1, 1+night, 0, 0, 0, 0, time.UTC), Machine: "a"}
		if p.about != nil {
			p.about(night, &about)
		}
		var lines []string
		for row := range p.rows {
			slower := 1.0
			if p.step != nil {
				slower += p.step(night, row)
			}
			draw := func(v float64) float64 { return v * (1 + p.noise*rng.NormFloat64()) }
			lines = append(lines, fmt.Sprintf("BenchmarkServing/concurrency=%d-8 1 %.6g output-tok/s %.6g p50-ttft-ns %.6g mean-tpot-ns 100 out-tok/req 90 accuracy-%%",
				row+1, draw(1000)/slower, draw(3e7), draw(8e6)*slower))
		}
		if p.edit != nil {
			lines = p.edit(night, lines)
		}
		text := string(about.lines(About{})) + unitLines + "gpu: H100\npkg: example.com/serving\n" + strings.Join(lines, "\n") + "\n"
		run, err := p.reader.Read(fmt.Sprintf("run%d", night), []byte(text))
		assert.NilError(t, err)
		runs = append(runs, run)
	}
	return runs
}

var defaults = CheckOptions{Nights: 100, Min: 0.01}

func (p *project) check(t testing.TB) *Report {
	runs := p.runs(t)
	r, err := p.reader.Check(runs, defaults)
	assert.NilError(t, err)
	return r
}

// BenchmarkCheck reads and checks 1,000 runs with 200 series. peak-MB is the memory that the heap took from the
// operating system at most, with the texts of the runs.
func BenchmarkCheck(b *testing.B) {
	p := project{nights: 1000, rows: 67, noise: 0.02}
	texts := make([]string, p.nights)
	p.edit = func(night int, lines []string) []string { texts[night] = strings.Join(lines, "\n"); return lines }
	runs := p.runs(b)
	b.ReportAllocs()
	for b.Loop() {
		p.reader = NewReader()
		for i, run := range runs {
			var err error
			runs[i], err = p.reader.Read(run.Name, []byte(string(run.About.lines(About{}))+unitLines+"gpu: H100\npkg: example.com/serving\n"+texts[i]+"\n"))
			assert.NilError(b, err)
		}
		_, err := p.reader.Check(runs, defaults)
		assert.NilError(b, err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapSys)/1e6, "peak-MB")
}

func TestNothing(t *testing.T) {
	p := project{nights: 40, rows: 4, noise: 0.018}
	r := p.check(t)
	assert.Equal(t, r.Verdict, Nothing)
	assert.Equal(t, r.Summary, "nothing: 12 series in line with what came before")

	// A change slightly larger than Detectable is found within a week.
	p = project{nights: 47, rows: 4, noise: 0.018, step: slower(40, 1.3*r.Detectable, 1)}
	night, _ := firstAlarm(t, &p)
	assert.Assert(t, night >= 40, "night %d", night)
}

// TestFewNoisyRuns checks that a summary says which changes the runs so far hide.
func TestFewNoisyRuns(t *testing.T) {
	for _, c := range []struct {
		nights int // before two nights with a change of 10 %
		noise  float64
		want   string
	}{
		{7, 0.03, `nothing: 18 series in line with what came before \(a change of less than [23][0-9]\.[0-9]% does not show at once, and of less than [12][0-9]\.[0-9]% not within seven runs\)`},
		{40, 0.05, `nothing: 18 series in line with what came before \(a change of less than 2[0-9]\.[0-9]% does not show at once, and of less than 1[0-4]\.[0-9]% not within seven runs\)`},
		{40, 0.01, `alarm: .*|cannot judge: . series out of line, to be rerun`},
	} {
		p := project{nights: c.nights + 2, rows: 6, noise: c.noise, step: slower(c.nights, 0.1, 2)}
		assert.Assert(t, cmp.Regexp("^("+c.want+")$", p.check(t).Summary))
	}
}

// slower returns a step that makes the given rows slower by share, from the night from on.
func slower(from int, share float64, rows ...int) func(night, row int) float64 {
	return func(night, row int) float64 {
		for _, r := range rows {
			if r == row && night >= from {
				return share
			}
		}
		return 0
	}
}

// firstAlarm checks the history after each night, and returns the first night with an alarm and its report.
func firstAlarm(t *testing.T, p *project) (night int, r *Report) {
	runs := p.runs(t)
	for n := range runs {
		r, err := p.reader.Check(runs[:n+1], defaults)
		assert.NilError(t, err)
		if r.Verdict == Alarm {
			return n, r
		}
	}
	t.Fatal("no alarm")
	return 0, nil
}

func TestOneCauseIsOneAlarm(t *testing.T) {
	p := project{nights: 44, rows: 6, noise: 0.01, step: slower(30, 0.05, 2)}
	night, r := firstAlarm(t, &p)
	assert.Assert(t, night >= 31 && night <= 34, "night %d", night)
	assert.Equal(t, len(r.Causes), 1)
	cause := r.Causes[0]
	assert.Assert(t, cause.Good.Run < "run30" && cause.Bad.Run >= "run30", "%+v", cause)
	assert.Assert(t, strings.HasPrefix(cause.Moves[0].Benchmark, "example.com/serving.Serving/concurrency=3-"))
	assert.Assert(t, cause.Moves[0].Low > 0 && cause.Moves[0].High < 0.1 || cause.Moves[0].High < 0 && cause.Moves[0].Low > -0.1, "%+v", cause.Moves)
	// In later nights the cause is known. Series that show the change only then raise no second alarm.
	runs := p.runs(t)
	for n := night + 1; n < len(runs); n++ {
		r, err := p.reader.Check(runs[:n+1], defaults)
		assert.NilError(t, err)
		assert.Equal(t, len(r.Causes), 0, "night %d: %+v", n, r.Causes)
		assert.Equal(t, len(r.Known), 1, "night %d", n)
	}
}

// withOutlier makes the TPOT of a row 40 % worse in the last night.
func withOutlier(last int) func(int, []string) []string {
	return func(night int, lines []string) []string {
		if night == last {
			lines[1] = strings.Replace(lines[1], " mean-tpot-ns", "1 mean-tpot-ns", 1) // a further digit: ten times as large
		}
		return lines
	}
}

func TestOneCellAsksForReruns(t *testing.T) {
	p := project{nights: 40, rows: 6, noise: 0.01, edit: withOutlier(39)}
	runs := p.runs(t)
	r, err := p.reader.Check(runs, defaults)
	assert.NilError(t, err)
	assert.Equal(t, r.Verdict, CannotJudge)
	assert.Equal(t, r.Summary, "cannot judge: 1 series out of line, to be rerun")
	patterns, reruns := r.Patterns()
	assert.DeepEqual(t, patterns, []string{"^BenchmarkServing$/^concurrency=2$"})
	assert.Assert(t, reruns[0] >= 1 && reruns[0] <= 4, "%v", reruns)

	again := func(tpot string) *Report {
		all := runs
		for i := range reruns[0] {
			about := runs[39].About
			about.RerunOf = runs[39].Name
			run, err := p.reader.Read(fmt.Sprintf("again%d", i), []byte(string(about.lines(About{}))+unitLines+
				"gpu: H100\npkg: example.com/serving\nBenchmarkServing/concurrency=2-8 1 1000 output-tok/s "+tpot+" mean-tpot-ns\n"))
			assert.NilError(t, err)
			all = append(all, run)
		}
		r, err := p.reader.Check(all, defaults)
		assert.NilError(t, err)
		return r
	}
	r = again("8.01e6")
	assert.Equal(t, r.Verdict, Nothing)
	assert.Equal(t, len(r.Cleared), 1)
	r = again("8.01e7")
	assert.Equal(t, r.Verdict, Alarm)
	assert.Equal(t, r.Causes[0].Bad.Run, "run39")
	assert.Equal(t, r.Causes[0].Good.Run, "run38")
}

// TestRerunsOfASlowNight checks that a slow night asks for reruns of controls, and that these decide whether the
// reruns of a suspect were faster because the machine had recovered.
func TestRerunsOfASlowNight(t *testing.T) {
	line := func(row int, slow, ttft float64) string {
		return fmt.Sprintf("BenchmarkServing/concurrency=%d-8 1 %.6g output-tok/s %.6g p50-ttft-ns %.6g mean-tpot-ns 100 out-tok/req 90 accuracy-%%", row+1, 1000/slow, 3e7*slow*ttft, 8e6*slow)
	}
	p := project{nights: 40, rows: 6, noise: 0.01}
	p.edit = func(night int, lines []string) []string {
		for row := range lines {
			if night == 39 {
				lines[row] = line(row, 1.08, 1)
			}
		}
		if night == 39 {
			lines[1] = line(1, 1.08, 1.08)
		}
		return lines
	}
	runs := p.runs(t)
	r, err := p.reader.Check(runs, defaults)
	assert.NilError(t, err)
	assert.Assert(t, r.SlowOnce != nil)
	assert.Equal(t, len(r.Suspects), 1, r.Summary)
	assert.Equal(t, len(r.Controls), 6)
	patterns, reruns := r.Patterns()
	assert.DeepEqual(t, patterns, []string{"^BenchmarkServing$/^concurrency=2$", "^BenchmarkServing$/^concurrency=1$", "^BenchmarkServing$/^concurrency=3$"})
	assert.DeepEqual(t, reruns[1:], []int{3, 3}) // so many show that the machine is still slow

	again := func(slow, ttft float64, controls ...int) *Report {
		all := runs
		rerun := func(text string) {
			about := runs[39].About
			about.RerunOf = runs[39].Name
			run, err := p.reader.Read(fmt.Sprintf("again%d", len(all)), []byte(string(about.lines(About{}))+unitLines+"gpu: H100\npkg: example.com/serving\n"+text+"\n"))
			assert.NilError(t, err)
			all = append(all, run)
		}
		for range reruns[0] {
			rerun(line(1, slow, ttft))
		}
		for _, row := range controls {
			for i := range reruns[1] {
				rerun(line(row, slow*(1+float64(i)/1e4), 1))
			}
		}
		r, err := p.reader.Check(all, defaults)
		assert.NilError(t, err)
		assert.Equal(t, len(r.Controls) > 0, len(controls) == 0)
		return r
	}
	assert.Equal(t, again(1, 1.08, 0, 2).Verdict, Alarm)
	assert.Equal(t, again(1.08, 1.08, 0, 2).Verdict, Alarm)
	assert.Equal(t, again(1, 1, 0, 2).Verdict, Nothing)
	// The suspect was an outlier, but all series are still slow.
	still := again(1.08, 1, 0, 2)
	assert.Equal(t, still.Verdict, Alarm)
	assert.Equal(t, still.Causes[0].Moves[0].Benchmark, "")
	assert.Equal(t, len(still.Cleared), 1)
	assert.Equal(t, again(1, 1.08).Summary, "cannot judge: all series of the machine worse by about 8.1%, to be rerun") // nothing says whether the machine has recovered
}

func TestWhatMustBeEqualBeginsANewBaseline(t *testing.T) {
	for name, c := range map[string]struct {
		change string
		edit   func(lines []string)
		about  func(a *About)
	}{
		"configuration": {`gpu: A100, before H100 (4 benchmarks)`, func(lines []string) { lines[0] = "gpu: A100\n" + lines[0] }, nil},
		"same=": {"serving.Serving/concurrency=1-8: a unit with same= differs from before", func(lines []string) {
			for i := range lines {
				lines[i] = strings.Replace(lines[i], " 100 out-tok/req", " 70 out-tok/req", 1)
			}
		}, nil},
		"machine": {`the first run of machine "b"`, nil, func(a *About) { a.Machine = "b" }},
		"server":  {"server: vllm -tp=2, before none (4 benchmarks)", nil, func(a *About) { a.Server = "vllm -tp=2" }},
	} {
		t.Run(name, func(t *testing.T) {
			p := project{nights: 40, rows: 4, noise: 0.01, step: slower(39, 0.3, 0, 1, 2, 3)}
			p.edit = func(night int, lines []string) []string {
				if night == 39 && c.edit != nil {
					c.edit(lines)
				}
				return lines
			}
			p.about = func(night int, a *About) {
				if night == 39 && c.about != nil {
					c.about(a)
				}
			}
			r := p.check(t)
			assert.Equal(t, r.Verdict, CannotJudge)
			want := "cannot judge: 12 series with too few earlier runs"
			if name == "machine" {
				want = `cannot judge on machine "b": 12 series with too few earlier runs; nothing on machine "a": 12 series in line with what came before`
			}
			assert.Equal(t, r.Summary, want)
			assert.Equal(t, r.Epochs[0], c.change)
		})
	}
}

func TestUnsoundRunsAreNoBaseline(t *testing.T) {
	for name, c := range map[string]struct{ old, new, why string }{
		"accuracy":          {" 90 accuracy-%", " 61 accuracy-%", "accuracy-% is 61, but the median of 32 earlier runs is 90: want a loss of at most 2 percentage points"},
		"failures":          {" accuracy-%", " accuracy-% 3 fail-%", "fail-% is 3: want at most 0"},
		"zero":              {" output-tok/s", "e-400 output-tok/s", "output-tok/s is 0: want more than 0"},
		"zero of an amount": {" 50 gain/op", " 0 gain/op", "gain/op is 0: want more than 0"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := func(night int) bool { return night >= 32 }
			p := project{nights: 40, rows: 1, noise: 0.01}
			p.step = func(night, row int) float64 {
				if broken(night) && !strings.HasPrefix(name, "zero") {
					return -0.5 // broken output is fast
				}
				return 0
			}
			p.edit = func(night int, lines []string) []string {
				lines[0] = "Unit gain/op better=higher gate=10%,0.5\n" + lines[0] + " 50 gain/op"
				if broken(night) {
					lines[0] = strings.Replace(lines[0], c.old, c.new, 1)
				}
				return lines
			}
			runs := p.runs(t)
			r, err := p.reader.Check(runs, defaults)
			assert.NilError(t, err)
			assert.Equal(t, r.Verdict, CannotJudge)
			assert.Equal(t, r.Unsound[0], "serving.Serving/concurrency=1-8: "+c.why)
			// A sound night is compared with the earlier sound nights only.
			broken = func(night int) bool { return night >= 32 && night < 39 }
			r = p.check(t)
			assert.Equal(t, r.Verdict, Nothing, r.Summary)
		})
	}
}

func TestWhatIsLeftOutIsNamed(t *testing.T) {
	p := project{nights: 40, rows: 1, noise: 0.01}
	p.edit = func(night int, lines []string) []string {
		added := 0.2
		if night == 39 {
			added = -0.1
		}
		lines[0] = fmt.Sprintf("Unit stalls/op better=lower gate=5%%\nUnit added/op better=lower gate=10%%,0.5\n%s 0 stalls/op %v added/op", lines[0], added)
		return lines
	}
	runs := p.runs(t)
	runs[3].RerunOf = "gone"
	r, err := p.reader.Check(runs, defaults)
	assert.NilError(t, err)
	assert.Equal(t, r.Verdict, Nothing, r.Summary)
	assert.DeepEqual(t, r.LeftOut, []string{"1 rerun of gone, which the history does not have", "serving.Serving/concurrency=1-8: stalls/op is 0: want more than 0", "serving.Serving/concurrency=1-8: added/op is -0.1: want more than 0"})
}

func TestMissingBenchmark(t *testing.T) {
	p := project{nights: 40, rows: 3, noise: 0.01}
	p.edit = func(night int, lines []string) []string {
		if night == 39 {
			return lines[1:]
		}
		return lines
	}
	r := p.check(t)
	assert.Equal(t, r.Verdict, CannotJudge)
	assert.Equal(t, r.Summary, "cannot judge: missing in this run: serving.Serving/concurrency=1-8")
}

func TestChangesOfOneCommitAreOneCause(t *testing.T) {
	p := project{nights: 60, rows: 4, noise: 0.01, step: slower(30, 0.06, 1, 3)}
	runs := p.runs(t)
	causes, err := p.reader.Changes(runs, CheckOptions{Nights: 100, Min: 0.04})
	assert.NilError(t, err)
	assert.Equal(t, len(causes), 1, "%+v", causes)
	assert.Assert(t, causes[0].Good.Run <= "run29" && causes[0].Bad.Run >= "run30", "%+v", causes[0])
	assert.Equal(t, len(causes[0].Moves), 4) // tok/s and TPOT of two rows
	for _, m := range causes[0].Moves {
		want := 0.06
		if m.Unit == "output-tok/s" {
			want = 1/1.06 - 1
		}
		assert.Assert(t, m.Low < want && want < m.High, "%+v", m)
	}
	_, err = p.reader.Changes(runs, CheckOptions{})
	assert.ErrorContains(t, err, "nights: 0: want 2 or more")
}

func TestCheckErrors(t *testing.T) {
	p := project{nights: 2, rows: 1}
	runs := p.runs(t)
	for _, c := range []struct {
		o    CheckOptions
		want string
	}{
		{CheckOptions{}, "nights: 0: want 2 or more"},
		{CheckOptions{Nights: 100, Min: 1}, "min: 1: want a share from 0 to less than 1"},
		{CheckOptions{Nights: 100, MaxFail: 2}, "max-fail: 2: want a share from 0 to 1"},
		{CheckOptions{Nights: 100, Units: []byte("BenchmarkX 1 1 x\n")}, "want Unit lines only"},
		{CheckOptions{Nights: 100, Units: []byte("\nunit x gate=5%\n")}, `units:2: "unit x gate=5%": want Unit lines only`},
		{CheckOptions{Nights: 100, Units: []byte("Unit x better=lower gaet=5%\n")}, "units:1: unit x: gaet=5%: want better, gate, max, min, same, of, apart, pairs, withheld, says or assume"},
		{CheckOptions{Nights: 100, Units: []byte("\n")}, "units: no Unit lines: want one or more"},
		{CheckOptions{Nights: 100, Units: []byte("Unit x gate=5%\n")}, "gate=5% without better="},
	} {
		_, err := p.reader.Check(runs, c.o)
		assert.ErrorContains(t, err, c.want)
	}
	bare, err := p.reader.Read("bare", []byte("commit: a\ncommit-time: 2026-01-01T00:00:00Z\nBenchmarkX 1 1 x\n"))
	assert.NilError(t, err)
	_, err = p.reader.Check([]*Run{bare}, defaults)
	assert.ErrorContains(t, err, "no unit is gated")
	bare.RerunOf = "b"
	_, err = p.reader.Check([]*Run{bare}, defaults)
	assert.ErrorContains(t, err, "no runs apart from reruns")
}

// TestGolden compares the printed reports with files in testdata.
func TestGolden(t *testing.T) {
	p := project{nights: 40, rows: 6, noise: 0.01, step: slower(30, 0.05, 2)}
	_, r := firstAlarm(t, &p)
	for name, render := range map[string]func(*Report, io.Writer) error{"text": (*Report).Text, "md": (*Report).Markdown, "json": (*Report).JSON} {
		var b bytes.Buffer
		assert.NilError(t, render(r, &b))
		golden.Assert(t, b.String(), "alarm."+name)
	}
}
