package llmbench

import (
	"fmt"
	"net"
	"runtime"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/control"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// BenchmarkSoak sends many requests through one client, and measures what remains in memory after each
// request. It sends 20,000 requests, or a million with LLMBENCH_FULL=1, which takes minutes. The samples of
// each pass are dropped. The load is a closed loop of streams with three deltas, in which one client in a
// hundred leaves. The heap and the number of goroutines at the end must be the same as after a tenth of the
// requests. The units B/req and goroutines are the differences. The unit B/sample is the memory of a sample
// that is kept.
//
// In the last measurement, 20,000 requests left 2 bytes each and one goroutine, and a sample of three
// deltas took 263 bytes.
func BenchmarkSoak(b *testing.B) {
	passes, perPass := 20, 1000
	if fullForm(b) {
		passes, perPass = 100, 10000
	}
	// noise is the permitted growth, caused by the runtime itself and by pools.
	const noise = 1 << 20

	l, err := Load{Requests: words(perPass, 3), Concurrency: 16, Cancel: Cancel{Share: 0.01, Deltas: 2}}.check()
	assert.NilError(b, err)
	target, _ := countingServer(b, answerAlways)
	c, err := newClient(target)
	assert.NilError(b, err)
	defer c.Close()
	k, err := control.New(0, false)
	assert.NilError(b, err)
	defer k.Close()
	pass := func() *store.Store {
		samples := store.New(store.Bound, "")
		pl, err := newPlan(&l, target, l.Requests)
		assert.NilError(b, err)
		p := pl.pass(process.Join("soak").Part(), &l)
		p.With, p.Beside, p.Keep = process.Join("soak"), k, func(s *sample.Sample, _ bool) error { return samples.Add(s) }
		_, _, err = c.Pass(b.Context(), p)
		assert.NilError(b, err)
		all := samples.Between(0, samples.End())
		s := sample.Summarize(all, sample.Elapsed(all), sample.SLO{})
		assert.Equal(b, s.Outcomes[sample.OK], perPass*99/100)
		assert.Equal(b, s.Outcomes[sample.Left], perPass/100)
		return samples
	}
	var begin, end, kept memory
	var samples *store.Store
	for b.Loop() {
		for n := range passes {
			if n == passes/10 {
				begin = takeMemory()
			}
			pass()
		}
		end = takeMemory()
		samples = pass()
		kept = takeMemory()
		runtime.KeepAlive(samples)
	}
	n := float64(perPass * (passes - passes/10))
	grown := float64(end.heap) - float64(begin.heap)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(grown/n, "B/req")
	b.ReportMetric(float64(end.goroutines-begin.goroutines), "goroutines")
	b.ReportMetric((float64(kept.heap)-float64(end.heap))/float64(perPass), "B/sample")
	if grown > noise {
		b.Errorf("the heap grew from %d to %d bytes over %g requests", begin.heap, end.heap, n)
	}
	if end.goroutines > begin.goroutines+2*l.Concurrency {
		b.Errorf("%d goroutines became %d", begin.goroutines, end.goroutines)
	}
}

// A memory is the heap size and the number of goroutines of this process.
type memory struct {
	heap       uint64
	goroutines int
}

// takeMemory returns the memory after a garbage collection. It collects twice, because only the second
// collection frees the contents of pools.
func takeMemory() memory {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{m.HeapAlloc, runtime.NumGoroutine()}
}

// answerAlways answers each request on c with a stream of three deltas and usage.
func answerAlways(c net.Conn, _ int) bool {
	const delta = `data: {"choices":[{"index":0,"delta":{"content":" word"}}]}` + "\n\n"
	const body = delta + delta + `data: {"choices":[{"index":0,"delta":{"content":" end"},"finish_reason":"length"}]}` + "\n\n" +
		`data: {"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":3}}` + "\n\ndata: [DONE]\n\n"
	_, err := fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	return err == nil
}
