package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// BenchmarkChunk measures the CPU time of the client for a chunk and the memory of its
// process, beside those of a plain loop over net/http and encoding/json. The mock server
// has one core, the clients another. Each client is a process of its own: it sends
// passes of waves requests in each stream. Paced chunks are 20 ms apart, so that each
// wakes the client; unpaced chunks come as fast as the server can, many in one read.
//
// Each op runs both clients, one after the other. The figures are the medians:
//
//   - cpu-ns/chunk and plain-cpu-ns/chunk are the CPU time from the first request to the
//     last figure, with the control streams.
//   - x-plain is the quotient of the two in one op.
//   - rss-MB and plain-rss-MB are the peak of the memory that the process had in RAM, its
//     program included. program-MB are the pages of the program and of other files among them: this
//     test binary links a Docker client and much else, and the system maps 16 pages for each that
//     is used.
func BenchmarkChunk(b *testing.B) {
	cfg, err := readConfig()
	if err != nil {
		b.Fatal(err)
	}
	if cfg.Full != "1" {
		b.Skip("LLMBENCH_FULL=1 runs it")
	}
	for _, mode := range []struct {
		name          string
		cfg           mockserver.Config
		streams       []int
		waves, output int
	}{
		{"paced", mockserver.Config{TTFT: 200 * time.Millisecond, PerToken: 20 * time.Millisecond}, []int{64, 256, 1000}, 4, 100},
		{"unpaced", mockserver.Config{}, []int{64}, 1, 2000},
		{"unpaced-usage", mockserver.Config{Shape: shape.Shape{Usage: shape.UsageEach}}, []int{64}, 1, 2000}, // the numbers of each chunk differ
	} {
		b.Run("tokens="+mode.name, func(b *testing.B) {
			release := pin(b, 0)
			mock := startMock(b, mode.cfg) // which inherits the core
			release()
			defer pin(b, 1)()
			for _, streams := range mode.streams {
				b.Run("concurrency="+strconv.Itoa(streams), func(b *testing.B) {
					l := clientLoad{URL: mock.target.URL, Streams: streams, Waves: mode.waves, Output: mode.output}
					var ours, plain, ratio, memory, plainMemory, program []float64
					for b.Loop() {
						p, c := runClient(b, "plain", l), runClient(b, "llmbench", l)
						plain, ours = append(plain, p.cpuPerChunk()), append(ours, c.cpuPerChunk())
						ratio = append(ratio, c.cpuPerChunk()/p.cpuPerChunk())
						plainMemory, memory = append(plainMemory, megabytes(p.Memory)), append(memory, megabytes(c.Memory))
						program = append(program, megabytes(c.Program))
						mock.reset(b)
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(median(ours), "cpu-ns/chunk")
					b.ReportMetric(median(plain), "plain-cpu-ns/chunk")
					b.ReportMetric(median(ratio), "x-plain")
					b.ReportMetric(median(memory), "rss-MB")
					b.ReportMetric(median(plainMemory), "plain-rss-MB")
					b.ReportMetric(median(program), "program-MB")
				})
			}
		})
	}
}

// TestChunkClients runs the clients of BenchmarkChunk with a small load.
func TestChunkClients(t *testing.T) {
	mock := startMock(t, mockserver.Config{})
	for _, client := range []string{"plain", "llmbench"} {
		r := runClient(t, client, clientLoad{URL: mock.target.URL, Streams: 2, Waves: 3, Output: 4})
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

// clientArg is the first argument of this test binary when it runs as a client of
// BenchmarkChunk. The second is a clientLoad in JSON.
const clientArg = "run-client"

// A clientLoad is what a client of BenchmarkChunk sends.
type clientLoad struct {
	Client                 string // plain or llmbench
	URL                    string
	Streams, Waves, Output int
}

// A clientResult is what a client of BenchmarkChunk used.
type clientResult struct {
	Chunks  int
	CPU     time.Duration
	Memory  int // peak resident set size in KiB
	Program int // of it, pages of files at the end, in KiB
}

func (r clientResult) cpuPerChunk() float64 { return float64(r.CPU) / float64(r.Chunks) }

// megabytes returns a number of KiB in MB.
func megabytes(kib int) float64 { return float64(kib) * 1024 / 1e6 }

func init() { roles[clientArg] = serveClient }

// serveClient runs a client, and writes its result to stdout.
func serveClient(config string, _ io.Reader, stdout, stderr io.Writer) int {
	var l clientLoad
	err := json.Unmarshal([]byte(config), &l)
	var r clientResult
	if err == nil {
		r, err = measureClient(l)
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

// measureClient runs a client in this process.
func measureClient(l clientLoad) (r clientResult, err error) {
	send := map[string]func(clientLoad) (int, error){"plain": plainPass, "llmbench": llmbenchPass}[l.Client]
	before, err := cpuTime()
	if err != nil {
		return r, err
	}
	if r.Chunks, err = send(l); err != nil {
		return r, err
	}
	after, err := cpuTime()
	if err != nil {
		return r, err
	}
	r.CPU = after - before
	if r.Memory, err = resident("VmHWM"); err == nil {
		r.Program, err = resident("RssFile")
	}
	if want := l.Streams * l.Waves * l.Output; err == nil && r.Chunks != want {
		err = fmt.Errorf("%d chunks with text; want %d", r.Chunks, want)
	}
	return r, err
}

// runClient runs a client in another process, which inherits the core.
func runClient(tb testing.TB, client string, l clientLoad) (r clientResult) {
	tb.Helper()
	l.Client = client
	config, err := json.Marshal(l)
	if err != nil {
		tb.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), self, clientArg, string(config))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	if err != nil {
		tb.Fatalf("the client %s: %v\n%s", client, err, &stderr)
	}
	return r
}

// cpuTime returns the CPU time that the process has used.
func cpuTime() (time.Duration, error) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// resident returns a figure of the process in /proc/self/status, in KiB: VmHWM is the largest resident set
// size that it had, and RssFile the pages of files in RAM. The peak that getrusage returns would include the
// parent process (https://man7.org/linux/man-pages/man5/proc_pid_status.5.html).
func resident(name string) (int, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(text), name+":")
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		return 0, fmt.Errorf("/proc/self/status has no %s", name)
	}
	return strconv.Atoi(fields[0])
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
