package llmbench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
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

// BenchmarkOpenStream reports the client's memory per open stream. The unit B/stream includes heap and
// stacks, and stack-B/stream only stacks. The server is another process. With LLMBENCH_FULL=1 the benchmark
// also opens 10,000 streams, and each process must be allowed to open that many files.
//
// With 5,000 streams or more, a stream takes 12,000 bytes. These are a stack of 4 KiB, the request with its
// context, the parser and the rest. If the stack is 8 KiB, the functions that run while a stream waits need
// too much stack; see worker.send. With net/http's Transport, a stream took 47,000 bytes, because of two
// more stacks of 8 KiB and buffers of 4 KiB.
func BenchmarkOpenStream(b *testing.B) {
	all := []int{1000, 5000}
	if fullForm(b) {
		all = append(all, 10000)
	}
	for _, streams := range all {
		b.Run(fmt.Sprintf("concurrency=%d", streams), func(b *testing.B) { openStreams(b, streams) })
	}
}

// streamDeltas is the number of deltas of each stream. The server pauses before the last one.
const streamDeltas = 8

func openStreams(b *testing.B, streams int) {
	cmd := helperCommand(context.Background(), "Streams")
	in, err := cmd.StdinPipe()
	assert.NilError(b, err)
	out, err := cmd.StdoutPipe()
	assert.NilError(b, err)
	assert.NilError(b, cmd.Start())
	b.Cleanup(func() {
		in.Close()
		defer time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }).Stop()
		io.Copy(io.Discard, out)
		assert.Check(b, cmd.Wait())
	})
	lines := bufio.NewScanner(out)
	await := func(prefix string) string {
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), prefix) {
				return lines.Text()
			}
		}
		b.Fatalf("the server's process ended before it printed %q: %v", prefix, lines.Err())
		return ""
	}
	fmt.Fprintln(in, streams)
	target := Target{URL: await("http://")}

	var before, during runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		var wg sync.WaitGroup
		wg.Go(func() {
			samples, err := tryPass(b, b.Context(), target, Load{Requests: words(streams, streamDeltas), Concurrency: streams})
			assert.Check(b, err)
			for i, s := range samples {
				assert.Check(b, s.Outcome == sample.OK && s.Deltas == streamDeltas, "stream %d: %d deltas, %v", i, s.Deltas, s.Err)
			}
		})
		await("all")
		runtime.GC()
		runtime.ReadMemStats(&during)
		fmt.Fprintln(in, "go on")
		wg.Wait()
	}
	b.ReportMetric(0, "ns/op")
	heap, stacks := float64(during.HeapInuse-before.HeapInuse), float64(during.StackInuse-before.StackInuse)
	b.ReportMetric((heap+stacks)/float64(streams), "B/stream")
	b.ReportMetric(stacks/float64(streams), "stack-B/stream")
	assert.Check(b, stacks/float64(streams) < 5000, "the stacks of waiting streams have grown to 8 KiB; see Worker.send in package send")
}

// helperStreams is the server of BenchmarkOpenStream, which pauses in the middle of its streams. The first
// line of its input is the number of streams. When all of them have begun, it prints "all". Each further
// line of input lets the streams end.
func helperStreams(b *testing.B) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Scan()
	streams, err := strconv.ParseInt(lines.Text(), 10, 64)
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
		if _, err := c.Read(make([]byte, 1<<10)); err != nil { // large enough for the head and the body of a request
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
		// To tell waiting segments apart takes the most stack, so several segments wait for the client.
		for range streamDeltas - 1 {
			io.WriteString(c, `data: {"choices":[{"index":0,"delta":{"content":"`+strings.Repeat("x", 200)+`"}}]}`+"\n\n")
			time.Sleep(300 * time.Microsecond)
		}
		if r.begun.Add(1) == streams {
			fmt.Println("all")
		}
		<-r.goOn
		io.WriteString(c, `data: {"choices":[{"index":0,"delta":{"content":"y"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	})
	fmt.Println(url)
	for lines.Scan() {
		close(now.Swap(&round{goOn: make(chan struct{})}).goOn)
	}
	close(now.Load().goOn)
}
