package scenarios

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// weather is the tool that BenchmarkToolCalls offers, and ticket the record that
// BenchmarkStructuredOutput asks for. All in them is bounded, so that a model which
// only follows a grammar comes to an end.
var (
	weather = llmbench.Tool{
		Name:        "get_weather",
		Description: "Forecast the weather at a place.",
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"city":{"type":"string","maxLength":24},
			"days":{"type":"integer","minimum":1,"maximum":14},
			"unit":{"enum":["celsius","fahrenheit"]}},
			"required":["city","days","unit"],"additionalProperties":false}`),
	}
	ticket = json.RawMessage(`{"type":"object","properties":{
		"title":{"type":"string","maxLength":40},
		"severity":{"enum":["low","medium","high"]},
		"open":{"type":"boolean"},
		"tags":{"type":"array","items":{"type":"string","maxLength":12},"minItems":1,"maxItems":3}},
		"required":["title","severity","open","tags"],"additionalProperties":false}`)
)

// BenchmarkToolCalls is answers that call a function; valid-% is the share whose
// call is one that was offered, with arguments that conform to its schema.
func BenchmarkToolCalls(b *testing.B) {
	formatted(b, "tools", "Forecast the weather of any place by a call of get_weather. What follows does not matter: ", func(r *llmbench.Request) {
		r.Tools = []llmbench.Tool{weather}
	})
}

// BenchmarkStructuredOutput is answers after a JSON schema; valid-% is the share
// that conforms to it.
func BenchmarkStructuredOutput(b *testing.B) {
	formatted(b, "schema", "Write any ticket of a help desk as JSON. What follows does not matter: ", func(r *llmbench.Request) {
		r.Schema = ticket
	})
}

// formatted measures answers in the format that ask sets. They end where they are
// complete.
func formatted(b *testing.B, name, instruction string, ask func(*llmbench.Request)) {
	flow(b, func(b *testing.B, s server, full bool) {
		in := pick(full, 512, 128)
		b.Run(fmt.Sprintf("workload=%s-%d/stream=true", name, in), func(b *testing.B) {
			draw := func(n int, seed uint64) ([]llmbench.Request, error) {
				requests, err := s.prompts(in, 512, seed).Requests(n)
				for i := range requests {
					r := &requests[i]
					r.Prompt, r.FixedOutput, r.PromptTokens = instruction+r.Prompt, false, 0
					ask(r)
				}
				return requests, err
			}
			asked, err := draw(1, s.cfg.Serve.Seed)
			if err != nil {
				b.Fatal(err)
			}
			if answer := s.once(b, asked[0]).Answer; name == "tools" && answer.ToolCalls == "" {
				llmbench.Skip(b, fmt.Sprintf("the server answers a request with tools without a call: %.60q", answer.Text))
			}
			for _, c := range pick(full, []int{1, 8, 32}, []int{1, 8}) {
				b.Run(fmt.Sprintf("concurrency=%d", c), func(b *testing.B) {
					l := s.fresh(b, llmbench.Load{Concurrency: c, KeepText: true}, max(16, 4*c), c, draw)
					reportValid(b, asked[0], s.run(b, l))
				})
			}
		})
	})
}

// reportValid reports how many answers are what r, which is like all others, asked
// for, and logs what is wrong with the first that is not.
func reportValid(b *testing.B, r llmbench.Request, samples []sample.Sample) {
	b.Helper()
	good, all, first := valid(r, samples)
	if errors.Is(first, benchdata.ErrSchema) {
		b.Fatal(first)
	}
	if all > 0 {
		b.ReportMetric(100*float64(good)/float64(all), "valid-%")
	}
	if first != nil {
		b.Logf("%d of %d answers are not what was asked for: %v", all-good, all, first)
	}
}

// valid counts the successful answers, and those of them that are what r asked for;
// first is what is wrong with the first that is not.
func valid(r llmbench.Request, samples []sample.Sample) (good, all int, first error) {
	for i := range samples {
		if samples[i].Outcome != sample.OK {
			continue
		}
		all++
		err := benchdata.Conforms(r, *samples[i].Answer)
		if err == nil {
			good++
		} else if first == nil {
			first = fmt.Errorf("request %d: %w", i, err)
		}
	}
	return good, all, first
}
