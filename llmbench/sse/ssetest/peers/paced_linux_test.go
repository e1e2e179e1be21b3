package peers

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// BenchmarkPaced measures the CPU time of a client per chunk, if each chunk comes alone. A
// mock server in another process sends 256 streams with a token every 20 ms. The clients
// are llmbench, OpenAI's SDK and, if it is in PATH, k6. k6 does not parse chunks; it only
// collects the bytes of the answer. Only the ratios within one run are meaningful: on two
// cores with other load, the medians of three runs were 24 µs, 64 µs and 21 µs.
func BenchmarkPaced(b *testing.B) {
	const streams, tokens = 256, 100
	url := paced(b)
	requests := make([]llmbench.Request, streams)
	for i := range requests {
		requests[i] = llmbench.Request{Prompt: "three words here", MaxTokens: tokens, FixedOutput: true}
	}
	tr := &http.Transport{MaxIdleConnsPerHost: streams}
	defer tr.CloseIdleConnections()
	sdk := openai.NewClient(option.WithBaseURL(url+"/v1/"), option.WithAPIKey("none"), option.WithHTTPClient(&http.Client{Transport: tr}), option.WithMaxRetries(0))
	for _, client := range []struct {
		name string
		pass func(b *testing.B) (cpu time.Duration, chunks int)
	}{
		{"llmbench", func(b *testing.B) (cpu time.Duration, chunks int) {
			before := cpuTime(b)
			result, err := llmbench.Pass(b.Context(), b.Name(), llmbench.Target{URL: url, Model: "mock"}, llmbench.Load{Requests: requests, Concurrency: streams, ClientBound: llmbench.BoundReported})
			if err != nil {
				b.Fatal(err)
			}
			for s := range result.All() {
				if s.Err != nil {
					b.Fatal(s.Err)
				}
				chunks += s.Deltas
			}
			return cpuTime(b) - before, chunks
		}},
		{"openai-go", func(b *testing.B) (time.Duration, int) {
			before := cpuTime(b)
			var chunks atomic.Int64
			var wg sync.WaitGroup
			for range streams {
				wg.Go(func() {
					s := sdk.Chat.Completions.NewStreaming(b.Context(), openai.ChatCompletionNewParams{
						Model: "mock", MaxTokens: openai.Int(tokens), Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(requests[0].Prompt)},
					})
					defer s.Close()
					for s.Next() {
						if c := s.Current(); len(c.Choices) > 0 && c.Choices[0].Delta.Content != "" {
							chunks.Add(1)
						}
					}
					if s.Err() != nil {
						b.Error(s.Err())
					}
				})
			}
			wg.Wait()
			return cpuTime(b) - before, int(chunks.Load())
		}},
		{"k6", func(b *testing.B) (time.Duration, int) {
			// Both times include the start of k6, so the difference excludes it.
			return runK6(b, url, streams, 2*tokens) - runK6(b, url, streams, tokens), streams * tokens
		}},
	} {
		b.Run("client="+client.name+"/concurrency=256", func(b *testing.B) {
			passes, used := 0, time.Duration(0)
			for b.Loop() {
				cpu, chunks := client.pass(b)
				if chunks != streams*tokens {
					b.Fatalf("%d chunks with text, want %d", chunks, streams*tokens)
				}
				used += cpu
				passes++
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(used)/float64(passes*streams*tokens), "cpu-ns/chunk")
		})
	}
}

// runK6 runs k6 (https://grafana.com/docs/k6/latest/using-k6/k6-options/reference/) with a
// number of concurrent streams and returns the CPU time of k6. It fails if a stream was
// incomplete.
func runK6(b *testing.B, url string, streams, tokens int) time.Duration {
	b.Helper()
	k6, err := exec.LookPath("k6")
	if err != nil {
		b.Skip("k6 is not in PATH; to build it, run go install go.k6.io/k6@v1.8.1")
	}
	ctx, cancel := context.WithTimeout(b.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, k6, "run", "--quiet", "--no-usage-report", "--address", "",
		"-e", "URL="+url, "-e", "STREAMS="+strconv.Itoa(streams), "-e", "TOKENS="+strconv.Itoa(tokens), "testdata/paced.js")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("k6: %v\n%s", err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// paced starts the mock server in another process. The process ends with b.
func paced(b *testing.B) (url string) {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "mockserver")
	build := exec.Command("go", "build", "-o", binary, "./mockserver/cmd/mockserver")
	build.Dir = "../../../.."
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(binary, "-addr", "127.0.0.1:0", "-ttft", "200ms", "-per-token", "20ms", "-jitter", "0.3", "-slots", "0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		defer time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() }).Stop()
		io.Copy(io.Discard, stderr)
		cmd.Wait() // the error is the signal
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(line), "serving ")
	if err != nil || !found {
		b.Fatalf("the mock server printed %q: %v", line, err)
	}
	return url
}

// cpuTime returns the CPU time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
