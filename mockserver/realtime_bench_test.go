package mockserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// childConfig is the environment variable that makes the test program run as a server.
const childConfig = "MOCKSERVER_CHILD_CONFIG"

func TestMain(m *testing.M) {
	if text := os.Getenv(childConfig); text != "" {
		serveChild(text)
		return
	}
	os.Exit(m.Run())
}

// serveChild serves a configuration until the standard input ends.
func serveChild(text string) {
	var cfg Config
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		panic(err)
	}
	s, err := New(cfg)
	if err != nil {
		panic(err)
	}
	url, stop, err := Listen("127.0.0.1:0", s)
	if err != nil {
		panic(err)
	}
	fmt.Println(url)
	io.Copy(io.Discard, os.Stdin)
	stop(0)
}

// A child is a server in a separate process, so that its CPU time can be measured.
type child struct {
	cmd  *exec.Cmd
	in   io.Closer
	addr string
}

func startChild(b *testing.B, cfg Config, env ...string) *child {
	b.Helper()
	text, err := json.Marshal(cfg)
	if err != nil {
		b.Fatal(err)
	}
	c := &child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(append(os.Environ(), childConfig+"="+string(text)), env...)
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	c.in, c.addr = in, strings.TrimPrefix(strings.TrimSpace(line), "http://")
	return c
}

// stop ends the server and returns its CPU time.
func (c *child) stop(b *testing.B) time.Duration {
	b.Helper()
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
}

// stream requests one stream on a new connection and discards it, with as little work as
// possible.
func (c *child) stream(path, body string, buf []byte) (int, error) {
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: mock\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body); err != nil {
		return 0, err
	}
	n := 0
	for {
		k, err := conn.Read(buf)
		n += k
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// log returns the server's log.
func (c *child) log(b *testing.B) []Entry {
	b.Helper()
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /mock/log HTTP/1.0\r\n\r\n")
	r := bufio.NewReader(conn)
	for line := ""; line != "\r\n"; {
		if line, err = r.ReadString('\n'); err != nil {
			b.Fatal(err)
		}
	}
	var all []Entry
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		b.Fatal(err)
	}
	return all
}

// run requests several streams at the same time, each with the given number of tokens.
func (c *child) run(b *testing.B, streams, tokens int) {
	var wg sync.WaitGroup
	body := fmt.Sprintf(`{"prompt":"a","max_tokens":%d,"stream":true}`, tokens)
	for range streams {
		wg.Go(func() {
			if _, err := c.stream(textPath, body, make([]byte, 4096)); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
}

// BenchmarkCapacity sends streams without pacing from a server on one core, and reports
// the server's CPU time per token.
func BenchmarkCapacity(b *testing.B) {
	for _, streams := range []int{1, 64, 1000} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			tokens := 200_000 / streams
			sent := 0
			c := startChild(b, Config{Engine: &engine.Profile{MaxBatch: streams, PrefillSeqs: streams}}, "GOMAXPROCS=1")
			for b.Loop() {
				c.run(b, streams, tokens)
				sent += streams * tokens
			}
			cpu := c.stop(b)
			b.ReportMetric(float64(cpu.Nanoseconds())/float64(sent), "cpu-ns/tok")
			b.ReportMetric(float64(sent)/cpu.Seconds(), "tok/cpu-s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkAgreement serves a closed loop in real time. It reports how much longer the whole run and
// a request take than with the engine alone, without HTTP.
func BenchmarkAgreement(b *testing.B) {
	p := engine.Profile{Step: 20_000, StepPerSeq: 100, Prefill: 4_000, PrefillPerToken: 100, PrefillSeqs: 16, MaxBatch: 64}
	const output = 50
	for _, concurrency := range []int{1, 8, 32, 128} {
		b.Run(fmt.Sprintf("concurrency=%d", concurrency), func(b *testing.B) {
			n := 4 * concurrency
			want, each := closedLoop(b, p, concurrency, n, engine.Job{Prompt: 1, Output: output})
			c := startChild(b, Config{Engine: &p})
			body := fmt.Sprintf(`{"prompt":"a","max_tokens":%d,"stream":true}`, output)
			var took, waited time.Duration
			for b.Loop() {
				jobs := make(chan int, n)
				for i := range n {
					jobs <- i
				}
				close(jobs)
				begin := time.Now()
				var wg sync.WaitGroup
				var mu sync.Mutex
				for range concurrency {
					wg.Go(func() {
						buf := make([]byte, 4096)
						for range jobs {
							sent := time.Now()
							if _, err := c.stream(textPath, body, buf); err != nil {
								b.Error(err)
							}
							mu.Lock()
							waited += time.Since(sent)
							mu.Unlock()
						}
					})
				}
				wg.Wait()
				took += time.Since(begin)
			}
			c.stop(b)
			b.ReportMetric(100*(took.Seconds()/(want.Seconds()*float64(b.N))-1), "run-off-%")
			b.ReportMetric(100*(waited.Seconds()/(each.Seconds()*float64(n*b.N))-1), "e2e-off-%")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// closedLoop serves n equal jobs with an engine without HTTP, and returns the duration of
// the run and the mean duration of a request.
func closedLoop(tb testing.TB, p engine.Profile, concurrency, n int, j engine.Job) (took, each time.Duration) {
	tb.Helper()
	e, err := engine.New(p, engine.Watcher{Ended: func(s *engine.Sequence, at time.Duration) { each += at - s.Arrived }})
	if err != nil {
		tb.Fatal(err)
	}
	sent := 0
	for next, ok := e.Now(), true; ok; next, ok = e.NextChange() {
		e.Advance(next)
		for l := e.Load(); sent < n && l.Running+l.Waiting < concurrency; l = e.Load() {
			if _, err := e.Submit(e.Now(), j); err != nil {
				tb.Fatal(err)
			}
			sent++
		}
	}
	return e.Now(), each / time.Duration(n)
}

// slope returns the mean time between successive instants, by least squares.
func slope(at []time.Duration) float64 {
	mid := float64(len(at)-1) / 2
	var sum, weight float64
	for k, t := range at {
		x := float64(k) - mid
		sum += x * float64(t)
		weight += x * x
	}
	return sum / weight
}

// BenchmarkRealTime sends streams from a server that batches and compares the log with the model. It
// reports how late tokens are sent, how much the time per token (by least squares) differs from the
// duration of a step, and the CPU time per token. A token's lateness is its time
// since the first admission, modulo the step. So lateness means nothing if the time per token is
// longer than a step. All streams begin at the same time. The first tokens are omitted, because the
// clients connect during that time.
func BenchmarkRealTime(b *testing.B) {
	const tokens, early = 250, 50
	for _, step := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
		for _, streams := range []int{1, 10, 100, 1000, 5000, 10_000} {
			b.Run(fmt.Sprintf("step=%v/streams=%d", step, streams), func(b *testing.B) {
				p := engine.Profile{Step: float64(step.Microseconds()), MaxBatch: streams, PrefillSeqs: streams}
				c := startChild(b, Config{Engine: &p})
				for b.Loop() {
					c.run(b, streams, tokens)
				}
				log := c.log(b)
				cpu := c.stop(b)
				var late, drift []float64
				var first, last time.Duration = log[0].Admitted, 0
				for _, e := range log {
					first = min(first, e.Admitted)
				}
				for _, e := range log {
					for _, at := range e.Tokens[early:] {
						late = append(late, float64((at-first)%step))
					}
					drift = append(drift, 100*(slope(e.Tokens[early:])/float64(step)-1))
					last = max(last, e.End)
				}
				slices.Sort(late)
				slices.Sort(drift)
				b.ReportMetric(late[len(late)/2], "p50-late-ns")
				b.ReportMetric(late[len(late)*99/100], "p99-late-ns")
				b.ReportMetric(drift[len(drift)/2], "p50-drift-%")
				b.ReportMetric(float64(cpu.Nanoseconds())/float64(len(log)*tokens), "cpu-ns/tok")
				b.ReportMetric(float64(len(log)*tokens)/(last-first).Seconds(), "tok/s")
				b.ReportMetric(float64(streams)/step.Seconds(), "asked-tok/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
