package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/testkit/chunkclient"
)

// BenchmarkChunk measures how much CPU time the client needs for a chunk, and how much memory its
// process needs. It compares the client with a plain loop over net/http and encoding/json. The mock
// server has one core, and the clients have another. Each client is a separate process. It sends
// passes of waves requests in each stream. Paced chunks are 20 ms apart, so that each chunk wakes
// the client. Unpaced chunks come as fast as the server can send them, and one read returns many of
// them.
//
// Each op runs both clients, one after the other. The values are medians:
//
//   - cpu-ns/chunk and plain-cpu-ns/chunk are the CPU time from the first request to the last
//     result, including the control streams.
//   - x-plain is the quotient of these two in the same op.
//   - rss-MB and plain-rss-MB are the largest amount of RAM that the process used, including its
//     program. program-MB is the part of it that holds pages of the program and of other files.
//     This test binary links a Docker client and much else, and the system maps 16 pages for each
//     page that is used. lean-rss-MB is the peak of the same client in a program that links only
//     llmbench.
func BenchmarkChunk(b *testing.B) {
	cfg, err := readConfig()
	if err != nil {
		b.Fatal(err)
	}
	if cfg.Full != "1" {
		b.Skip("LLMBENCH_FULL=1 runs it")
	}
	lean := buildLean(b)
	for _, mode := range []struct {
		name          string
		cfg           mockserver.Config
		streams       []int
		waves, output int
	}{
		{"paced", mockserver.Config{TTFT: 200 * time.Millisecond, PerToken: 20 * time.Millisecond}, []int{64, 256, 1000}, 4, 100},
		{"unpaced", mockserver.Config{}, []int{64}, 1, 2000},
		{"unpaced-usage", mockserver.Config{Shape: shape.Shape{Usage: shape.UsageEach}}, []int{64}, 1, 2000}, // the numbers in each chunk differ
	} {
		b.Run("tokens="+mode.name, func(b *testing.B) {
			release := pin(b, 0)
			mock := startMock(b, mode.cfg) // the server inherits the core
			release()
			defer pin(b, 1)()
			for _, streams := range mode.streams {
				b.Run("concurrency="+strconv.Itoa(streams), func(b *testing.B) {
					l := chunkclient.Load{URL: mock.target.URL, Streams: streams, Waves: mode.waves, Output: mode.output}
					var ours, plain, ratio, memory, plainMemory, program, leanMemory []float64
					for b.Loop() {
						p, c, own := runClient(b, "plain", l), runClient(b, "llmbench", l), runLean(b, lean, l)
						plain, ours = append(plain, cpuPerChunk(p)), append(ours, cpuPerChunk(c))
						ratio = append(ratio, cpuPerChunk(c)/cpuPerChunk(p))
						plainMemory, memory = append(plainMemory, megabytes(p.Memory)), append(memory, megabytes(c.Memory))
						program, leanMemory = append(program, megabytes(c.Program)), append(leanMemory, megabytes(own.Memory))
						mock.reset(b)
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(median(ours), "cpu-ns/chunk")
					b.ReportMetric(median(plain), "plain-cpu-ns/chunk")
					b.ReportMetric(median(ratio), "x-plain")
					b.ReportMetric(median(memory), "rss-MB")
					b.ReportMetric(median(plainMemory), "plain-rss-MB")
					b.ReportMetric(median(program), "program-MB")
					b.ReportMetric(median(leanMemory), "lean-rss-MB")
				})
			}
		})
	}
}

// TestChunkClients runs the clients of BenchmarkChunk with a small load.
func TestChunkClients(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	mock := startMock(t, mockserver.Config{})
	l := chunkclient.Load{URL: mock.target.URL, Streams: 2, Waves: 3, Output: 4}
	for _, r := range []chunkclient.Result{runClient(t, "plain", l), runClient(t, "llmbench", l), runLean(t, buildLean(t), l)} {
		assert.Equal(t, r.Chunks, 24)
		assert.Assert(t, r.CPU > 0 && r.Memory > r.Program && r.Program > 0, "%+v", r)
	}
}

// median returns the median of values.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// clientArg is the first argument of this test binary when it runs as a client of BenchmarkChunk.
// The second argument is a clientLoad in JSON.
const clientArg = "run-client"

// A clientLoad is what a client of BenchmarkChunk sends.
type clientLoad struct {
	Client string // plain or llmbench
	chunkclient.Load
}

// cpuPerChunk returns the CPU time per chunk in nanoseconds.
func cpuPerChunk(r chunkclient.Result) float64 { return float64(r.CPU) / float64(r.Chunks) }

// megabytes converts KiB to MB.
func megabytes(kib int) float64 { return float64(kib) * 1024 / 1e6 }

func init() { roles[clientArg] = serveClient }

// clients holds the clients. Each sends a load, and returns the number of chunks with text.
var clients = map[string]func(chunkclient.Load) (int, error){"plain": plainPass, "llmbench": chunkclient.Send}

// serveClient runs a client, and writes its result to stdout.
func serveClient(config string, _ io.Reader, stdout, stderr io.Writer) int {
	var l clientLoad
	err := json.Unmarshal([]byte(config), &l)
	var r chunkclient.Result
	if err == nil {
		r, err = chunkclient.Measure(l.Load, clients[l.Client])
	}
	if err == nil {
		err = json.NewEncoder(stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// runClient runs a client in another process. That process inherits the core.
func runClient(tb testing.TB, client string, l chunkclient.Load) chunkclient.Result {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return resultOf(tb, clientLoad{client, l}, self, clientArg)
}

// buildLean builds the program leanclient, and returns its path.
func buildLean(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "leanclient")
	if out, err := exec.CommandContext(tb.Context(), "go", "build", "-o", path, "./internal/testkit/chunkclient/cmd/leanclient").CombinedOutput(); err != nil {
		tb.Fatalf("go build leanclient: %v\n%s", err, out)
	}
	return path
}

// runLean does the same as runClient, with the program leanclient at a path.
func runLean(tb testing.TB, path string, l chunkclient.Load) chunkclient.Result {
	tb.Helper()
	return resultOf(tb, l, path)
}

// resultOf runs a command, with a load in JSON as its last argument. It returns what the command
// prints.
func resultOf(tb testing.TB, l any, command ...string) (r chunkclient.Result) {
	tb.Helper()
	config, err := json.Marshal(l)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), command[0], append(command[1:], string(config))...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	if err != nil {
		tb.Fatalf("%s %s: %v\n%s", command[0], config, err, &stderr)
	}
	return r
}

// pin keeps all threads of the process on one core with one P, until release is called. The same
// holds for threads that these threads start. If the machine lacks the core, pin skips b.
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
				unix.SchedSetaffinity(id, s) // the thread may have ended in the meantime
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
