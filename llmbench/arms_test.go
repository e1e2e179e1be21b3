package llmbench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"iter"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// drifting returns a simulated server on a machine whose speed drifts, for use in a synctest bubble. A
// request that arrives at t takes slower(t) times as long as it should, rounded to thousandths.
func drifting(t *testing.T, cfg mockserver.Config, slower func(t time.Duration) float64) (target Target, stop func()) {
	servers := map[float64]*mockserver.Server{}
	began := time.Now()
	target, stop = inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		factor := math.Round(1000*slower(time.Since(began))) / 1000
		if servers[factor] == nil {
			c := cfg
			c.Speed = 1 / factor
			var err error
			servers[factor], err = mockserver.New(c)
			assert.NilError(t, err)
		}
		servers[factor].ServeHTTP(w, r)
	}))
	target.Simulated = true
	return target, stop
}

// ofOps runs f as a benchmark with n ops.
func ofOps(t *testing.T, n int, f func(b *testing.B)) {
	t.Helper()
	benchtime := flag.Lookup("test.benchtime").Value
	defer benchtime.Set(benchtime.String())
	assert.NilError(t, benchtime.Set(fmt.Sprintf("%dx", n)))
	testing.Benchmark(f)
}

// TestArmsDrift measures two servers in virtual time, on a machine that becomes 20 % slower meanwhile. The
// second server takes 5 % longer for each token. The drift of the machine changes the measured difference
// between the servers. If their passes take turns, as arms do, this error must be less than a tenth of the
// error of measuring one server after the other.
func TestArmsDrift(t *testing.T) {
	const rounds = 16
	l := Load{Requests: words(4, 11), Concurrency: 1}
	costs := []mockserver.Config{{PerToken: 5 * ms}, {PerToken: 5250 * time.Microsecond}}
	run := 2 * rounds * 4 * 10 * 5 * ms // all passes, on a machine that does not drift
	for name, slower := range map[string]func(at time.Duration) float64{
		"steady":   func(at time.Duration) float64 { return 1 + 0.2*min(1, float64(at)/float64(run)/1.1) },
		"sudden":   func(at time.Duration) float64 { return 1 + 0.2*math.Round(min(1, float64(at)/float64(run)/1.1)) },
		"to waves": func(at time.Duration) float64 { return 1.1 - 0.1*math.Cos(math.Pi*float64(at)/float64(run)/1.1) },
	} {
		t.Run(name, func(t *testing.T) {
			change := func(inTurns bool, slower func(time.Duration) float64) (share float64) {
				synctest.Test(t, func(t *testing.T) {
					var arms []Arm
					for i, c := range costs {
						target, stop := drifting(t, c, slower)
						defer stop()
						arms = append(arms, Arm{Name: fmt.Sprintf("arm=%d", i), Target: target})
					}
					tpot := make([]float64, len(arms))
					if inTurns {
						ofOps(t, rounds, func(b *testing.B) {
							c := &contest{load: l, arms: arms}
							for i, one := range c.measure(b).arms {
								assert.NilError(t, one.err)
								tpot[i] = one.value(t, "mean-tpot-ns")
							}
						})
					} else {
						for i, arm := range arms {
							ofOps(t, rounds, func(b *testing.B) {
								r := Run(b, arm.Target, l)
								tpot[i] = sample.Summarize(r.All(), r.Elapsed, sample.SLO{}).Metrics["mean-tpot-ns"]
							})
						}
					}
					share = tpot[1]/tpot[0] - 1
				})
				return share
			}
			still := func(time.Duration) float64 { return 1 }
			separate, inTurns := change(false, slower)-change(false, still), change(true, slower)-change(true, still)
			assert.Assert(t, math.Abs(change(true, still)-0.05) < 1e-6)
			assert.Assert(t, separate > 0.08, "%v", separate)
			assert.Assert(t, math.Abs(inTurns) < separate/10, "%v, and %v of arms one after the other", inTurns, separate)
			t.Logf("the drift changes the difference by %.4f %%, and by %.2f %% of arms one after the other", 100*inTurns, 100*separate)
		})
	}
}

// value returns the value of a metric of an arm.
func (t *armTrial) value(tb testing.TB, unit string) float64 {
	at := slices.IndexFunc(t.values, func(f figure) bool { return f.unit == unit })
	assert.Assert(tb, at >= 0, "no %s in %v", unit, t.values)
	return t.values[at].value
}

// TestArmsCompare checks that an arm gets the samples of the first arm and its own, all of them, and that the
// first arm must not compare.
func TestArmsCompare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arms []Arm
		for i, c := range []mockserver.Config{{TTFT: 20 * ms}, {TTFT: 25 * ms}, {TTFT: 40 * ms}} {
			target, stop := drifting(t, c, func(time.Duration) float64 { return 1 })
			defer stop()
			arms = append(arms, Arm{Name: fmt.Sprintf("arm=%d", i), Target: target})
			if i > 0 {
				arms[i].Compare = func(first, own iter.Seq[*sample.Sample], _ time.Duration) map[string]float64 {
					sum := func(samples iter.Seq[*sample.Sample]) (d time.Duration) {
						for s := range samples {
							ttft, _ := s.TTFT()
							d += ttft
						}
						return d
					}
					return map[string]float64{"longer-ms": float64((sum(own) - sum(first)) / ms)}
				}
			}
		}
		l := Load{Requests: words(4, 2), Concurrency: 1, Units: []sample.Unit{{Name: "longer-ms"}, {Name: "own"}},
			Figures: func(iter.Seq[*sample.Sample]) map[string]float64 { return map[string]float64{"own": 1} }}
		ofOps(t, 3, func(b *testing.B) {
			c := &contest{load: l, arms: arms}
			for i, one := range c.measure(b).arms {
				assert.NilError(t, one.err)
				assert.Equal(t, one.value(t, "own"), 1.)
				if i > 0 { // of three rounds with four requests
					assert.Equal(t, one.value(t, "longer-ms"), []float64{0, 60, 240}[i])
				}
			}
		})
		arms[0].Compare = arms[1].Compare
		assert.ErrorContains(t, checkArms(arms), "is the first and has Compare")
	})
}

// TestArmsOrder checks that all orders of the arms are equally frequent, and that every second round uses
// the reverse order of the round before it.
func TestArmsOrder(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint32(6000) {
		first, second := armsOrder(seed, 2, 3), armsOrder(seed, 3, 3)
		slices.Reverse(second)
		assert.DeepEqual(t, first, second)
		assert.DeepEqual(t, first, armsOrder(seed, 2, 3))
		counts[fmt.Sprint(first)]++
	}
	assert.Equal(t, len(counts), 6)
	for order, n := range counts {
		assert.Assert(t, n > 850 && n < 1150, "%s: %d of 6000", order, n)
	}
}

// TestCheckArms checks that invalid lists of arms are errors.
func TestCheckArms(t *testing.T) {
	named := func(names ...string) (all []Arm) {
		for _, name := range names {
			all = append(all, Arm{Name: name})
		}
		return all
	}
	assert.NilError(t, checkArms(named("via=direct/concurrency=1", "via=gateway/concurrency=1", "via=x-2.0_")))
	for want, arms := range map[string][]Arm{
		"arms: 1: want at least two":                            named("via=a"),
		`arms: two with the name "via=a": want different names`: named("via=a", "via=b", "via=a"),
		`arms: the name "fp16": want parts such as via=gateway`: named("fp16", "awq"),
		`arms: the name "via=A b": want parts such as`:          named("via=b", "via=A b"),
		`arms: the name "": want parts such as`:                 named("via=b", ""),
		`arms: the name "via=a/": want parts such as`:           named("via=b", "via=a/"),
	} {
		assert.ErrorContains(t, checkArms(arms), want)
	}
}

// armsVariant is the environment variable that tells helperArms what to do.
const armsVariant = "TEST_VARIANT_OF_ARMS"

// helperArms measures two arms. If the variant says so, one of them fails in its second pass.
func helperArms(b *testing.B) {
	failing := mockserver.Config{TTFT: ms, Faults: []fault.Fault{{Kind: fault.Truncate, Every: 9, At: 1}}}
	configs := map[string]mockserver.Config{"first": {TTFT: ms}, "second": {TTFT: 2 * ms}}
	variant := os.Getenv(armsVariant)
	if _, fails := configs[variant]; fails {
		configs[variant] = failing
	}
	var arms []Arm
	for _, name := range []string{"first", "second"} {
		_, target := loopback(b, configs[name])
		target.Config = map[string]string{"version": name}
		arms = append(arms, Arm{Name: "arm=" + name, Target: target})
	}
	if variant == "same" {
		b.Run("arm=second", func(b *testing.B) { b.SkipNow() })
	}
	l := Load{Concurrency: 2, Warmup: words(2, 2), Fresh: func(pass int) ([]Request, error) {
		all := words(6, 3)
		for i := range all {
			all[i].MaxTokens = 1 + pass
		}
		return all, nil
	}}
	l.Figures = func(samples iter.Seq[*sample.Sample]) map[string]float64 {
		passes := map[int]int{}
		for s := range samples {
			passes[s.MaxTokens-1]++
		}
		sum, n := 0, 0
		for pass, requests := range passes {
			assert.Equal(b, requests, 6, "of pass %d", pass)
			sum, n = sum+pass, n+1
		}
		return map[string]float64{"passes": float64(n), "sum-of-passes": float64(sum)}
	}
	l.Units = []sample.Unit{{Name: "passes", Means: "Number of passes."}, {Name: "sum-of-passes", Means: "Sum of their numbers."}}
	Arms(b, l, arms...)
}

// TestArms runs arms in a separate process, and checks the output and the records.
func TestArms(t *testing.T) {
	for _, tt := range []struct {
		name, variant string
		args          []string
		rounds        int
		want          []string // the arms with results, in order
		fails         string   // text in the output if the process must fail
	}{
		{"three rounds", "", []string{"-test.benchtime=3x"}, 3, []string{"first", "second"}, ""},
		{"two samples", "", []string{"-test.benchtime=2x", "-test.count=2"}, 2, []string{"first", "first", "second", "second"}, ""},
		{"one arm is asked for", "", []string{"-test.bench=^BenchmarkHelper$/^Arms$/second", "-test.benchtime=2x"}, 2, []string{"second"}, ""},
		{"as long as it takes", "", []string{"-test.benchtime=50ms"}, 0, []string{"first", "second"}, ""},
		{"the first arm fails", "first", []string{"-test.benchtime=3x"}, 3, []string{"second"}, "pass 1: 1 of 6 requests failed"},
		{"the second arm fails", "second", []string{"-test.benchtime=3x"}, 3, []string{"first"}, "pass 1: 1 of 6 requests failed"},
		{"a name twice", "same", nil, 0, []string{"first"}, "arms: another sub-benchmark of BenchmarkHelper/Arms has the name arm=second: want different names"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			cmd := helperCommand(ctx, "Arms", tt.args...)
			out := t.TempDir()
			cmd.Env = append(cmd.Env, armsVariant+"="+tt.variant, "LLMBENCH_OUT="+out)
			text, err := cmd.CombinedOutput()
			assert.Equal(t, err != nil, tt.fails != "", "%s", text)
			assert.Assert(t, strings.Contains(string(text), tt.fails), "%s", text)
			checkArmsResults(t, text, tt.rounds, tt.want)
			if tt.variant != "same" {
				checkArmsRecords(t, out, tt.variant, tt.rounds)
			}
		})
	}
}

// helperArmsSlow measures arms whose passes take minutes.
func helperArmsSlow(b *testing.B) {
	_, target := loopback(b, mockserver.Config{TTFT: 100 * ms})
	Arms(b, Load{Requests: words(10000, 4), Concurrency: 4}, Arm{Name: "arm=first", Target: target}, Arm{Name: "arm=second", Target: target})
}

// TestArmsInterrupted checks that Ctrl-C ends all arms, and that the records of each arm say that it was
// interrupted.
func TestArmsInterrupted(t *testing.T) {
	stdout, _, code, out := runHelper(t, "ArmsSlow", []string{"-test.benchtime=10s"}, func(cmd *exec.Cmd, out string) {
		runtest.Until(t, "there are records", func() bool {
			files, _ := filepath.Glob(filepath.Join(out, "*.jsonl"))
			return slices.ContainsFunc(files, func(file string) bool {
				text, _ := os.ReadFile(file)
				return bytes.Count(text, []byte("\n")) > 1
			})
		})
		assert.NilError(t, cmd.Process.Signal(os.Interrupt))
	})
	assert.Equal(t, code, 1, stdout)
	for _, arm := range []string{"first", "second"} {
		assert.Assert(t, strings.Contains(stdout, "--- FAIL: BenchmarkHelper/ArmsSlow/arm="+arm), stdout)
		head, _ := readRecords(t, filepath.Join(out, "BenchmarkHelper,ArmsSlow,arm="+arm+".1.jsonl"))
		assert.Assert(t, strings.HasPrefix(head["end"].(string), "failed: pass 0: interrupted"), head["end"])
	}
}

// TestArmsOfShards checks that all processes of a measurement use the same order of the arms, and that an
// arm that fails ends neither the other arms nor the other processes.
func TestArmsOfShards(t *testing.T) {
	for _, tt := range []struct {
		variant, benchtime string
		codes              []int
		want               []string
	}{
		{"", "3x", []int{0, 0}, []string{"first", "first", "second", "second"}},
		{"", "30ms", []int{0, 0}, []string{"first", "first", "second", "second"}},
		{"nowhere", "3x", []int{1, 1}, []string{"first", "first"}},
	} {
		t.Run(tt.variant+tt.benchtime, func(t *testing.T) {
			t.Parallel()
			server := newBodyServer(t)
			all := startShards(t, 2, server.URL, "^arms$", func(_ int, p *shardProcess) {
				p.Env = append(p.Env, shardsVariant+"="+tt.variant)
				p.Args = append(p.Args, "-test.benchtime="+tt.benchtime, "-test.count=2")
			})
			checkCodes(t, all, tt.codes...)
			rows, _ := results(t, all[0].stdout.String())
			seeds := map[float64]int{}
			var got []string
			for _, r := range rows {
				_, parts := r.Name.Parts()
				got = append(got, strings.TrimPrefix(string(parts[2]), "/arm="))
				seed, has := r.Value(sample.ArmsSeed)
				assert.Assert(t, has, all[0].text())
				seeds[seed]++
			}
			assert.DeepEqual(t, got, tt.want)
			assert.Equal(t, len(seeds), 2, "%v", seeds)
			if tt.variant == "nowhere" {
				assert.Assert(t, strings.Contains(all[0].text(), "pass 0: 5 of 5 requests failed"), all[0].text())
			}
			rows, _ = results(t, all[1].stdout.String())
			assert.Equal(t, len(rows), 0, all[1].text())
		})
	}
}

// checkArmsResults checks the results of helperArms. The numbers of the passes differ between the samples.
func checkArmsResults(t *testing.T, text []byte, rounds int, want []string) {
	t.Helper()
	var got []string
	seeds, sums := map[string][]float64{}, 0.0
	in := benchfmt.NewReader(bytes.NewReader(text), "output")
	for in.Scan() {
		r, ok := in.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		_, parts := r.Name.Parts()
		arm := strings.TrimPrefix(string(parts[1]), "/arm=") // after "/Arms"
		got = append(got, arm)
		assert.Equal(t, r.GetConfig("version"), arm)
		value := func(unit string) float64 {
			v, has := r.Value(unit)
			assert.Assert(t, has, "no %s in\n%s", unit, text)
			return v
		}
		if rounds > 0 {
			assert.Equal(t, value("passes"), float64(rounds))
			assert.Equal(t, r.Iters, rounds)
		}
		sums += value("sum-of-passes")
		seeds[arm] = append(seeds[arm], value(sample.ArmsSeed))
	}
	assert.DeepEqual(t, got, want)
	if rounds > 0 && slices.Contains(got, "first") && slices.Contains(got, "second") {
		n := float64(rounds * len(got))
		assert.Equal(t, sums, n*(n-1)/2, "each pass has a number of its own")
	}
	assert.Assert(t, bytes.Contains(text, []byte("\nUnit arms-seed pairs=yes\n")), "%s", text)
	if len(seeds) == 2 {
		assert.DeepEqual(t, seeds["first"], seeds["second"])
	}
	for _, all := range seeds {
		assert.Equal(t, len(slices.Compact(slices.Sorted(slices.Values(all)))), len(all), "two samples have one seed: %v", all)
	}
}

// checkArmsRecords checks that each arm has its own records, even if the arm failed in its second pass.
func checkArmsRecords(t *testing.T, folder, failed string, rounds int) {
	t.Helper()
	for _, arm := range []string{"first", "second"} {
		files, err := filepath.Glob(filepath.Join(folder, "*arm="+arm+"*"))
		assert.NilError(t, err)
		assert.Assert(t, len(files) > 0)
		file, err := os.Open(files[0])
		assert.NilError(t, err)
		defer file.Close()
		f, err := records.Read(file, files[0])
		assert.NilError(t, err)
		assert.Equal(t, f.Head.Benchmark, "BenchmarkHelper/Arms/arm="+arm)
		end, passes := records.EndedOK, rounds
		if arm == failed {
			end, passes = records.EndedFailed, 2
		}
		assert.Equal(t, f.End.Outcome, end)
		if passes > 0 {
			assert.Equal(t, f.Len(), 6*passes)
		}
	}
}
