package llmbench

import (
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
)

// BenchmarkOpenStream reports what memory a stream takes while it is open, heap
// and stacks, with 1,000 of them: B/stream. The server's part is in it, and is
// kept small: a goroutine and its stack.
func BenchmarkOpenStream(b *testing.B) {
	const streams = 1000
	var (
		underWay atomic.Int64
		all      = make(chan struct{}) // closed when every stream is
		goOn     = make(chan struct{})
	)
	url := rawServer(b, func(c net.Conn) {
		request := make([]byte, 1<<10) // more than the head and body of one
		if _, err := c.Read(request); err != nil {
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
		io.WriteString(c, `data: {"choices":[{"index":0,"delta":{"content":"`+strings.Repeat("x", 200)+`"}}]}`+"\n\n")
		if underWay.Add(1) == streams {
			close(all)
		}
		<-goOn
		io.WriteString(c, `data: {"choices":[{"index":0,"delta":{"content":"y"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	})
	var before, during runtime.MemStats
	for b.Loop() {
		underWay.Store(0)
		all, goOn = make(chan struct{}), make(chan struct{})
		runtime.GC()
		runtime.ReadMemStats(&before)
		var wg sync.WaitGroup
		wg.Go(func() {
			for i, s := range onePass(b, Target{URL: url}, Load{Requests: words(streams, 2), Concurrency: streams}) {
				assert.Check(b, s.Outcome == OK && s.Deltas == 2, "stream %d: %d deltas, %v", i, s.Deltas, s.Err)
			}
		})
		<-all
		runtime.GC()
		runtime.ReadMemStats(&during)
		close(goOn)
		wg.Wait()
	}
	b.ReportMetric(0, "ns/op")
	used := func(m *runtime.MemStats) float64 { return float64(m.HeapInuse + m.StackInuse) }
	b.ReportMetric((used(&during)-used(&before))/streams, "B/stream")
}
