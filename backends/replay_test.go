package backends_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
)

const (
	// maxRoundNoise limits the noise at which TestReplay judges the prediction. It is the largest
	// accepted ratio of two rounds of the same load.
	maxRoundNoise = 1.1
	// maxPredictionError is the largest accepted ratio of the prediction to the measurement, or of
	// the measurement to the prediction.
	maxPredictionError = 2
)

// judgedUnits holds the units whose prediction TestReplay judges. It only logs the prediction of
// other units, because TTFT and TPOT depend on how far the requests run in step.
var judgedUnits = []string{"output-tok/s", "mean-e2e-ns"}

// TestReplay measures a real server with 1, 2, 4 and 8 requests at the same time. It fits an engine
// to the records, predicts the results for 16 requests at the same time, and compares this
// prediction with a measurement.
//
// Numbers of tokens must be exact. With LLMBENCH_FULL=1, times are judged too. They need a quiet
// machine, because the server, the client and other tests share the CPU cores. Each value is then
// the median of three rounds. The test fails if the rounds of each of two attempts agree and both
// predictions of times are wrong. If the rounds are too noisy, the test is skipped.
func TestReplay(t *testing.T) {
	full := os.Getenv("LLMBENCH_FULL") != ""
	if !full {
		t.Parallel()
	}
	var model tinygguf.Options
	if full {
		model = tinygguf.Options{Dim: 512, Layers: 2, Heads: 8, KVHeads: 4, FF: 1024} // most of the time is the model's
	}
	url := llamatest.Start(t, llamatest.Options{
		Parallel: 16, Context: 2048, Model: model,
		Args: []string{"--cache-ram", "0", "--no-cache-prompt"}, // the engine simulates no prompt cache
	})
	r := replay{dir: t.TempDir(), url: url, scenarios: scenariostest.Program(t)}
	run(t, nil, "go", "build", "-o", r.dir, "../mockserver/cmd/calibrate", "../mockserver/cmd/simulate")
	if !full {
		r.attempt(t, 0, 1)
		return
	}
	for i := range 2 {
		wrong, noise := r.attempt(t, i, 3)
		t.Logf("attempt %d: rounds of one load differ by up to %.1f %%; wrongly predicted: %v", i+1, 100*(noise-1), wrong)
		switch {
		case len(wrong) == 0:
			return
		case noise > maxRoundNoise:
			t.Skipf("too noisy to tell: rounds of one load differ by up to %.1f %%", 100*(noise-1))
		}
	}
	t.Fatalf("the fitted engine's prediction for 16 requests at once is wrong by more than a factor of %d", maxPredictionError)
}

// A replay holds what the attempts of TestReplay share.
type replay struct {
	dir       string // the folder of the programs calibrate and simulate
	url       string // the URL of the server
	scenarios string // the path of the test program of package scenarios
}

// attempt measures in the given number of rounds, fits an engine and predicts. It returns the
// judged units whose prediction is wrong, and the largest ratio of two rounds of the same load.
func (r replay) attempt(t *testing.T, n, rounds int) (wrong []string, noise float64) {
	t.Helper()
	records := filepath.Join(r.dir, fmt.Sprint(n))
	var measurements strings.Builder
	for range rounds {
		measurements.WriteString(r.measure(t, "LLMBENCH_CONCURRENCY=1,2,4,8", "LLMBENCH_REQUESTS=16", "LLMBENCH_OUT="+records))
		measurements.WriteString(r.measure(t, "LLMBENCH_CONCURRENCY=16", "LLMBENCH_REQUESTS=32"))
	}
	measured := unitValues(t, measurements.String(), "concurrency=16", median)
	predicted := unitValues(t, r.predict(t, records, 4*rounds, measured["in-tok/req"]), "concurrency=16", median)
	assert.Equal(t, measured["out-tok/req"], 32.0)
	assert.Equal(t, predicted["out-tok/req"], 32.0)
	assert.Equal(t, predicted["in-tok/req"], math.RoundToEven(measured["in-tok/req"]))
	for _, unit := range []string{"output-tok/s", "mean-e2e-ns", "mean-ttft-ns", "mean-tpot-ns"} {
		assert.Assert(t, measured[unit] > 0 && predicted[unit] > 0, "%s: measured %v, predicted %v", unit, measured[unit], predicted[unit])
		ratio := predicted[unit] / measured[unit]
		t.Logf("%s: measured %.4g, predicted %.4g, %+.1f %%", unit, measured[unit], predicted[unit], 100*(ratio-1))
		if slices.Contains(judgedUnits, unit) && max(ratio, 1/ratio) > maxPredictionError {
			wrong = append(wrong, unit)
		}
	}
	return wrong, roundNoise(t, measurements.String())
}

// measure runs BenchmarkServe against the server and returns the results.
func (r replay) measure(t *testing.T, env ...string) string {
	t.Helper()
	env = append(env, "LLMBENCH_URL="+r.url, "LLMBENCH_NAME=llamacpp", "LLMBENCH_MODEL=tiny", "LLMBENCH_UNITS=all",
		"LLMBENCH_CLIENT_BOUND=report", // the client shares its CPU cores with the server
		"LLMBENCH_INPUT=64", "LLMBENCH_OUTPUT=32")
	return run(t, env, r.scenarios, "-test.run=^$", "-test.bench=Serve", "-test.benchtime=1x")
}

// predict fits an engine to n files of records. It returns the simulated results for 16 requests at
// the same time.
func (r replay) predict(t *testing.T, records string, n int, inputTokens float64) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(records, "*.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, len(files), n)
	profile := records + ".json"
	text := run(t, nil, filepath.Join(r.dir, "calibrate"),
		append([]string{"-new", "llama", "-engine", `{"max_batch":16,"prefill_seqs":16,"prefill_chunk":2048}`}, files...)...)
	assert.NilError(t, os.WriteFile(profile, []byte(text), 0o666))
	return run(t, nil, filepath.Join(r.dir, "simulate"), "-profile", profile, "-concurrency", "16", "-requests", "32",
		"-input", fmt.Sprintf("%.0f", inputTokens), "-output", "32")
}

// run runs a command and returns its standard output.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &out, &stderr
	assert.NilError(t, cmd.Run(), "%s %q:\n%s%s", name, args, &out, &stderr)
	return out.String()
}

// roundNoise returns the largest ratio of two rounds of the same load, over the judged units.
func roundNoise(t *testing.T, results string) float64 {
	t.Helper()
	noise := 1.0
	for _, c := range []string{"1", "2", "4", "8", "16"} {
		highest := unitValues(t, results, "concurrency="+c, slices.Max)
		lowest := unitValues(t, results, "concurrency="+c, slices.Min)
		for _, unit := range judgedUnits {
			assert.Assert(t, lowest[unit] > 0, "%s at concurrency %s", unit, c)
			noise = max(noise, highest[unit]/lowest[unit])
		}
	}
	return noise
}

// median returns the median of an odd number of values. For an even number it returns the greater
// of the two values in the middle.
func median(v []float64) float64 { return slices.Sorted(slices.Values(v))[len(v)/2] }

// unitValues returns one value for each unit. The function reduce computes it from the values of
// all results whose name ends in lastPart.
func unitValues(t *testing.T, results, lastPart string, reduce func([]float64) float64) map[string]float64 {
	t.Helper()
	all := map[string][]float64{}
	r := benchfmt.NewReader(strings.NewReader(results), "output")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatalf("%v in:\n%s", rec, results)
		case *benchfmt.Result:
			name := string(rec.Name.Full())
			last, _, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], "-") // removes GOMAXPROCS
			if last != lastPart {
				continue
			}
			for _, v := range rec.Values {
				unit, value := v.Unit, v.Value
				if v.OrigUnit != "" {
					unit, value = v.OrigUnit, v.OrigValue
				}
				all[unit] = append(all[unit], value)
			}
		}
	}
	one := map[string]float64{}
	for unit, v := range all {
		one[unit] = reduce(v)
	}
	return one
}
