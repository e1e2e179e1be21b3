package compat

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

func parse(s string) (float64, error) { return strconv.ParseFloat(s, 64) }

// TestSummary prints every tool's block for runs with and without unknown figures.
func TestSummary(t *testing.T) {
	for _, c := range tables(t) {
		if c.name != "a role first" && c.name != "a stream that was cut" && c.name != "not streamed" && c.name != "nothing but failures" && c.name != "the server's own times" {
			continue
		}
		var all strings.Builder
		for _, tool := range Tools {
			all.WriteString("# " + tool.Name + "\n" + tool.Summary(c.run) + "\n")
		}
		golden.Assert(t, all.String(), strings.ReplaceAll(c.name, " ", "-")+".txt")
	}
}

// TestVLLMResult checks the file that vLLM's dashboards read.
func TestVLLMResult(t *testing.T) {
	var all strings.Builder
	for _, c := range tables(t) {
		if c.name != "a role first" && c.name != "usage missing" {
			continue
		}
		text, err := VLLMResult(c.run)
		assert.NilError(t, err)
		var m map[string]any
		assert.NilError(t, json.Unmarshal(text, &m))
		for _, key := range []string{"date", "backend", "model_id", "num_prompts", "request_rate", "max_concurrency", "duration", "completed", "failed",
			"total_input_tokens", "total_output_tokens", "request_throughput", "request_goodput", "output_throughput", "total_token_throughput",
			"max_output_tokens_per_s", "max_concurrent_requests", "mean_ttft_ms", "median_tpot_ms", "std_itl_ms", "p99_e2el_ms"} {
			_, has := m[key]
			assert.Assert(t, has, key)
		}
		all.Write(text)
	}
	golden.Assert(t, all.String(), "save-result.json")
}

// TestIntegers checks that whole numbers have only digits, as in vLLM's file.
func TestIntegers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1e6: "1000000", 123456789012: "123456789012", 1e22: "10000000000000000000000", 0.25: "0.25", 1e-7: "0.0000001"} {
		text, err := exact(v).MarshalJSON()
		assert.NilError(t, err)
		assert.Equal(t, string(text), want)
	}
}

// TestReasons checks the reasons of unknown quotients.
func TestReasons(t *testing.T) {
	for _, c := range tables(t) {
		switch c.name {
		case "nothing but failures":
			tool, _ := Find("evalscope")
			assert.Assert(t, strings.Contains(tool.Summary(c.run), "cannot tell: Avg Input Tokens, Avg Output Tokens: no request was served\n"))
		case "nothing but failures, not streamed":
			f := EvalScope2024(c.run)
			assert.Equal(t, f.TPOT.Mean.Why, "no output token was counted")
			assert.Equal(t, f.Output.Why, "no request was served")
		}
	}
}

// TestOpenLoop checks the request rate in the blocks of both tools that print one.
func TestOpenLoop(t *testing.T) {
	for _, c := range []struct{ arrivals, rate, why string }{
		{`"arrivals":"llmbench.Poisson{Rate:2}"`, "2.00", ""},
		{`"arrivals":{"process":"gamma","parameters":{"rate":"0.25","shape":"4","seed":"1"}}`, "0.25", ""},
		{`"arrivals":{"process":"stages","parameters":{"stages":"1:1m,2:1m"}}`, "?", "the arrivals have more than one rate: stages stages=1:1m,2:1m"},
		{`"arrivals":null`, "?", "the records do not hold how requests arrived"},
	} {
		p := run(t, `"concurrency":0,`+c.arrivals, req(0, []int{100}, 110, wire(0, 0, 100, 100, 105, 106)+","+usage(7, 1)))
		for name, label := range map[string]string{"vllm": "Request rate configured (RPS):           ", "sglang": "Traffic request rate:                    "} {
			tool, _ := Find(name)
			text := tool.Summary(p)
			assert.Assert(t, strings.Contains(text, label+c.rate) && strings.Contains(text, c.why) && !strings.Contains(text, "Client-side"), text)
		}
	}
}

// TestOpenLoopResult checks the rate and the burstiness in vLLM's file of results.
func TestOpenLoopResult(t *testing.T) {
	for arrivals, want := range map[string]string{
		`"arrivals":"llmbench.Poisson{Rate:2 Seed:1}"`:                            `"request_rate":2,"burstiness":1,`,
		`"arrivals":{"process":"gamma","parameters":{"rate":"0.25","shape":"4"}}`: `"request_rate":0.25,"burstiness":4,`,
		`"arrivals":{"process":"replay","parameters":{"speed":"1"}}`:              `"request_rate":null,"burstiness":null,`,
		`"arrivals":{"process":"constant","parameters":{"rate":"3"}}`:             `"request_rate":3,"burstiness":null,`,
	} {
		text, err := VLLMResult(run(t, `"concurrency":0,`+arrivals, req(0, []int{100}, 110, wire(0, 0, 100, 100, 105, 106)+","+usage(7, 1))))
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(string(text), want), "%s", text)
	}
}

// TestEmptyAnswers checks how tools count answers without text, in records of different ages.
func TestEmptyAnswers(t *testing.T) {
	for _, c := range []struct{ fields, vllm, sglang string }{
		{`"events":0`, "0", "0"},
		{`"events":2,"last_event_ns":50000000`, "0", "1"}, // without a choice
		{`"clock":"user"`, "0", "0"},
		{`"error":"the answer ended well and holds no token"`, "?", "?"}, // older than both fields
	} {
		p := run(t, "", req(0, nil, 60, c.fields+`,"outcome":"empty"`))
		assert.Equal(t, figure(t, "vllm", p, "completed").Text(0), c.vllm, c.fields)
		assert.Equal(t, figure(t, "sglang", p, "completed").Text(0), c.sglang, c.fields)
	}
}

func TestFind(t *testing.T) {
	_, err := Find("wrk")
	assert.Error(t, err, `"wrk": want one of vllm, sglang, evalscope, evalscope-2024, fw-ai, guidellm, aiperf, llama-bench`)
	for _, tool := range Tools {
		assert.Assert(t, tool.Differs != "" && strings.HasPrefix(tool.URL, "https://"), tool.Name)
	}
}
