package scenarios

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
)

// BenchmarkTrace replays a load at the instants at which it came, faster by a
// factor. Its own trace is made up, and needs no file: requests in bursts, with
// lengths as uneven as those of people. The full form replays the conversations of
// Azure, and those of Mooncake with their shared prefixes, from LLMBENCH_DATA.
func BenchmarkTrace(b *testing.B) {
	flow(b, func(b *testing.B, s server, full bool) {
		if !full {
			b.Run("workload=bursts/stream=true", func(b *testing.B) {
				for _, speed := range []float64{2, 8} {
					b.Run(fmt.Sprintf("speed=%g", speed), func(b *testing.B) {
						const n = 48
						draw := func(n int, seed uint64) ([]llmbench.Request, error) {
							_, requests, err := s.bursts(n, seed)
							return requests, err
						}
						// The instants are the same in each pass, the words are not.
						at, _, err := s.bursts(n, s.cfg.Serve.Seed)
						if err != nil {
							b.Fatal(err)
						}
						l := llmbench.Load{Arrivals: arrivals.Replay{At: at, Speed: speed}, Units: []string{"p99-ttft-ns"}}
						s.run(b, s.fresh(b, l, n, 2, draw))
					})
				}
			})
			return
		}
		for _, t := range traces {
			b.Run("workload="+string(t.format)+"/stream=true", func(b *testing.B) {
				d := data{name: string(t.format), file: t.file, get: curl(t.file, t.url)}
				path, err := d.path(s.cfg.Data)
				if err != nil {
					llmbench.Skip(b, err.Error())
				}
				for _, speed := range []float64{1, 4} {
					b.Run(fmt.Sprintf("speed=%g", speed), func(b *testing.B) {
						trace := benchdata.Trace{Format: t.format, Path: path, Speed: speed, Template: s.template, Tokenizer: s.tokens, For: t.window}
						arrivals, err := trace.Replay(0)
						if err != nil {
							b.Fatal(err)
						}
						l := llmbench.Load{Arrivals: arrivals, MaxFail: counted, Units: []string{"p99-ttft-ns", "cached-%"}}
						s.run(b, s.fresh(b, l, len(arrivals.At), 0, func(n int, seed uint64) ([]llmbench.Request, error) {
							trace := trace
							trace.Seed = seed
							return trace.Requests(n)
						}))
					})
				}
			})
		}
	})
}

// traces are those of the full form. A window of Mooncake's is taken because its
// prompts have 12,000 tokens on average.
var traces = []struct {
	format    benchdata.TraceFormat
	file, url string
	window    time.Duration
}{
	{benchdata.Azure, "AzureLLMInferenceTrace_conv.csv", "https://raw.githubusercontent.com/Azure/AzurePublicDataset/master/data/AzureLLMInferenceTrace_conv.csv", 0},
	{benchdata.Mooncake, "mooncake_conversation_trace.jsonl", "https://raw.githubusercontent.com/kvcache-ai/Mooncake/main/FAST25-release/traces/conversation_trace.jsonl", 10 * time.Minute},
}

// bursts is a made-up trace of n requests, some 16 a second: gaps of gamma shape
// 0.5, which is burstier than Poisson, and log-normal lengths of 32 to 512 tokens
// in and 4 to 64 out. The seed is that of the words; instants and lengths are the
// same for all, so that two passes are one load.
func (s server) bursts(n int, seed uint64) ([]time.Duration, []llmbench.Request, error) {
	at, err := arrivals.Gamma{Rate: 16, Shape: 0.5, Seed: 1}.Times(n)
	if err != nil {
		return nil, nil, err
	}
	r := rand.New(rand.NewPCG(1, 3))
	length := func(median, spread float64, least, most int) int {
		return min(max(int(median*math.Exp(spread*r.NormFloat64())), least), most)
	}
	var all []llmbench.Request
	for i := range n {
		one, err := s.prompts(length(128, 0.8, max(32, s.template+8), 512), length(16, 0.7, 4, 64), seed+uint64(i)<<32).Requests(1)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, one[0])
	}
	return at, all, nil
}
