package scenarios

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// weather is the tool that ToolCalls offers, and ticket is the schema of the record that StructuredOutput
// asks for. All their parts are limited, so that even a model that only follows the grammar comes to an
// end. All their parts have a type, because some servers refuse an enum without one.
var (
	weather = llmbench.Tool{
		Name:        "get_weather",
		Description: "Forecast the weather at a place.",
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"city":{"type":"string","maxLength":24},
			"days":{"type":"integer","minimum":1,"maximum":14},
			"unit":{"type":"string","enum":["celsius","fahrenheit"]}},
			"required":["city","days","unit"],"additionalProperties":false}`),
	}
	ticket = json.RawMessage(`{"type":"object","properties":{
		"title":{"type":"string","maxLength":40},
		"severity":{"type":"string","enum":["low","medium","high"]},
		"open":{"type":"boolean"},
		"tags":{"type":"array","items":{"type":"string","maxLength":12},"minItems":1,"maxItems":3}},
		"required":["title","severity","open","tags"],"additionalProperties":false}`)
)

// toolCalls measures answers that call a function. valid-% is the share of answers
// that call an offered function with arguments that conform to its schema.
func toolCalls(b *testing.B, s server) {
	formatted(b, s, "tools", "Forecast the weather of any place by a call of get_weather. What follows does not matter: ", func(r *llmbench.Request) {
		r.Tools = []llmbench.Tool{weather}
	})
}

// structuredOutput measures answers in JSON. valid-% is the share of answers that conform to the schema.
func structuredOutput(b *testing.B, s server) {
	formatted(b, s, "schema", "Write any ticket of a help desk as JSON. What follows does not matter: ", func(r *llmbench.Request) {
		r.Schema = ticket
	})
}

// formatted measures answers in the format that ask sets in a request. An answer ends when it is complete.
func formatted(b *testing.B, s server, name, instruction string, ask func(*llmbench.Request)) {
	in := cmp.Or(s.options.Input, pick(s, 512, 128))
	b.Run(fmt.Sprintf("workload=%s-%d/stream=true", name, in), func(b *testing.B) {
		draw := func(n int, seed uint64) ([]llmbench.Request, error) {
			opening, err := s.saltedOpening(seed)
			if err != nil {
				return nil, err
			}
			requests, err := s.prompts(in-s.tokens.Count(opening), 512, seed).Requests(n)
			for i := range requests {
				r := &requests[i]
				r.Prompt, r.FixedOutput, r.PromptTokens = opening+instruction+r.Prompt, false, 0
				ask(r)
			}
			return requests, err
		}
		first, err := draw(1, s.options.Seed)
		if err != nil {
			b.Fatal(err)
		}
		if answer := s.once(b, first[0]).Answer; name == "tools" && len(answer.ToolCalls) == 0 {
			harness.Skip(b, fmt.Sprintf("the server did not call the tool that it was offered, but answered %q", s.target.Excerpt(answer.Text, 60)))
		}
		s.perUsers(b, pick(s, []int{1, 8, 32}, []int{1, 8}), func(b *testing.B, users int) {
			l := llmbench.Load{Concurrency: users, KeepText: true, MeasuresCache: true, Figures: func(samples iter.Seq[*sample.Sample]) map[string]float64 {
				return validFigures(first[0], samples)
			}}
			l = s.fresh(b, l, s.requests(s.fewest(max(16, 4*users), users, 2)), users, draw)
			tellInvalid(b, first[0], s.run(b, l).All())
		})
	})
}

// saltedOpening returns two words with which all prompts of a seed begin, or "" without a salt. All prompts
// have the same instruction. Without an opening before it, a server that an earlier process has measured
// could have the instruction in its cache.
func (s server) saltedOpening(seed uint64) (string, error) {
	if s.salt == 0 {
		return "", nil
	}
	two, err := benchdata.Prompts{Input: 2, Output: 1, Seed: seed, Salt: s.salt}.Requests(1)
	if err != nil {
		return "", err
	}
	return two[0].Prompt + ". ", nil
}

// validFigures returns the share of answers that have the format that r asks for; all requests ask for the same
// format.
func validFigures(r llmbench.Request, samples iter.Seq[*sample.Sample]) map[string]float64 {
	good, all, firstErr := countValid(r, samples)
	if all == 0 || errors.Is(firstErr, benchdata.ErrSchema) {
		return nil
	}
	return map[string]float64{"valid-%": 100 * float64(good) / float64(all)}
}

// tellInvalid logs what is wrong with the first answer that does not have the format that r asks for.
func tellInvalid(b *testing.B, r llmbench.Request, samples iter.Seq[*sample.Sample]) {
	b.Helper()
	good, all, firstErr := countValid(r, samples)
	if errors.Is(firstErr, benchdata.ErrSchema) {
		b.Fatal(firstErr)
	}
	if firstErr != nil {
		b.Logf("%d of %d answers are not what was asked for: %v", all-good, all, firstErr)
	}
}

// countValid counts the successful answers, and how many of them have the format that r asks for. firstErr
// says what is wrong with the first answer that does not.
func countValid(r llmbench.Request, samples iter.Seq[*sample.Sample]) (good, all int, firstErr error) {
	for s := range samples {
		if s.Outcome != sample.OK {
			continue
		}
		all++
		err := benchdata.Conforms(r, *s.Answer)
		if err == nil {
			good++
		} else if firstErr == nil {
			firstErr = fmt.Errorf("request %d: %w", s.Request, err)
		}
	}
	return good, all, firstErr
}
