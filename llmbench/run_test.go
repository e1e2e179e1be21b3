package llmbench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// helper is the environment variable that names a helper benchmark. A test starts this test binary again
// with the variable set, to run the helper in a separate process. Without the variable no helper runs.
const helper = "TEST_HELPER_BENCHMARK"

// helpers maps names to helper benchmarks.
var helpers map[string]func(*testing.B)

func init() { // as the initializer of helpers, this would be an initialization cycle
	helpers = map[string]func(*testing.B){
		"Arms":           helperArms,
		"ArmsSlow":       helperArmsSlow,
		"Bound":          helperBound,
		"ColdFails":      helperColdFails,
		"ConfigChanges":  helperConfigChanges,
		"CountsDiffer":   helperCountsDiffer,
		"Twice":          helperTwice,
		"OverN":          helperOverN,
		"OverLoop":       helperOverLoop,
		"MetricBefore":   helperMetricBefore,
		"MetricAfter":    helperMetricAfter,
		"CountsFewer":    helperCountsFewer,
		"DiesEarly":      helperDiesEarly,
		"Undecided":      helperUndecided,
		"NothingDecided": helperNothingDecided,
		"FailsBefore":    helperFailsBefore,
		"FailsBelow":     helperFailsBelow,
		"Fixed":          helperFixed,
		"Fresh":          helperFresh,
		"Good":           helperGood,
		"Killed":         helperKilled,
		"NoRequests":     helperNoRequests,
		"Observed":       helperObserved,
		"Gateway":        helperGateway,
		"Places":         helperPlaces,
		"Simulated":      helperSimulated,
		"OwnUnit":        helperOwnUnit,
		"WarmCache":      helperWarmCache,
		"Salted":         helperSalted,
		"SaltKept":       helperSaltKept,
		"SaltLess":       helperSaltLess,
		"SecondFails":    helperSecondFails,
		"Shards":         helperShards,
		"Slow":           helperSlow,
		"Stalls":         helperStalls,
		"SlowTolerant":   helperSlowTolerant,
		"SlowSessions":   helperSlowSessions,
		"Streams":        helperStreams,
		"Tolerates":      helperTolerates,
		"ToleratesMany":  helperToleratesMany,
		"Truth":          helperTruth,
		"TwoSeconds":     helperTwoSeconds,
		"TwoUnits":       helperTwoUnits,
		"UnknownFinish":  helperUnknownFinish,
		"Idle":           helperIdle,
		"Unread":         helperUnread,
		"Unready":        helperUnready,
		"Withheld":       helperWithheld,
		"NothingLeft":    helperNothingLeft,
		"Wrong":          helperWrong,
		"NoMain":         helperNoMain,
	}
}

// BenchmarkHelper runs the helper that the environment names.
func BenchmarkHelper(b *testing.B) {
	name := os.Getenv(helper)
	if helpers[name] == nil {
		b.Skip("tests run it, in processes of their own")
	}
	b.Run(name, helpers[name])
}

// helperCommand returns the command that runs a helper in a separate process.
func helperCommand(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{"-test.run=^$", "-test.bench=^BenchmarkHelper$/^" + name + "$", "-test.benchtime=1x"}, args...)...)
	cmd.Env = append(os.Environ(), helper+"="+name, "LLMBENCH_PROGRESS=none")
	return cmd
}

func helperGood(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: ms, PerToken: ms / 10})
	target.Config = map[string]string{"backend": "mock"}
	result := Run(b, target, Load{Requests: words(20, 8), Warmup: words(2, 4), Concurrency: 4})
	b.ReportMetric(float64(len(ordered(result.All()))), "samples")
}

// helperSecondFails succeeds in its first -count sample and fails in its second.
func helperSecondFails(b *testing.B) {
	helperRuns++
	cfg := mockserver.Config{TTFT: ms}
	if helperRuns == 2 {
		cfg.Faults = []fault.Fault{{Kind: fault.Truncate, Every: 10, At: 2}}
	}
	_, target := loopback(b, cfg)
	Run(b, target, Load{Requests: words(20, 4), Concurrency: 2})
}

var helperRuns int

// helperBound makes a run in which the client distorts the metrics too much.
func helperBound(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: 20 * ms, PerToken: 2 * ms})
	Run(b, target, withExact(Load{Requests: words(60, 4), Concurrency: 8, MaxDistortion: 1e-12}))
}

// withExact returns l with an additional latency that no client can distort.
func withExact(l Load) Load {
	l.Units = []sample.Unit{{Name: "exact-ns", Better: "lower", Means: "A constant.", Family: sample.FamilyE2E}}
	l.Figures = func(iter.Seq[*sample.Sample]) map[string]float64 { return map[string]float64{"exact-ns": 7} }
	return l
}

func helperTolerates(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: ms, Faults: []fault.Fault{{Kind: fault.Truncate, Every: 10, At: 2}}})
	Run(b, target, Load{Requests: words(20, 4), Concurrency: 2, MaxFail: 0.1})
}

func helperToleratesMany(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: ms, Faults: []fault.Fault{{Kind: fault.Truncate, Every: 10, At: 2}}})
	Run(b, target, Load{Requests: words(120, 4), Concurrency: 2, MaxFail: 0.1})
}

func helperSlow(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: 100 * ms})
	Run(b, target, Load{Requests: words(10000, 4), Concurrency: 4})
}

// helperStalls measures a server that never ends every third answer.
func helperStalls(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: ms, Faults: []fault.Fault{{Kind: fault.Stall, Every: 3}}})
	Run(b, target, Load{Requests: words(10000, 4), Concurrency: 4})
}

// helperSlowTolerant tolerates every failure.
func helperSlowTolerant(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: 100 * ms})
	Run(b, target, Load{Requests: words(10000, 4), Concurrency: 4, MaxFail: 1})
}

// helperSlowSessions sends sessions whose users think for a minute, for a time of which they may be idle for two hundredths.
func helperSlowSessions(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: 100 * ms})
	all := talk(100, 2)
	for i := range all {
		all[i].Then[0].Think = time.Minute
	}
	Run(b, target, Load{Requests: all, Concurrency: 4, Duration: time.Hour, CutSessions: true, LeastCoverage: 0.98})
}

// helperConfigChanges has a different configuration in each -count sample.
func helperConfigChanges(b *testing.B) {
	helperRuns++
	_, target := loopback(b, mockserver.Config{})
	target.Config = map[string]string{"start": fmt.Sprint(helperRuns)}
	Run(b, target, Load{Requests: words(1, 4), Concurrency: 1})
}

// helperDiesEarly fails before Run in its second -count sample.
func helperDiesEarly(b *testing.B) {
	harness.Watch(b)
	helperRuns++
	if helperRuns == 2 {
		b.Fatal("the server did not start")
	}
	_, target := loopback(b, mockserver.Config{})
	Run(b, target, Load{Requests: words(1, 4), Concurrency: 1})
}

// helperColdFails fails in its warm-up.
func helperColdFails(b *testing.B) {
	_, target := loopback(b, mockserver.Config{Faults: []fault.Fault{{Kind: fault.HTTP500, Every: 2}}})
	Run(b, target, Load{Requests: words(1, 4), Warmup: words(2, 4), Concurrency: 1})
}

// helperNoRequests has nothing to send.
func helperNoRequests(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	Run(b, target, Load{Concurrency: 1, Fresh: func(int) ([]Request, error) { return nil, nil }})
}

// helperObserved measures a server with an observer, one of whose metrics is not finite.
func helperObserved(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	target.Observe = func() Observer { return &observer{b: b} }
	Run(b, target, Load{Requests: words(4, 4), Warmup: words(2, 4), Concurrency: 1})
	b.ReportMetric(math.Inf(-1), "own")
}

// helperGateway measures a server behind a gateway, each with an observer. The observer of the gateway fails in the third pass.
func helperGateway(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	target.Header = http.Header{"Authorization": {"Bearer of-a-user"}}
	target.Observe = func() Observer { return &observer{b: b} }
	target.ObserveGateway = func() Observer { return &gatewayObserver{observer: observer{b: b}} }
	Run(b, target, Load{Requests: words(4, 4), Concurrency: 1})
}

// A gatewayObserver is an observer with counters.
type gatewayObserver struct{ observer }

func (o *gatewayObserver) After(ctx context.Context) (map[string]float64, error) {
	_, _ = o.observer.After(ctx)
	if o.passes == 3 {
		return nil, errors.New("no answer")
	}
	return map[string]float64{"srv-preempt/op": 99, "accept-len": 2}, nil
}

func (o *gatewayObserver) FiguresOf(iter.Seq[*sample.Sample]) map[string]float64 { return nil }

func (o *gatewayObserver) Counters() map[string][2]float64 {
	if o.passes == 3 {
		return nil
	}
	return map[string][2]float64{`retries_total{by="of-a-user"}`: {1, float64(o.passes)}}
}

// helperUnready measures a server that cannot be prepared for a pass.
func helperUnready(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	target.Observe = func() Observer { return &observer{b: b, err: errors.New("the cache is stuck")} }
	Run(b, target, Load{Requests: words(4, 4), Concurrency: 1})
}

// An observer checks that Before and After are called alternately.
type observer struct {
	b      *testing.B
	err    error
	within bool
	passes int
}

func (o *observer) Before(context.Context) error {
	if o.within {
		o.b.Error("Before is called twice in a row")
	}
	o.within = true
	return o.err
}

func (o *observer) After(context.Context) (map[string]float64, error) {
	if !o.within {
		o.b.Error("After is called without Before")
	}
	o.within = false
	o.passes++
	return map[string]float64{"srv-preempt/op": float64(o.passes), "srv-prefix-hit-%": math.NaN(), "srv-queue-ns": math.Inf(1), "no-unit": 1}, nil
}

// FiguresOf returns the number of samples as the value of a unit that a closed loop does not have.
func (o *observer) FiguresOf(samples iter.Seq[*sample.Sample]) map[string]float64 {
	n := 0.0
	for range samples {
		n++
	}
	return map[string]float64{"offered-req/s": n}
}

// helperFresh uses new requests in each pass.
func helperFresh(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	Run(b, target, Load{Concurrency: 1, Fresh: func(pass int) ([]Request, error) {
		if pass == 5 {
			return nil, errors.New("no requests for pass 5")
		}
		return words(pass+1, 1), nil
	}})
}

// runHelper runs a helper benchmark, and returns its standard output, its standard error, its exit code,
// and the folder of its records.
func runHelper(t *testing.T, name string, args []string, during func(cmd *exec.Cmd, out string), env ...string) (stdout, stderr string, code int, records string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "made", "by", "run")
	cmd := helperCommand(t.Context(), name, args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	cmd.Env = append(append(cmd.Env, "LLMBENCH_OUT="+out), env...)
	assert.NilError(t, cmd.Start())
	if during != nil {
		during(cmd, out)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode(), out
}

// TestFullDisk checks that results that cannot be written are not lost in silence, whether they are edited or not.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("skipped: ", err)
	}
	defer full.Close()
	for _, env := range []string{"", withoutEditing + "=1"} {
		cmd := helperCommand(t.Context(), "Good")
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &stderr
		cmd.Env = append(cmd.Env, env)
		err := cmd.Run()
		assert.ErrorContains(t, err, "exit status 1")
		assert.Assert(t, strings.Contains(stderr.String(), "results are lost: write /dev/stdout: no space left on device"), &stderr)
	}
}

// results parses benchmark output and checks that no line is malformed.
func results(t *testing.T, text string) (all []*benchfmt.Result, units benchfmt.UnitMetadataMap) {
	t.Helper()
	r := benchfmt.NewReader(strings.NewReader(text), "output")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("%v in:\n%s", rec, text)
		case *benchfmt.Result:
			all = append(all, rec.Clone())
		}
	}
	assert.NilError(t, r.Err())
	return all, r.Units()
}

func TestRun(t *testing.T) {
	stdout, stderr, code, out := runHelper(t, "Good", []string{"-test.count=3"}, nil)
	assert.Equal(t, code, 0, stdout)
	assert.Equal(t, stderr, "")
	all, units := results(t, stdout)
	assert.Equal(t, len(all), 3, stdout)
	for _, u := range Units() {
		_, reported := all[0].Value(tidy(u.Name))
		printed := units.GetBetter(tidy(u.Name)) != 0
		assert.Equal(t, printed, u.Better != "" && reported, "metadata of %s", u.Name)
	}
	for _, r := range all {
		assert.Equal(t, r.GetConfig("backend"), "mock")
		assert.Equal(t, r.GetConfig("dialect"), "openai-chat")
		for unit, want := range map[string]float64{"in-tok/req": 4, "out-tok/req": 8, "samples": 20} {
			got, has := r.Value(unit)
			assert.Assert(t, has && got == want, "%s = %v; want %v", unit, got, want)
		}
		for _, absent := range []string{"sec/op", "fail-%", "p99-ttft-sec", "good-req/s", "mean-ttft-sec"} {
			_, has := r.Value(absent)
			assert.Assert(t, !has, "%s is reported", absent)
		}
	}

	files, err := filepath.Glob(filepath.Join(out, "*.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, len(files), 3, "want one file for each sample, got %v", files)
	for i := range files {
		head, lines := readRecords(t, filepath.Join(out, "BenchmarkHelper,Good."+string(rune('1'+i))+".jsonl"))
		assert.Equal(t, head["benchmark"], "BenchmarkHelper/Good")
		assert.Equal(t, head["end"], "ok: <nil> <nil>")
		assert.DeepEqual(t, head["config"], map[string]any{"backend": "mock"})
		assert.Equal(t, len(lines), 20)
		for _, line := range lines {
			assert.Equal(t, line["outcome"], "ok")
			assert.Equal(t, line["output_tokens"], 8.0)
			assert.Equal(t, line["token_source"], "usage")
			assert.Equal(t, len(line["gaps_ns"].([]any)), 7)
			last := 0.0
			for _, instant := range []string{"start_ns", "wrote_ns", "first_byte_ns", "first_ns", "last_ns", "end_ns"} {
				at, isNumber := line[instant].(float64)
				assert.Assert(t, isNumber && at >= last, "%s = %v after %v in %v", instant, line[instant], last, line)
				last = at
			}
		}
	}
}

// tidy returns the name that package benchfmt gives a unit.
func tidy(unit string) string { return strings.Replace(unit, "-ns", "-sec", 1) }

func readRecords(t *testing.T, file string) (head map[string]any, lines []map[string]any) {
	t.Helper()
	f, err := os.Open(file)
	assert.NilError(t, err)
	defer f.Close()
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		line := map[string]any{}
		assert.NilError(t, json.Unmarshal(scan.Bytes(), &line), "%s", scan.Text())
		if head == nil {
			head = line
			continue
		}
		lines = append(lines, line)
	}
	assert.NilError(t, scan.Err())
	assert.Equal(t, head["ends"], true)
	end := lines[len(lines)-1]["end"].(map[string]any)
	head["end"] = fmt.Sprintf("%v: %v %v", end["outcome"], end["why"], end["withheld"])
	return head, lines[:len(lines)-1]
}

func TestRunPools(t *testing.T) {
	stdout, _, code, out := runHelper(t, "Good", []string{"-test.benchtime=3x"}, nil, "LLMBENCH_UNITS=all")
	assert.Equal(t, code, 0, stdout)
	all, _ := results(t, stdout)
	got, _ := all[0].Value("samples")
	assert.Equal(t, got, 60.0)
	_, has := all[0].Value("p90-ttft-sec")
	assert.Assert(t, has, "LLMBENCH_UNITS=all reports too little:\n%s", stdout)
	assert.Assert(t, strings.Contains(stdout, "Unit p90-ttft-ns better=lower\n"), stdout)

	// The elapsed time includes all passes, and not the time between them.
	_, lines := readRecords(t, filepath.Join(out, "BenchmarkHelper,Good.1.jsonl"))
	first, last := map[any]float64{}, map[any]float64{}
	for _, line := range lines {
		pass := line["pass"]
		if at := line["due_ns"].(float64); first[pass] == 0 || at < first[pass] {
			first[pass] = at
		}
		last[pass] = max(last[pass], line["end_ns"].(float64))
	}
	assert.Equal(t, len(last), 3, "%v", last)
	total := 0.0
	for pass := range last {
		total += last[pass] - first[pass]
	}
	if rate, _ := all[0].Value("req/s"); math.Abs(rate*total/60e9-1) > 0.001 {
		t.Errorf("%v req/s over %v ns; want 60 requests", rate, total)
	}
}

// TestObserver checks how Run uses the metrics of an Observer, and that no result line has a metric that is
// not finite.
func TestObserver(t *testing.T) {
	out, _, code, _ := runHelper(t, "Observed", []string{"-test.benchtime=3x"}, nil)
	assert.Equal(t, code, 0, out)
	all, _ := results(t, out)
	assert.Equal(t, len(all), 1, out)
	v, _ := all[0].Value("srv-preempt/op")
	assert.Equal(t, v, 3.0, "the figures of the last pass are those of all")
	v, _ = all[0].Value("offered-req/s")
	assert.Equal(t, v, 12.0, "the samples of three passes")
	for _, unit := range []string{"srv-prefix-hit-%", "srv-queue-ns", "own", "no-unit"} {
		_, has := all[0].Value(unit)
		assert.Assert(t, !has, "%s is reported:\n%s", unit, out)
	}
	for _, want := range []string{"srv-prefix-hit-% is left out: the Observer returned NaN: want a finite number",
		"srv-queue-ns is left out: the Observer returned +Inf: want a finite number", ": own is left out: it is -Inf: want a finite number"} {
		assert.Equal(t, strings.Count(out, want), 1, "%s in:\n%s", want, out)
	}
	out, _, code, _ = runHelper(t, "Unready", nil, nil)
	assert.Equal(t, code, 1)
	assert.Assert(t, strings.Contains(out, "pass 0: before it: the cache is stuck"), out)
}

// TestObserveGateway checks that the counters of a gateway are in the records, and that a gateway whose metrics cannot be
// read does not end the run.
func TestObserveGateway(t *testing.T) {
	for _, passes := range []int{2, 3} {
		out, _, code, dir := runHelper(t, "Gateway", []string{fmt.Sprintf("-test.benchtime=%dx", passes)}, nil)
		assert.Equal(t, code, 0, out)
		all, _ := results(t, out)
		v, _ := all[0].Value("srv-preempt/op")
		assert.Equal(t, v, float64(passes), "the server's own figure")
		_, has := all[0].Value("accept-len")
		assert.Equal(t, has, passes == 2)
		assert.Equal(t, strings.Contains(out, "pass 2: the gateway's own figures are left out: no answer"), passes == 3, out)
		run, err := records.Open(filepath.Join(dir, "BenchmarkHelper,Gateway.1.jsonl"))
		assert.NilError(t, err)
		const name = `retries_total{by="[redacted]"}`
		assert.DeepEqual(t, run.End.Gateway, []records.Gateway{
			{Pass: 0, Counters: map[string][2]float64{name: {1, 1}}},
			{Pass: 1, Counters: map[string][2]float64{name: {1, 2}}},
		})
	}
}

// TestFailureInLaterSample checks that the exit code reports a failure in the second of three -count
// samples.
func TestFailureInLaterSample(t *testing.T) {
	stdout, _, code, out := runHelper(t, "SecondFails", []string{"-test.count=3"}, nil)
	assert.Equal(t, code, 1, stdout)
	for _, want := range []string{"2 of 20 requests failed, 0% are tolerated: truncated 2", "neither a finish reason nor [DONE]", ".2.jsonl"} {
		assert.Assert(t, strings.Contains(stdout, want), "no %q in:\n%s", want, stdout)
	}
	head, lines := readRecords(t, filepath.Join(out, "BenchmarkHelper,SecondFails.2.jsonl"))
	assert.Assert(t, strings.HasPrefix(head["end"].(string), "failed: pass 0: 2 of 20 requests failed, 0% are tolerated"), head["end"])
	assert.Equal(t, len(lines), 20)
	outcomes := map[any]int{}
	for _, line := range lines {
		outcomes[line["outcome"]]++
	}
	assert.DeepEqual(t, outcomes, map[any]int{"ok": 18, "truncated": 2})
}

// TestWithheld checks which units the records list as withheld.
func TestWithheld(t *testing.T) {
	for _, bound := range []ClientBound{BoundFails, BoundWithheld, BoundReported} {
		stdout, _, _, out := runHelper(t, "Bound", nil, nil, "LLMBENCH_CLIENT_BOUND="+string(bound))
		head, _ := readRecords(t, filepath.Join(out, "BenchmarkHelper,Bound.1.jsonl"))
		end := head["end"].(string)
		assert.Equal(t, strings.HasPrefix(end, "failed: client-bound, and LLMBENCH_CLIENT_BOUND is fail: "), bound == BoundFails, end)
		assert.Equal(t, strings.HasPrefix(end, "ok: <nil> "), bound != BoundFails, end)
		assert.Equal(t, strings.Contains(end, "req/s"), bound != BoundReported, "%s:\n%s", end, stdout)
	}
}

func TestToleratedFailuresAreReported(t *testing.T) {
	stdout, _, code, _ := runHelper(t, "Tolerates", nil, nil)
	assert.Equal(t, code, 0, stdout)
	all, _ := results(t, stdout)
	got, has := all[0].Value("fail-%")
	assert.Assert(t, has && got == 10, "fail-%% = %v, %t; want 10 in:\n%s", got, has, stdout)
}

// TestAdjustedAreReported checks that percentiles in which failed requests count are reported beside the others, and that
// one line tells which of them are omitted.
func TestAdjustedAreReported(t *testing.T) {
	stdout, _, code, _ := runHelper(t, "ToleratesMany", nil, nil)
	assert.Equal(t, code, 0, stdout)
	all, _ := results(t, stdout)
	plain, has := all[0].Value("p50-ttft-sec")
	assert.Assert(t, has, stdout)
	adjusted, has := all[0].Value("adj-p50-ttft-sec")
	assert.Assert(t, has && adjusted >= plain, "%v, %v in:\n%s", adjusted, plain, stdout)
	_, has = all[0].Value("adj-p99-ttft-sec")
	assert.Assert(t, !has, stdout)
	_, has = all[0].Value("p99-ttft-sec")
	assert.Assert(t, has, stdout)
	const note = "omitted, because so many requests failed that it would be the latency of a failed one: adj-p99-ttft-ns (12 of 120 requests failed)"
	assert.Equal(t, strings.Count(stdout, note), 1, stdout)
	stdout, _, _, _ = runHelper(t, "Good", nil, nil)
	assert.Assert(t, !strings.Contains(stdout, "adj-"), stdout)
}

// TestRunFails checks the errors of runs that must fail.
func TestRunFails(t *testing.T) {
	for name, want := range map[string]string{
		"ConfigChanges": "configuration differs from that of the sample before: start: 2",
		"DiesEarly":     "the server did not start",
		"ColdFails":     "warm-up: 1 of 2 requests failed",
		"NoRequests":    "pass 0: load: no requests",
	} {
		stdout, _, code, _ := runHelper(t, name, []string{"-test.count=2"}, nil)
		assert.Equal(t, code, 1, stdout)
		assert.Assert(t, strings.Contains(stdout, want), "no %q in:\n%s", want, stdout)
	}
}

// TestLines checks the lines of the output. The metadata of a unit must come before the first result line
// with the unit. The metrics of a line must be in the order of the units. A configuration line without a
// value must only be printed if a target lacks a key that the previous target has.
func TestLines(t *testing.T) {
	text, _, code, _ := runHelper(t, "TwoUnits", []string{"-test.count=2"}, nil)
	assert.Equal(t, code, 0, text)
	all, _ := results(t, text)
	assert.Equal(t, len(all), 4, text)
	// It depends on the machine whether these units are reported.
	depends := func(unit string) bool {
		return unit == sample.ClientError || strings.Contains(unit, "lag") || strings.HasPrefix(unit, "p99")
	}
	var shape []string // the kinds of lines, in order
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Unit ") && depends(fields[1]):
		case strings.HasPrefix(line, "Unit "):
			shape = append(shape, "Unit "+fields[1])
		case strings.HasPrefix(line, "BenchmarkHelper/TwoUnits/a=1"), strings.HasPrefix(line, "BenchmarkHelper/TwoUnits/b=1"):
			var units []string
			for i := 3; i < len(fields); i += 2 {
				if !depends(fields[i]) {
					units = append(units, fields[i])
				}
			}
			shape = append(shape, strings.Join(units, " "))
		case strings.HasPrefix(line, "x"):
			shape = append(shape, strings.TrimSpace(line))
		}
	}
	a := "output-tok/s req/s p50-ttft-ns mean-tpot-ns p50-e2e-ns in-tok/req out-tok/req extra"
	b := "output-tok/s req/s p50-ttft-ns mean-tpot-ns p50-e2e-ns in-tok/req out-tok/req p50-long-ttft-ns extra"
	assert.DeepEqual(t, shape, []string{
		"x: 1",
		"Unit output-tok/s", "Unit req/s", "Unit p50-ttft-ns", "Unit mean-tpot-ns", "Unit p50-e2e-ns", "Unit out-tok/req",
		a, a,
		"x:",
		"Unit p50-long-ttft-ns",
		b, b,
	})
}

// TestLinesOtherGo checks that the metadata of all units is printed if the version of Go does not allow
// llmbench to edit result lines.
func TestLinesOtherGo(t *testing.T) {
	text, _, code, _ := runHelper(t, "TwoUnits", []string{"-test.count=2"}, nil, withoutEditing+"=1")
	assert.Equal(t, code, 0, text)
	all, metadata := results(t, text)
	assert.Equal(t, len(all), 4, text)
	for _, u := range append(Units(), ownUnit) {
		assert.Equal(t, metadata.GetBetter(tidy(u.Name)) != 0, u.Better != "", "metadata of %s", u.Name)
	}
	assert.Equal(t, strings.Count(text, "Unit p50-long-ttft-ns better=lower\n"), 1, text)
}

// helperTwoUnits runs two benchmarks. One has its own configuration line, and the other has its own unit.
func helperTwoUnits(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: ms, PerToken: ms / 10})
	for _, name := range []string{"a=1", "b=1"} {
		b.Run(name, func(b *testing.B) {
			l := Load{Requests: words(4, 8), Concurrency: 2}
			if name == "b=1" {
				l.Units = []sample.Unit{ownUnit}
				l.Figures = func(iter.Seq[*sample.Sample]) map[string]float64 { return map[string]float64{ownUnit.Name: 1} }
				target.Config = nil
			} else {
				target.Config = map[string]string{"x": "1"}
			}
			Run(b, target, l)
			b.ReportMetric(1, "extra")
		})
	}
}

// TestTerminal checks what is shown on a terminal as standard error. The standard output of benchmarks that
// measure nothing must be the same, byte for byte, with and without the terminal.
func TestTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	for _, tt := range []struct {
		name    string
		measure bool
		want    []string
	}{
		{"Fixed", false, []string{"Helper\n  Fixed\n    medians of 2 samples\n    own 1.50 ms, 120 samples\n"}},
		{"FailsBefore", false, []string{"failed: no server\n"}},
		{"FailsBelow", false, []string{"FailsBelow\n  concurrency=1\n    failed: no file\n", "0 results, 0 skipped, 1 failed"}},
		{"Good", true, []string{"tok/s", "TTFT p50", "Helper\n  Good", "medians of 2 samples", "20.0 samples"}},
		{"Tolerates", true, []string{"2 of 20 requests failed, 10% are tolerated: truncated 2\n    request ", "truncated: "}},
		{"SecondFails", true, []string{"failed: pass 0: 2 of 20 requests failed, 0% are tolerated: truncated 2\n    request "}},
		{"Bound", true, []string{"* withheld: ", "failed: client-bound, and LLMBENCH_CLIENT_BOUND is fail\n"}},
	} {
		if tt.name == "Bound" {
			t.Setenv("LLMBENCH_CLIENT_BOUND", string(BoundFails))
		}
		stdout, shown, code := runAtTerminal(t, tt.name, "-test.count=2")
		plain, stderr, plainCode, _ := runHelper(t, tt.name, []string{"-test.count=2"}, nil)
		assert.Equal(t, stderr, "")
		assert.Equal(t, code, plainCode)
		if !tt.measure {
			assert.Equal(t, stdout, plain)
		}
		if code == 0 {
			results(t, stdout)
		}
		for _, want := range tt.want {
			assert.Check(t, strings.Contains(shown, want), "no %q in:\n%s", want, shown)
		}
	}
}

// TestProgressAtTerminal checks that a terminal shows the progress of a pass, and that the progress is
// removed afterwards.
func TestProgressAtTerminal(t *testing.T) {
	t.Parallel()
	stdout, shown, _ := runAtTerminal(t, "TwoSeconds")
	assert.Assert(t, strings.Contains(shown, "\r1/1 Helper TwoSeconds (0/8)"), "%q", shown)
	assert.Assert(t, !strings.Contains(stdout, "/8)"), stdout)
	last := shown[strings.LastIndexByte(shown, '\r')+1:]
	assert.Assert(t, strings.HasPrefix(last, "Helper TwoSeconds: ") && strings.Contains(last, "\n\n  "), "%q", last)
}

// helperTwoSeconds makes a pass that takes two seconds.
func helperTwoSeconds(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: 2000 * ms})
	Run(b, target, Load{Requests: words(8, 1), Concurrency: 8})
}

// helperFixed reports fixed metrics without measuring anything.
func helperFixed(b *testing.B) {
	harness.Watch(b)
	assert.NilError(b, Announce(b, Target{Config: map[string]string{"backend": "none"}}))
	for b.Loop() {
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(120, "samples")
	b.ReportMetric(1.5e6, "own-ns")
}

// helperUndecided runs a benchmark that cannot be judged, and then one with a result.
func helperUndecided(b *testing.B) {
	b.Run("of=rate", helperNothingDecided)
	b.Run("of=concurrency", helperFixed)
}

func helperNothingDecided(b *testing.B) {
	harness.Watch(b)
	CannotJudge(b, "the client is the limit")
}

// TestCannotJudge checks that a benchmark that cannot be judged does not count as failed. Benchmarks of which none has a
// result do not pass.
func TestCannotJudge(t *testing.T) {
	const reason = "cannot judge: the client is the limit"
	for _, c := range []struct {
		name, env string
		code      int
		want      string // the beginning of the last line
	}{
		{"Undecided", "", 0, "1 result, 0 skipped, 1 cannot be judged"},
		{"NothingDecided", "", 1, "0 results, 0 skipped, 1 cannot be judged"},
		{"Undecided", "LLMBENCH_CLIENT_BOUND=fail", 1, "1 result, 0 skipped, 1 failed"},
	} {
		stdout, stderr, code, _ := runHelper(t, c.name, nil, nil, "LLMBENCH_PROGRESS=auto", c.env)
		assert.Equal(t, code, c.code, "%s%s", stdout, stderr)
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		assert.Assert(t, strings.HasPrefix(lines[len(lines)-1], c.want), stderr)
		assert.Assert(t, strings.Contains(stderr, reason), stderr)
		if c.env == "" {
			assert.Assert(t, strings.Contains(stdout, "# BenchmarkHelper/"+c.name) && strings.Contains(stdout, ": "+reason+"\n"), stdout)
		}
	}
}

// helperFailsBefore fails before Run.
func helperFailsBefore(b *testing.B) {
	harness.Watch(b)
	b.Fatal("no server")
}

// helperFailsBelow fails before Run, in a sub-benchmark of the benchmark that is watched.
func helperFailsBelow(b *testing.B) {
	harness.Watch(b)
	b.Run("concurrency=1", func(b *testing.B) { b.Fatal("no file") })
}

// TestTable checks where the table is printed without a terminal: on standard error, or as comments on
// standard output if both are the same file. It also checks that the speed of a simulated server is shown.
func TestTable(t *testing.T) {
	stdout, stderr, code, _ := runHelper(t, "Truth", nil, nil, "LLMBENCH_PROGRESS=auto")
	assert.Equal(t, code, 0, stdout)
	const speed = "# the server is simulated: TTFT 1ms, TPOT 100µs\n"
	assert.Assert(t, strings.HasPrefix(stdout, speed), stdout)
	assert.Equal(t, strings.Count(stdout, "#"), 1, stdout)
	// On a busy machine the client may have distorted the metric, and the error is not shown.
	summary := regexp.MustCompile(`\n(# )?1 result, 1 skipped(; largest error against the server's own log 0 % \(p50-ttft-ns of Helper Truth\))?; next: make tea\n$`)
	assert.Assert(t, summary.MatchString(stderr), stderr)
	assert.Assert(t, strings.Contains(stderr, "TTFT p50"), stderr)

	cmd := helperCommand(t.Context(), "Truth")
	cmd.Env = append(cmd.Env, "LLMBENCH_PROGRESS=auto")
	both, err := cmd.CombinedOutput()
	assert.NilError(t, err)
	all, _ := results(t, string(both))
	assert.Equal(t, len(all), 1, string(both))
	for line := range strings.Lines(string(both)[strings.Index(string(both), "PASS\n")+len("PASS\n"):]) {
		assert.Assert(t, strings.HasPrefix(line, "#"), "%q", line)
	}
	assert.Assert(t, summary.Match(both), "%s", both)
}

// helperTruth measures a simulated server with a Truth.
func helperTruth(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: ms, PerToken: ms / 10})
	target.Truth = &Truth{Speed: "TTFT 1ms, TPOT 100µs", Next: "make tea", Figures: func(all iter.Seq[*sample.Sample]) map[string]float64 {
		figures := sample.Summarize(all, time.Second, sample.SLO{}).Metrics
		return map[string]float64{"p50-ttft-ns": figures["p50-ttft-ns"], "p50-itl-ns": 1}
	}}
	Run(b, target, Load{Requests: words(20, 8), Concurrency: 4})
	process.Skipped()
}

// runAtTerminal runs a helper benchmark whose standard error is a terminal. It returns the standard output
// and the content of the terminal.
func runAtTerminal(t *testing.T, name string, args ...string) (stdout, shown string, code int) {
	t.Helper()
	cmd := helperCommand(t.Context(), name, args...)
	cmd.Env = append(cmd.Env, "TERM=xterm", "LLMBENCH_PROGRESS=auto")
	stdout, shown, err := runtest.AtTerminal(t, cmd, 80)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return stdout, shown, cmd.ProcessState.ExitCode()
}

func TestFreshRequests(t *testing.T) {
	stdout, _, code, out := runHelper(t, "Fresh", []string{"-test.benchtime=2x", "-test.count=3"}, nil)
	assert.Equal(t, code, 1, stdout)
	assert.Assert(t, strings.Contains(stdout, "no requests for pass 5"), stdout)
	for i, want := range []int{1 + 2, 3 + 4, 5} {
		_, lines := readRecords(t, filepath.Join(out, "BenchmarkHelper,Fresh."+string(rune('1'+i))+".jsonl"))
		assert.Equal(t, len(lines), want, "records of sample %d", i+1)
	}
}

// TestInterrupt checks that after Ctrl-C the requests in flight end, that the table has the figures of those that were sent, that
// records are kept, and that the run fails even if the load tolerates every failure. Of sessions, no further turns are sent.
// Requests that do not end are given up. A second signal that comes with the first one changes nothing: timeout sends two.
func TestInterrupt(t *testing.T) {
	for _, c := range []struct{ name, says, table string }{
		{"Slow", `^failed: interrupted: the figures are of the first (\d+) requests`, "tok/s"},
		{"SlowTolerant", `^failed: interrupted: the figures are of the first (\d+) requests`, "tok/s"},
		{"SlowSessions", `^failed: interrupted: the figures are of the first (\d+) requests`, "tok/s"},
		{"Stalls", `^failed: pass 0: interrupted: (\d+) of (\d+) requests were complete, and none had failed`, "interrupted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := ""
			stdout, stderr, code, _ := runHelper(t, c.name, []string{"-test.benchtime=10s"}, func(cmd *exec.Cmd, out string) {
				file = filepath.Join(out, "BenchmarkHelper,"+c.name+".1.jsonl")
				runtest.Until(t, "requests have ended", func() bool {
					text, err := os.ReadFile(file)
					return err == nil && bytes.Count(text, []byte("\n")) > 4
				})
				assert.NilError(t, cmd.Process.Signal(os.Interrupt))
				assert.NilError(t, cmd.Process.Signal(syscall.SIGTERM))
			}, "LLMBENCH_PROGRESS=auto")
			assert.Equal(t, code, 1, stdout)
			head, lines := readRecords(t, file)
			said := regexp.MustCompile(c.says).FindStringSubmatch(head["end"].(string))
			assert.Assert(t, said != nil, head["end"])
			assert.Assert(t, strings.Contains(stdout, strings.TrimPrefix(said[0], "failed: ")), stdout)
			assert.Assert(t, strings.Contains(stderr, c.table) && !strings.Contains(stdout+stderr, "had no session"), stderr)
			complete := 0
			for _, line := range lines {
				if line["outcome"] == "ok" {
					complete++
				}
			}
			assert.Equal(t, said[1], strconv.Itoa(complete))
			assert.Equal(t, said[len(said)-1], strconv.Itoa(len(lines)))
		})
	}
}

// TestPrice checks that the price of a million output tokens is computed from the throughput that is reported.
func TestPrice(t *testing.T) {
	stdout, _, code, _ := runHelper(t, "Good", nil, nil, "LLMBENCH_PRICE=3.6/h")
	assert.Equal(t, code, 0, stdout)
	all, _ := results(t, stdout)
	rate, _ := all[0].Value("output-tok/s")
	price, _ := all[0].Value("price/Mtok")
	assert.Assert(t, math.Abs(price*rate/1000-1) < 0.001, "%v for %v", price, rate)
	assert.Assert(t, strings.Contains(stdout, "Unit price/Mtok better=lower\n"), stdout)
}

func TestConfigErrorStopsBeforeAnything(t *testing.T) {
	_, stderr, code, _ := runHelper(t, "Good", nil, nil, "LLMBENCH_REPORT=page.html")
	assert.Equal(t, code, 1)
	assert.Equal(t, stderr, "LLMBENCH_REPORT=page.html: this program makes no page: want reportmain.Main in place of llmbench.Main in TestMain, or LLMBENCH_OUT and benchreport\n")

	stdout, stderr, code, out := runHelper(t, "Good", nil, nil, "LLMBENCH_UNITS=some")
	assert.Equal(t, code, 1)
	assert.Equal(t, stdout, "")
	assert.Equal(t, stderr, "LLMBENCH_UNITS=some: want core or all\n")
	_, err := os.Stat(out)
	assert.Assert(t, os.IsNotExist(err))

	file := filepath.Join(t.TempDir(), "file")
	assert.NilError(t, os.WriteFile(file, nil, 0o666))
	stdout, stderr, code, _ = runHelper(t, "Good", nil, nil, "LLMBENCH_OUT="+filepath.Join(file, "out"))
	assert.Equal(t, code, 1)
	assert.Equal(t, stdout, "")
	assert.Assert(t, strings.HasPrefix(stderr, "LLMBENCH_OUT="+filepath.Join(file, "out")+": no records can be written there: "), stderr)
}

// helperNoMain calls Run twice in a process whose TestMain does not call Main.
func helperNoMain(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	for _, name := range []string{"a", "b"} {
		b.Run(name, func(b *testing.B) {
			Run(b, target, Load{Requests: words(2, 4), Concurrency: 1})
		})
	}
}

// TestWithoutMain checks that Run logs once if TestMain does not call Main.
func TestWithoutMain(t *testing.T) {
	stdout, _, code, _ := runHelper(t, "NoMain", nil, nil)
	assert.Equal(t, code, 0, stdout)
	assert.Equal(t, strings.Count(stdout, "TestMain does not call llmbench.Main"), 1, stdout)
	all, units := results(t, stdout)
	assert.Equal(t, len(all), 2, stdout)
	assert.Equal(t, len(units), 0, stdout)
}
