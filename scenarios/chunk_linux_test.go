package scenarios

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// BenchmarkChunk measures the client's CPU time for a chunk, cpu-ns/chunk, and for
// comparison that of a bare loop over net/http that only counts bytes. The mock server
// has one core, the client another. Paced chunks are 20 ms apart in each of 256
// streams, so that each wakes the client; unpaced chunks come as fast as the server
// can, many in one read.
func BenchmarkChunk(b *testing.B) {
	cfg, err := readConfig()
	if err != nil {
		b.Fatal(err)
	}
	if cfg.Full != "1" {
		b.Skip("LLMBENCH_FULL=1 runs it")
	}
	for _, mode := range []struct {
		name            string
		cfg             mockserver.Config
		streams, output int
	}{
		{"paced", mockserver.Config{TTFT: 200 * time.Millisecond, PerToken: 20 * time.Millisecond, Jitter: 0.3}, 256, 200},
		{"unpaced", mockserver.Config{}, 64, 2000},
		{"unpaced-usage", mockserver.Config{Shape: shape.Shape{Usage: shape.UsageEach}}, 64, 2000}, // the numbers of each chunk differ
	} {
		b.Run("tokens="+mode.name, func(b *testing.B) {
			release := pin(b, 0)
			mock := startMock(b, mode.cfg) // which inherits the core
			release()
			defer pin(b, 1)()
			requests, err := benchdata.Prompts{Input: 32, Output: mode.output, Seed: 1}.Requests(mode.streams)
			if err != nil {
				b.Fatal(err)
			}
			for _, client := range []struct {
				name string
				pass func(b *testing.B) (chunks int)
			}{
				{"bare", func(b *testing.B) int { return barePass(b, mock.target.URL, requests) }},
				{"llmbench", func(b *testing.B) (chunks int) {
					result, err := llmbench.Pass(b.Context(), b.Name(), mock.target, llmbench.Load{
						Requests: requests, Concurrency: len(requests), ClientBound: llmbench.BoundReported, // without control streams, whose CPU time would count
					})
					if err != nil {
						b.Fatal(err)
					}
					for s := range result.All() {
						if s.Err != nil {
							b.Fatal(s.Err)
						}
						chunks += s.Deltas
					}
					return chunks
				}},
			} {
				b.Run("client="+client.name+"/concurrency="+strconv.Itoa(mode.streams), func(b *testing.B) {
					chunks, before := 0, cpuTime(b)
					for b.Loop() {
						chunks += client.pass(b)
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(float64(cpuTime(b)-before)/float64(chunks), "cpu-ns/chunk")
				})
			}
		})
	}
}

// barePass sends all requests at once, reads the answers, and returns how many tokens
// it asked for.
func barePass(b *testing.B, url string, requests []llmbench.Request) (chunks int) {
	tr := &http.Transport{MaxIdleConnsPerHost: len(requests), DisableCompression: true}
	defer tr.CloseIdleConnections()
	var wg sync.WaitGroup
	var bytesRead atomic.Int64
	for _, r := range requests {
		chunks += r.MaxTokens
		body := []byte(`{"model":"mock","stream":true,"ignore_eos":true,"max_tokens":` + strconv.Itoa(r.MaxTokens) + `,"messages":[{"role":"user","content":` + strconv.Quote(r.Prompt) + `}]}`)
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				b.Error(err)
				return
			}
			defer resp.Body.Close()
			buf := make([]byte, 16<<10)
			for {
				n, err := resp.Body.Read(buf)
				bytesRead.Add(int64(n))
				if err == io.EOF {
					return
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if bytesRead.Load() < 100*int64(chunks) {
		b.Errorf("%d bytes for %d tokens: want at least 100 bytes for each", bytesRead.Load(), chunks)
	}
	return chunks
}

// cpuTime returns the CPU time that the process has used.
func cpuTime(tb testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// pin keeps all threads of the process, and those that they start, on one core with
// one P, until release is called. It skips b if the machine lacks the core.
func pin(b *testing.B, core int) (release func()) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		b.Fatal(err)
	}
	cores := []int{}
	for i := range 1024 {
		if all.IsSet(i) {
			cores = append(cores, i)
		}
	}
	if core >= len(cores) {
		b.Skipf("the process has %d cores; want two", len(cores))
	}
	var one unix.CPUSet
	one.Set(cores[core])
	set := func(s *unix.CPUSet) {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			b.Fatal(err)
		}
		for _, t := range tasks {
			if id, err := strconv.Atoi(t.Name()); err == nil {
				unix.SchedSetaffinity(id, s) // a thread may have ended meanwhile
			}
		}
	}
	procs := runtime.GOMAXPROCS(1)
	set(&one)
	return func() {
		set(&all)
		runtime.GOMAXPROCS(procs)
	}
}
