package llmbench

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// BenchmarkOpenStream reports what memory a stream takes while it is open, heap
// and stacks, and how much of it is stacks: B/stream, stack-B/stream. The server is
// another process. LLMBENCH_FULL=1 opens 10,000, too, for which each process must
// be allowed as many files.
//
// A stream takes 20,200 bytes, of 1,000, 5,000 and 10,000 alike: a stack of 8 KiB, buffers
// of 1 and 2 KiB, and net/http's message, the parser and the rest. Over net/http's
// Transport it took 47,000, with two more stacks and buffers of 4 KiB.
func BenchmarkOpenStream(b *testing.B) {
	all := []int{1000, 5000}
	if os.Getenv("LLMBENCH_FULL") == "1" {
		all = append(all, 10000)
	}
	for _, streams := range all {
		b.Run(fmt.Sprintf("concurrency=%d", streams), func(b *testing.B) { openStreams(b, streams) })
	}
}

func openStreams(b *testing.B, streams int) {
	exe, err := os.Executable()
	assert.NilError(b, err)
	cmd := exec.Command(exe, "-test.run=^$", "-test.bench=^BenchmarkHelperStreams$", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), helper+"=BenchmarkHelperStreams")
	in, err := cmd.StdinPipe()
	assert.NilError(b, err)
	out, err := cmd.StdoutPipe()
	assert.NilError(b, err)
	assert.NilError(b, cmd.Start())
	b.Cleanup(func() {
		in.Close()
		defer time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() }).Stop()
		io.Copy(io.Discard, out)
		assert.Check(b, cmd.Wait())
	})
	said := bufio.NewScanner(out)
	says := func(prefix string) string {
		for said.Scan() {
			if strings.HasPrefix(said.Text(), prefix) {
				return said.Text()
			}
		}
		b.Fatalf("the server's process ended before it said %q: %v", prefix, said.Err())
		return ""
	}
	fmt.Fprintln(in, streams)
	target := Target{URL: says("http://"), NoProxy: true}

	var before, during runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		var wg sync.WaitGroup
		wg.Go(func() {
			samples, err := tryPass(b, b.Context(), target, Load{Requests: words(streams, 2), Concurrency: streams})
			assert.Check(b, err)
			for i, s := range samples {
				assert.Check(b, s.Outcome == sample.OK && s.Deltas == 2, "stream %d: %d deltas, %v", i, s.Deltas, s.Err)
			}
		})
		says("all")
		runtime.GC()
		runtime.ReadMemStats(&during)
		fmt.Fprintln(in, "go on")
		wg.Wait()
	}
	b.ReportMetric(0, "ns/op")
	heap, stacks := float64(during.HeapInuse-before.HeapInuse), float64(during.StackInuse-before.StackInuse)
	b.ReportMetric((heap+stacks)/float64(streams), "B/stream")
	b.ReportMetric(stacks/float64(streams), "stack-B/stream")
}

// BenchmarkHelperStreams is BenchmarkOpenStream's server, which waits in the middle
// of its streams: it is told how many there will be, says when all have begun, and
// is told to go on, until its input ends.
func BenchmarkHelperStreams(b *testing.B) {
	helperOnly(b)
	told := bufio.NewScanner(os.Stdin)
	told.Scan()
	streams, err := strconv.ParseInt(told.Text(), 10, 64)
	assert.NilError(b, err)
	assert.NilError(b, conn.CheckLimits(int(streams)))
	type round struct {
		begun atomic.Int64
		goOn  chan struct{}
	}
	var now atomic.Pointer[round]
	now.Store(&round{goOn: make(chan struct{})})
	url := rawServer(b, func(c net.Conn) {
		r := now.Load()
		if _, err := c.Read(make([]byte, 1<<10)); err != nil { // more than the head and body of one
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
		io.WriteString(c, `data: {"choices":[{"index":0,"delta":{"content":"`+strings.Repeat("x", 200)+`"}}]}`+"\n\n")
		if r.begun.Add(1) == streams {
			fmt.Println("all")
		}
		<-r.goOn
		io.WriteString(c, `data: {"choices":[{"index":0,"delta":{"content":"y"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	})
	fmt.Println(url)
	for told.Scan() {
		close(now.Swap(&round{goOn: make(chan struct{})}).goOn)
	}
	close(now.Load().goOn)
}
