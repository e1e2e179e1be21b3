package backends_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/llamatest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/llamatest/tinygguf"
)

// TestReplay goes the whole way that README shows: a real server is measured at
// 1, 2, 4 and 8 requests at once, an engine is fitted to the records, and what it
// predicts at 16 is held against what the server does there. Each figure is the
// median of three rounds. Throughput and latency may be off by half, their parts
// by twice (how far requests run in step decides what is TTFT and what TPOT), and
// by as much more as rounds of one load differ, because server, client and other
// tests share the machine's cores; there is a second attempt.
func TestReplay(t *testing.T) {
	url := llamatest.Start(t, llamatest.Options{
		Parallel: 16, Context: 2048, Model: tinygguf.Options{Dim: 512, Layers: 2, Heads: 8, KVHeads: 4, FF: 1024},
		Args: []string{"--cache-ram", "0", "--no-cache-prompt"}, // what it saves of prompts is not in the model
	})
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	run := func(env []string, name string, args ...string) string {
		t.Helper()
		var out, trouble bytes.Buffer
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &out, &trouble
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s %q: %v\n%s%s", name, args, err, out.String(), trouble.String())
		}
		return out.String()
	}
	run(nil, "go", "build", "-o", dir, "../mockserver/cmd/calibrate", "../mockserver/cmd/simulate")
	scenarios := filepath.Join(dir, "scenarios.test")
	run(nil, "go", "test", "-c", "-vet=off", "-o", scenarios, "../scenarios")

	attempt := func(n int) (off []string) {
		records := filepath.Join(dir, fmt.Sprint(n))
		var out strings.Builder
		for range 3 {
			for _, load := range []string{"1,2,4,8", "16"} {
				env := []string{
					"LLMBENCH_URL=" + url, "LLMBENCH_NAME=llamacpp", "LLMBENCH_MODEL=tiny", "LLMBENCH_UNITS=all",
					"LLMBENCH_CLIENT_BOUND=report", // it shares two cores with the server
					"LLMBENCH_INPUT=64", "LLMBENCH_OUTPUT=32", "LLMBENCH_CONCURRENCY=" + load,
				}
				if load == "16" {
					env = append(env, "LLMBENCH_REQUESTS=64")
				} else {
					env = append(env, "LLMBENCH_OUT="+records)
				}
				out.WriteString(run(env, scenarios, "-test.run=^$", "-test.bench=Serve", "-test.benchtime=1x"))
			}
		}
		measured := values(t, out.String(), "concurrency=16", middle)
		noise := 1.0
		for _, c := range []string{"1", "2", "4", "8", "16"} {
			most, least := values(t, out.String(), "concurrency="+c, slices.Max), values(t, out.String(), "concurrency="+c, slices.Min)
			assert.Assert(t, least["output-tok/s"] > 0, "%s at once: %v", c, least)
			noise = max(noise, most["output-tok/s"]/least["output-tok/s"])
		}
		t.Logf("rounds of one load differ by up to %.1f %%", 100*(noise-1))
		files, err := filepath.Glob(filepath.Join(records, "*.jsonl"))
		assert.NilError(t, err)
		assert.Equal(t, len(files), 12)
		profile := filepath.Join(dir, fmt.Sprintf("%d.json", n))
		text := run(nil, filepath.Join(dir, "calibrate"),
			append([]string{"-new", "llama", "-engine", `{"max_batch":16,"prefill_seqs":16,"prefill_chunk":2048}`}, files...)...)
		assert.NilError(t, os.WriteFile(profile, []byte(text), 0o666))
		predicted := values(t, run(nil, filepath.Join(dir, "simulate"), "-profile", profile, "-concurrency", "16", "-requests", "64",
			"-input", fmt.Sprintf("%.0f", measured["in-tok/req"]), "-output", "32"), "concurrency=16", middle)
		for unit, most := range map[string]float64{"output-tok/s": 1.5, "mean-e2e-ns": 1.5, "mean-ttft-ns": 2, "mean-tpot-ns": 2} {
			assert.Assert(t, measured[unit] > 0 && predicted[unit] > 0, "%s: measured %v, predicted %v", unit, measured[unit], predicted[unit])
			ratio := predicted[unit] / measured[unit]
			t.Logf("%s: measured %.4g, predicted %.4g, %+.1f %%", unit, measured[unit], predicted[unit], 100*(ratio-1))
			if most *= noise; ratio < 1/most || ratio > most {
				off = append(off, unit)
			}
		}
		return off
	}
	off := attempt(1)
	if len(off) > 0 {
		t.Logf("too far off: %v; once more", off)
		off = attempt(2)
	}
	assert.Equal(t, len(off), 0, "at 16 requests at once the fitted engine is too far off in %v", off)
}

// middle is the median of an odd number of values, the greater of the middle two
// of an even one.
func middle(v []float64) float64 { return slices.Sorted(slices.Values(v))[len(v)/2] }

// values returns one of the values of each unit, of the benchmarks whose names end
// in that part.
func values(t *testing.T, text, part string, of func([]float64) float64) map[string]float64 {
	t.Helper()
	all := map[string][]float64{}
	r := benchfmt.NewReader(strings.NewReader(text), "output")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatalf("%v in:\n%s", rec, text)
		case *benchfmt.Result:
			name := string(rec.Name.Full())
			last, _, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], "-") // without GOMAXPROCS
			if last != part {
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
		one[unit] = of(v)
	}
	return one
}
