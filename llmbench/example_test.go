package llmbench_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// startMock starts a simulated server for an example. A benchmark of a real server sets Target.URL to that
// server's base URL instead.
func startMock(cfg mockserver.Config) (target llmbench.Target, stop func()) {
	srv, err := mockserver.New(cfg)
	if err != nil {
		panic(err)
	}
	url, stopServer, err := mockserver.Listen("127.0.0.1:0", srv)
	if err != nil {
		panic(err)
	}
	return llmbench.Target{URL: url, Model: "mock", Simulated: true}, func() { stopServer(0) }
}

// questions returns n requests for 8 output tokens each.
func questions(n int) []llmbench.Request {
	requests := make([]llmbench.Request, n)
	for i := range requests {
		requests[i] = llmbench.Request{Prompt: fmt.Sprintf("question %d", i), MaxTokens: 8, FixedOutput: true}
	}
	return requests
}

// A closed loop keeps eight requests in flight. In a test file, the function would be named BenchmarkChat
// and run with go test -bench.
func ExampleRun() {
	target, stop := startMock(mockserver.Config{TTFT: 5 * time.Millisecond, PerToken: time.Millisecond})
	defer stop()
	result := testing.Benchmark(func(b *testing.B) {
		llmbench.Run(b, target, llmbench.Load{
			Requests:    questions(32),
			Warmup:      questions(8),
			Concurrency: 8,
		})
	})
	fmt.Println("output tokens of a request:", result.Extra["out-tok/req"])
	// Output: output tokens of a request: 8
}

// An open loop sends requests when they are due, whether or not earlier requests have ended. The latency of
// a request counts from when it was due.
func ExampleRun_openLoop() {
	target, stop := startMock(mockserver.Config{TTFT: 5 * time.Millisecond})
	defer stop()
	scheduled := 0
	testing.Benchmark(func(b *testing.B) {
		result := llmbench.Run(b, target, llmbench.Load{
			Requests:    questions(50),
			Arrivals:    arrivals.Poisson{Rate: 200, Seed: 1},
			MaxInFlight: 16,
		})
		scheduled = 0
		for s := range result.All() {
			if s.Pass == 0 && s.Scheduled {
				scheduled++
			}
		}
	})
	fmt.Println("scheduled requests of the first pass:", scheduled)
	// Output: scheduled requests of the first pass: 50
}

// A server is measured directly and through a gateway, in turns. In a test file, the function would be
// named BenchmarkGateway. Its results would be BenchmarkGateway/via=direct and
// BenchmarkGateway/via=gateway, which benchgate -col /via compares.
func ExampleArms() {
	direct := llmbench.Target{URL: "http://127.0.0.1:8000"}
	gateway := llmbench.Target{URL: "http://127.0.0.1:8080"}
	BenchmarkGateway := func(b *testing.B) {
		llmbench.Arms(b, llmbench.Load{
			// Each pass has different prompts: both arms reach the same server, and it may have a prefix
			// cache.
			Fresh: func(pass int) ([]llmbench.Request, error) {
				return benchdata.Prompts{Input: 256, Output: 64, Seed: uint64(pass), Salt: direct.Salt(b.Name())}.Requests(64)
			},
			Concurrency: 8,
		},
			llmbench.Arm{Name: "via=direct", Target: direct},
			llmbench.Arm{Name: "via=gateway", Target: gateway})
	}
	_ = BenchmarkGateway
}

// With an SLO, Run also reports the unit good-req/s, the rate of the requests that meet the limits.
func ExampleRun_slo() {
	target, stop := startMock(mockserver.Config{})
	defer stop()
	result := testing.Benchmark(func(b *testing.B) {
		llmbench.Run(b, target, llmbench.Load{
			Requests:    questions(32),
			Concurrency: 4,
			SLO:         sample.SLO{TTFT: time.Minute, E2E: time.Hour},
		})
	})
	fmt.Println("all requests are good:", result.Extra["good-req/s"] == result.Extra["req/s"])
	// Output: all requests are good: true
}

// Main is called by the TestMain of a package that has benchmarks.
func ExampleMain() {
	TestMain := func(m *testing.M) { os.Exit(llmbench.Main(m)) }
	_ = TestMain // go test calls it
	// Output:
}

// Do sends one request, to find out whether a server answers and how it counts tokens.
func ExampleDo() {
	target, stop := startMock(mockserver.Config{})
	defer stop()
	s := llmbench.Do(context.Background(), target, questions(1)[0], true)
	fmt.Println(s.Outcome, s.OutputTokens, s.TokenSource)
	// Output: ok 8 usage
}

// Pass measures a target once, without a benchmark. A search for the highest load that meets an SLO makes
// many such passes.
func ExamplePass() {
	target, stop := startMock(mockserver.Config{TTFT: time.Millisecond})
	defer stop()
	result, err := llmbench.Pass(context.Background(), "search", target, llmbench.Load{
		Requests:    questions(16),
		Concurrency: 4,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer result.Close()
	s := sample.Summarize(result.All(), result.Elapsed, sample.SLO{})
	fmt.Println(s.Requests, "requests of", s.Metrics["out-tok/req"], "tokens")
	// Output: 16 requests of 8 tokens
}

// A Client sends each request when its caller says so. Here three callers send requests at once.
func ExampleClient() {
	target, stop := startMock(mockserver.Config{TTFT: time.Millisecond})
	defer stop()
	client, err := llmbench.NewClient("mine", target, llmbench.Load{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	var wg sync.WaitGroup
	for _, question := range questions(3) {
		wg.Go(func() {
			s, err := client.Do(context.Background(), question)
			if err != nil {
				fmt.Println(err)
				return
			}
			ttft, _ := s.TTFT()
			fmt.Println(s.Outcome, s.OutputTokens, ttft >= time.Millisecond)
		})
	}
	wg.Wait()
	// Output:
	// ok 8 true
	// ok 8 true
	// ok 8 true
}
