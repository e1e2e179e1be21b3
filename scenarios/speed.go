package scenarios

import (
	"iter"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// prefill and decode are llama-bench's pp512 and tg128, measured over HTTP:
// prompts of 512 tokens with answers of one token, and answers of 128 tokens to
// prompts of 16 tokens. llama-bench decodes without a prompt, which no server does.
// Both also report the speeds that the server states. As with llama-bench, five
// requests follow a warm-up.
var (
	prefill = study{
		name: "Prefill", noStreamKey: true, cold: true, units: []string{"prompt-tok/s"}, report: reportServerSpeeds,
		reduced:   []cell{{data: speedData("pp512", 512, 1, anyEndpoint), concurrency: 1, requests: 5, warmup: 1}},
		published: []cell{{experiment: "C7", data: speedData("pp512", 512, 1, completionEndpoint), concurrency: 1, requests: 5, warmup: 1}},
	}
	decode = study{
		name: "Decode", noStreamKey: true, report: reportServerSpeeds,
		reduced:   []cell{{data: speedData("tg128", 16, 128, anyEndpoint), concurrency: 1, requests: 5, warmup: 1}},
		published: []cell{{experiment: "C7", data: speedData("tg128", 16, 128, completionEndpoint), concurrency: 1, requests: 5, warmup: 1}},
	}
)

// speedData returns random words: prompts of in tokens, or longer ones if the
// server's template would leave less than 16 tokens of text.
func speedData(name string, in, out int, e endpoint) data {
	d := random(in, out)
	d.name, d.endpoint = name, e
	d.draw = func(s server, _ string, n int, seed uint64) ([]llmbench.Request, error) {
		return s.prompts(max(in, s.template+16), out, seed).Requests(n)
	}
	return d
}

// reportServerSpeeds reports the speeds that the server states, if it states them
// with every answer.
func reportServerSpeeds(b *testing.B, samples iter.Seq[*sample.Sample]) {
	prompt, output := serverSpeeds(samples)
	if prompt > 0 {
		b.ReportMetric(prompt, "srv-prompt-tok/s")
	}
	if output > 0 {
		b.ReportMetric(output, "srv-output-tok/s")
	}
}

// serverSpeeds returns tokens per second by the server's clock, or 0 where an
// answer lacks them. Prompt tokens that the server took from a cache do not count,
// nor does the first output token, whose time is part of the prompt's.
func serverSpeeds(samples iter.Seq[*sample.Sample]) (prompt, output float64) {
	var promptTokens, outputTokens int
	var promptTime, outputTime time.Duration
	promptKnown, outputKnown := true, true
	for s := range samples {
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
