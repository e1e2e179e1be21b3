package scenarios

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/testkit/chunkclient"
)

// BenchmarkHTTP compares HTTP/2, whose streams share connections, with HTTP/1.1, on the same mock server in another
// process.
//
//   - http=1.1 and http=2 measure the error of the harness, as BenchmarkError does.
//   - cost measures the CPU time that the client needs for a paced chunk. Each op runs a client of each version, in a process
//     of its own. x-http1 is the quotient of the two: what HTTP/2 costs beside HTTP/1.1. The values are medians.
func BenchmarkHTTP(b *testing.B) {
	cfg, err := readConfig()
	if err != nil {
		b.Fatal(err)
	}
	named, _ := environment(b)
	if !named.OnlyMock() {
		harness.Skip(b, "it measures the harness with the mock server, and the environment names another server")
	}
	for _, mode := range errorModes[:2] {
		b.Run("tokens="+mode.name, func(b *testing.B) {
			mock := startMock(b, mode.cfg)
			for _, streams := range []int{1, 64, 256} {
				form := errorForm{2, 10}
				if cfg.Full == "1" {
					form = errorForm{4, 25}
				} else if streams == 256 {
					continue
				}
				stagger := time.Duration(-1)
				if mode.name == "spread" {
					stagger = form.spread(mode.cfg.PerToken, streams)
				}
				for _, version := range []string{"1.1", "2"} {
					b.Run(fmt.Sprintf("concurrency=%d/http=%s", streams, version), func(b *testing.B) {
						mock := mock
						mock.target.HTTP = version
						measureError(b, mock, streams, form, stagger, true)
					})
				}
			}
		})
	}
	b.Run("cost", func(b *testing.B) {
		mock := startMock(b, mockserver.Config{TTFT: 200 * time.Millisecond, PerToken: 20 * time.Millisecond})
		for _, streams := range []int{1, 64, 256} {
			l := chunkclient.Load{URL: mock.target.URL, Streams: streams, Waves: 1, Output: 25}
			if cfg.Full == "1" {
				l.Waves, l.Output = 4, 100
			} else if streams == 256 {
				continue
			}
			b.Run(fmt.Sprintf("concurrency=%d", streams), func(b *testing.B) {
				var one, two, ratio []float64
				for b.Loop() {
					l.HTTP = "1.1"
					first := cpuPerChunk(runClient(b, "llmbench", l))
					l.HTTP = "2"
					second := cpuPerChunk(runClient(b, "llmbench", l))
					one, two, ratio = append(one, first), append(two, second), append(ratio, second/first)
					mock.reset(b)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(one), "http1-cpu-ns/chunk")
				b.ReportMetric(median(two), "http2-cpu-ns/chunk")
				b.ReportMetric(median(ratio), "x-http1")
			})
		}
	})
}

// TestHTTP2Chunks checks that the client of BenchmarkHTTP reads all chunks over HTTP/2.
func TestHTTP2Chunks(t *testing.T) {
	mock := startMock(t, mockserver.Config{})
	r := runClient(t, "llmbench", chunkclient.Load{URL: mock.target.URL, HTTP: "2", Streams: 8, Waves: 3, Output: 100})
	assert.Equal(t, r.Chunks, 2400)
}
