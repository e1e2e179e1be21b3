package scenarios

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// trace replays requests at their recorded times, accelerated by a factor. The reduced form replays a
// generated trace. The full form replays traces of conversations from LLMBENCH_DATA: the traces of Azure,
// and the traces of Mooncake, which have shared prefixes.
//
// If the options have a trace as their data set, both forms replay this trace.
func trace(b *testing.B, s server) {
	if s.options.Dataset != "" {
		data, err := s.dataset(0, s.salt)
		if err != nil {
			b.Fatal(err)
		}
		t := data.(benchdata.Trace) // see fitsTrace
		s := s.withConfig(configLines(s.options))
		b.Run(fmt.Sprintf("workload=%s/stream=true/speed=%g", workloadName(s.options), cmp.Or(t.Speed, 1)), func(b *testing.B) {
			replayTrace(b, s, t, s.requests(64), 0)
		})
		return
	}
	if !s.full() {
		b.Run("workload=bursts/stream=true", func(b *testing.B) {
			for _, speed := range pick(s, nil, []float64{4, 8}, []float64{8}) {
				b.Run(fmt.Sprintf("speed=%g", speed), func(b *testing.B) { replayBursts(b, s, speed) })
			}
		})
		return
	}
	for _, t := range traces {
		b.Run("workload="+string(t.format)+"/stream=true", func(b *testing.B) {
			d := data{name: string(t.format), file: t.file, get: getByCurl(t.file, t.url)}
			path, err := d.path(s.options.Data)
			if err != nil {
				harness.Skip(b, err.Error())
			}
			for _, speed := range []float64{1, 4} {
				b.Run(fmt.Sprintf("speed=%g", speed), func(b *testing.B) {
					t := benchdata.Trace{Format: t.format, Path: path, Speed: speed, For: t.window, Template: s.template, Tokenizer: s.tokens, Salt: s.salt}
					replayTrace(b, s, t, s.options.Requests, failuresCount)
				})
			}
		})
	}
}

// traces are the traces of the full form. Only the first ten minutes of Mooncake's trace are replayed,
// because its prompts have 12,000 tokens on average.
var traces = []struct {
	format    benchdata.TraceFormat
	file, url string
	window    time.Duration // 0 means the whole trace
}{
	{benchdata.Azure, "AzureLLMInferenceTrace_conv.csv", "https://raw.githubusercontent.com/Azure/AzurePublicDataset/master/data/AzureLLMInferenceTrace_conv.csv", 0},
	{benchdata.Mooncake, "mooncake_conversation_trace.jsonl", "https://raw.githubusercontent.com/kvcache-ai/Mooncake/main/FAST25-release/traces/conversation_trace.jsonl", 10 * time.Minute},
}

// fitsTrace returns an error if a data set is no trace.
func fitsTrace(dataset string) error {
	data, err := benchdata.Open(dataset, benchdata.Options{})
	if _, isTrace := data.(benchdata.Trace); err == nil && !isTrace {
		return fmt.Errorf("dataset %q is no trace, which Trace replays: want azure:PATH, burstgpt:PATH, mooncake:PATH or bailian:PATH", dataset)
	}
	return nil // it may be none, which dataset reports
}

// replayBursts replays the generated trace.
func replayBursts(b *testing.B, s server, speed float64) {
	n := s.requests(48)
	draw := func(n int, seed uint64) ([]llmbench.Request, error) {
		_, requests, err := s.bursts(n, seed)
		return requests, err
	}
	at, _, err := s.bursts(n, s.options.Seed)
	if err != nil {
		b.Fatal(err)
	}
	l := llmbench.Load{Arrivals: arrivals.Replay{At: at, Speed: speed}, SLO: s.options.Limits, Units: sample.Named(sample.P99TTFT)}
	s.run(b, s.fresh(b, l, n, 2, draw))
}

// replayTrace replays the first n requests of a recorded trace, or all if n is 0. The share maxFail may fail.
func replayTrace(b *testing.B, s server, t benchdata.Trace, n int, maxFail float64) {
	recorded, err := t.Replay(n)
	if err != nil {
		b.Fatal(err)
	}
	l := llmbench.Load{Arrivals: recorded, MaxFail: maxFail, MeasuresCache: shares(t), SLO: s.options.Limits, Units: sample.Named(sample.P99TTFT)}
	s.run(b, s.fresh(b, l, len(recorded.At), 0, func(n int, seed uint64) ([]llmbench.Request, error) {
		t := t
		t.Seed = seed
		return t.Requests(n)
	}))
}

// bursts returns a generated trace of n requests, about 16 per second, that is as uneven as the requests of
// people. The gaps have a gamma distribution with shape 0.5, which is burstier than Poisson. The lengths
// have log-normal distributions, from 32 to 512 tokens in and 4 to 64 out. The seed only determines the
// words. Times and lengths are always the same, so that all passes have the same load.
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
