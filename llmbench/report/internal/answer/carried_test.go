package answer

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestCarried checks what is said of a gateway whose limits were searched for.
func TestCarried(t *testing.T) {
	const (
		rates   = "BenchmarkGateway/backend=p/stream=true/rate=50 1 0.5 added-p99-ttft-ms 900 srv-req/cpu-s\nBenchmarkGateway/backend=p/stream=true/rate=100 1 60 added-p99-ttft-ms 900 srv-req/cpu-s\n"
		one     = "BenchmarkGateway/backend=p/stream=true/tail-ms=1 1 1510 tail-req/s 1548 tail-missed-req/s\n"
		fifty   = "BenchmarkGateway/backend=p/stream=true/tail-ms=50 1 1900 tail-req/s 1948 tail-missed-req/s\n"
		five    = "BenchmarkGateway/backend=p/stream=true/tail-ms=5 1 1800 tail-req/s 1848 tail-missed-req/s\n"
		streams = "BenchmarkGateway/backend=p/stream=true/of=streams/upto=4096 1 4000 max-streams\n"
		memory  = "BenchmarkGateway/backend=p/stream=true/streams=256 1 38.2 gw-kB/stream 13 gw-idle-MB 22.8 gw-open-MB 14 gw-after-MB\n"
		growth  = "BenchmarkGateway/backend=p/stream=true/of=growth/requests=16000 1 17.72 gw-growth-MB/Mreq -10.5 gw-growth-low-MB/Mreq 40 gw-growth-high-MB/Mreq\n"
	)
	for _, tt := range []struct{ name, text, short, tiles string }{
		{"all", rates + one + five + fifty + streams + memory + growth, "The gateway carries 1800 req/s at 5 ms added, and 4000 streams; 38.2 kB a stream",
			"Requests a second, by the time added (p99): 1510 1 ms, 1800 5 ms, 1900 50 ms|Streams at once: 4000|Memory of a stream: 38.2 kB|Memory after a million requests: +17.7 MB"},
		{"the nearest bound", one + fifty, "The gateway carries 1510 req/s at 1 ms added", "Requests a second, by the time added (p99): 1510 1 ms, 1900 50 ms"},
	} {
		a := answerOf(t, tt.text, nil)
		assert.Equal(t, a.Short, tt.short, tt.name)
		var tiles []string
		for _, x := range a.Tiles {
			var values []string
			for _, v := range x.Values {
				values = append(values, strings.TrimSpace(v.Text+" "+v.Name))
			}
			tiles = append(tiles, x.Label+": "+strings.Join(values, ", "))
		}
		assert.Equal(t, strings.Join(tiles, "|"), tt.tiles, tt.name)
	}
	for _, text := range []string{rates, five + strings.Replace(five, "backend=p", "backend=q", 1), five + strings.Replace(five, "stream=true", "stream=true/x=2", 1)} {
		assert.Assert(t, !strings.HasPrefix(answerOf(t, text, nil).Short, "The gateway carries"), text)
	}
}
