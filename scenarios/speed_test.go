package scenarios

import (
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// prefill and decode are llama-bench's pp512 and tg128, over HTTP: prompts of 512
// tokens that are answered with one, and answers of 128 tokens to prompts of 16,
// where llama-bench has none, which no server takes.
// What the server says it took itself stands beside them. llama-bench repeats each
// five times after a warm-up.
var (
	prefill = study{
		name: "Prefill", oneWay: true, cold: true, units: []string{"prompt-tok/s"}, after: reportServer,
		reduced:   []cell{{data: speed("pp512", 512, 1, anyEndpoint), concurrency: 1, requests: 5, warmup: 1}},
		published: []cell{{experiment: "C7", data: speed("pp512", 512, 1, toComplete), concurrency: 1, requests: 5, warmup: 1}},
	}
	decode = study{
		name: "Decode", oneWay: true, after: reportServer,
		reduced:   []cell{{data: speed("tg128", 16, 128, anyEndpoint), concurrency: 1, requests: 5, warmup: 1}},
		published: []cell{{experiment: "C7", data: speed("tg128", 16, 128, toComplete), concurrency: 1, requests: 5, warmup: 1}},
	}
)

// speed is random words: in tokens, or as many more as leave a text of 16.
func speed(name string, in, out int, e endpoint) data {
	d := random(in, out)
	d.name, d.endpoint = name, e
	d.draw = func(s server, _ string, n int, seed uint64) ([]llmbench.Request, error) {
		return s.prompts(max(in, s.template+16), out, seed).Requests(n)
	}
	return d
}

// reportServer reports the speeds that the server states, if it does of every
// answer.
func reportServer(b *testing.B, samples []sample.Sample) {
	prompt, output := serverSpeeds(samples)
	if prompt > 0 {
		b.ReportMetric(prompt, "srv-prompt-tok/s")
	}
	if output > 0 {
		b.ReportMetric(output, "srv-output-tok/s")
	}
}

// serverSpeeds are tokens / time on the server's clock, 0 where one answer does not
// tell: of prompts, those that it did not take from a cache; of outputs, those after
// the first, whose time is the prompt's.
func serverSpeeds(samples []sample.Sample) (prompt, output float64) {
	var promptTokens, outputTokens int
	var promptTime, outputTime time.Duration
	promptKnown, outputKnown := true, true
	for i := range samples {
		s := &samples[i]
		if s.Outcome != sample.OK {
			continue
		}
		promptKnown = promptKnown && s.Server.PromptTokens > 0 && s.Server.Prompt > 0
		outputKnown = outputKnown && s.Server.OutputTokens > 1 && s.Server.Predict > 0
		promptTokens += s.Server.PromptTokens
		outputTokens += s.Server.OutputTokens - 1
		promptTime += s.Server.Prompt
		outputTime += s.Server.Predict
	}
	if promptKnown && promptTime > 0 {
		prompt = float64(promptTokens) / promptTime.Seconds()
	}
	if outputKnown && outputTime > 0 {
		output = float64(outputTokens) / outputTime.Seconds()
	}
	return prompt, output
}

// BenchmarkPrefill is how fast prompts are processed.
func BenchmarkPrefill(b *testing.B) { prefill.bench(b) }

// BenchmarkDecode is how fast a single user's answers are generated.
func BenchmarkDecode(b *testing.B) { decode.bench(b) }
