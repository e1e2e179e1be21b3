package scenarios

import (
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// prefill and decode correspond to llama-bench's pp512 and tg128, but are measured over HTTP:
// prompts of 512 tokens with answers of one token, and prompts of 16 tokens with answers of 128
// tokens. The prompts' tokens include the server's template. llama-bench decodes without any prompt, which is not possible over HTTP. Both studies
// also report the speeds that the server reports. As in llama-bench, five requests follow a
// warm-up.
var (
	prefill = study{
		name: "Prefill", noStreamKey: true, cold: true, units: []string{sample.PromptRate}, figures: serverSpeedFigures,
		reduced:   []cell{{data: speedData("pp512", 512, 1, anyEndpoint), concurrency: 1, requests: 5, warmup: 1}},
		published: []cell{{experiment: "C7", data: speedData("pp512", 512, 1, completionEndpoint), concurrency: 1, requests: 5, warmup: 1}},
	}
	decode = study{
		name: "Decode", noStreamKey: true, figures: serverSpeedFigures,
		reduced:   []cell{{data: speedData("tg128", 16, 128, anyEndpoint), concurrency: 1, requests: 5, warmup: 1}},
		published: []cell{{experiment: "C7", data: speedData("tg128", 16, 128, completionEndpoint), concurrency: 1, requests: 5, warmup: 1}},
	}
)

// leastText is the number of tokens of text for which [benchdata.Prompts] finds a prompt with any tokenizer.
const leastText = 16

// speedData returns data of random words, with prompts of in tokens, including the server's template. If the template
// leaves no room for a text, prompts are as long as a text of leastText tokens needs.
func speedData(name string, in, out int, e endpoint) data {
	d := random(in, out)
	d.name, d.endpoint, d.grows = name, e, true
	d.draw = func(s server, _ string, n int, seed uint64) ([]llmbench.Request, error) {
		all, err := s.prompts(in, out, seed).Requests(n)
		if longer := s.template + leastText; err != nil && longer > in {
			return s.prompts(longer, out, seed).Requests(n)
		}
		return all, err
	}
	return d
}

// serverSpeedFigures returns the speeds that the server reports, if it reports them with every answer.
func serverSpeedFigures(samples iter.Seq[*sample.Sample]) map[string]float64 {
	figures := map[string]float64{}
	prompt, output := serverSpeeds(samples)
	if prompt > 0 {
		figures[sample.ServerPromptRate] = prompt
	}
	if output > 0 {
		figures[sample.ServerOutputRate] = output
	}
	return figures
}

// serverSpeeds returns tokens per second according to the server's clock, or 0 if an answer has no such
// report. Prompt tokens from a cache do not count. The first output token does not count either, because
// its time is part of the prompt's time.
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
