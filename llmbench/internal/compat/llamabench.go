package compat

import (
	"math"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// LlamaBench is llama-bench
// (https://github.com/ggml-org/llama.cpp/tree/master/tools/llama-bench). It measures the tokens per second
// of prompt processing (pp) and of generation (tg), one sequence at a time, without tokenizing, sampling
// and HTTP. It prints the mean and the standard deviation (with n - 1) over several runs.
//
// The values here are computed from the timings that a server such as llama.cpp reports for one request at
// a time. They are close to llama-bench's values, but the server's timings include sampling.
func LlamaBench(p Pass) Figures {
	f := nothing("llama-bench measures no server")
	f.TTFT, f.TPOT, f.ITL, f.E2E = noLatency(absent()), noLatency(absent()), noLatency(absent()), noLatency(absent())
	rate := func(of func(s *sample.ServerTimings) (tokens int, ns float64)) Latency {
		if p.Head.Concurrency != 1 {
			return noLatency(cannotTell("llama-bench runs only one sequence at a time, and the concurrency of this run was not 1"))
		}
		s := &series{}
		var r reasons
		all := 0
		for q := range p.Requests {
			all++
			if q.Server == nil {
				r.add("the server did not report its processing time")
				continue
			}
			tokens, ns := of(q.Server)
			if tokens <= 0 || ns <= 0 {
				r.add("the server did not report its processing time or its number of tokens")
				continue
			}
			s.add(1e9 * float64(tokens) / ns)
		}
		if r.n > 0 {
			return noLatency(r.of(all))
		}
		l := latency(s, linear)
		if n := float64(s.n()); n > 1 {
			l.std = func() float64 { return s.std() * math.Sqrt(n/(n-1)) }
		}
		return l
	}
	f.Extra = map[string]Latency{
		"pp": rate(func(s *sample.ServerTimings) (int, float64) { return s.PromptTokens, float64(s.Prompt) }),
		"tg": rate(func(s *sample.ServerTimings) (int, float64) { return s.OutputTokens, float64(s.Predict) }),
	}
	return f
}
