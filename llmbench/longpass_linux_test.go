package llmbench

import (
	"bufio"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestLongPass makes one pass of many requests with 128 output tokens in virtual time, and logs the peak
// memory of the process. The records must hold every request. With LLMBENCH_FULL=1 the pass has a million
// requests, which are never all in memory; CONTRIBUTING.md has the command.
func TestLongPass(t *testing.T) {
	const tokens = 128
	n := 1000
	if os.Getenv("LLMBENCH_FULL") == "1" {
		n = 1_000_000
	}
	dir := t.TempDir()
	t.Setenv("LLMBENCH_OUT", dir)
	begin := time.Now()
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(mockserver.Config{TTFT: 100 * ms, PerToken: 5 * ms})
		assert.NilError(t, err)
		var served atomic.Int64
		target, stop := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if served.Add(1)%1000 == 0 {
				srv.Reset() // the mock's log holds every token, and would grow
			}
			srv.ServeHTTP(w, r)
		}))
		defer stop()
		target.Simulated = true
		one := words(1, tokens)[0]
		m, err := setUp(process.Join("long"), target, Load{Requests: slices.Repeat([]Request{one}, 32), Concurrency: 32})
		assert.NilError(t, err)
		defer m.close()
		pl, err := planOf(&m.load, target, source{n, func(int) Request { return one }})
		assert.NilError(t, err)
		assert.NilError(t, m.beginRecords("long"))
		assert.NilError(t, m.single(t.Context(), "", pl))
		m.end.Outcome = records.EndedOK
		assert.NilError(t, m.endRecords())
		result := m.result()
		s := sample.Summarize(result.All(), result.Elapsed, sample.SLO{})
		assert.NilError(t, result.Err())
		assert.Equal(t, s.Outcomes[sample.OK], n)
		assert.Equal(t, s.Metrics["out-tok/req"], float64(tokens))
		assert.Equal(t, s.Metrics["p50-itl-ns"], float64(5*ms))
		assert.NilError(t, result.Close())
	})
	f, err := os.Open(filepath.Join(dir, "long.1.jsonl"))
	assert.NilError(t, err)
	defer f.Close()
	lines := 0
	var last string
	for in := bufio.NewScanner(f); in.Scan(); lines++ {
		last = string(in.Bytes()[:8])
	}
	assert.Equal(t, lines, n+2)
	assert.Equal(t, last, `{"end":{`)
	var usage syscall.Rusage
	assert.NilError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	t.Logf("%d requests in %v: at most %d MiB resident, %v of CPU time", n, time.Since(begin).Round(time.Second), usage.Maxrss>>10, time.Duration(usage.Utime.Nano()+usage.Stime.Nano()).Round(time.Second))
}

// TestBoundChangesNothing checks that samples that are read from a file give exactly the same metrics as
// samples in memory.
func TestBoundChangesNothing(t *testing.T) {
	cfg := mockserver.Config{TTFT: 100 * ms, PerToken: 5 * ms, Jitter: 0.5, Seed: 1}
	bubble(t, cfg, Load{Requests: words(300, 70), Concurrency: 6}, func(samples []sample.Sample, _ *mockserver.Server) {
		var figures []sample.Summary
		for _, bound := range []int{0, store.Bound} {
			s := store.New(bound, t.TempDir())
			for i := range samples {
				assert.NilError(t, s.Add(&samples[i]))
			}
			all := s.Between(0, s.End())
			figures = append(figures, sample.Summarize(all, sample.Elapsed(all), sample.SLO{TTFT: 100 * ms}))
			assert.NilError(t, errors.Join(s.Err(), s.Close()))
		}
		assert.Assert(t, len(figures[0].Metrics) > 20, "%v", figures[0].Metrics)
		assert.DeepEqual(t, figures[0], figures[1])
		assert.DeepEqual(t, figures[0], sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{TTFT: 100 * ms}))
	})
}
