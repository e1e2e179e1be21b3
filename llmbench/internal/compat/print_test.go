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

// TestSummary prints the block of every tool whose output is imitated, for runs with and without unknown values.
func TestSummary(t *testing.T) {
	for _, c := range tables(t) {
		if c.name != "a role first" && c.name != "a stream that was cut" && c.name != "a stream that ended early" && c.name != "not streamed" && c.name != "nothing but failures" && c.name != "own times of the server" {
			continue
		}
		var all strings.Builder
		for _, tool := range Tools {
			if tool.Printed() != nil {
				continue
			}
			all.WriteString("# " + tool.Name + "\n" + tool.Summary(c.run) + "\n")
		}
		golden.Assert(t, all.String(), strings.ReplaceAll(c.name, " ", "-")+".txt")
	}
}

// TestReleases prints the blocks of those releases of a tool that differ, and the file of results.
// The run has cached tokens, an answer with several tokens in each message, and an answer that
// ended early.
func TestReleases(t *testing.T) {
	whole := req(0, []int{500, 540, 580}, 590, wire(1, 1, 10, 581, 582, 583)+`,"cached_tokens":4,`+usage(7, 3))
	run := run(t, `"slo":"ttft=100ms"`, whole,
		req(600, []int{700, 780}, 900, wire(0, 0, 700, 780, 790, 800)+","+usage(9, 12)),
		req(1000, nil, 1100, `"outcome":"http","status":500`))
	for _, tool := range Tools {
		for _, v := range tool.Versions {
			name := tool.Name + "@" + v.Since
			tool, err := Find(name)
			assert.NilError(t, err)
			text := tool.Summary(run)
			if v.result != nil {
				assert.NilError(t, tool.Select("ttft,e2el", "50,99.9"))
				result, err := tool.Result(run)
				assert.NilError(t, err)
				assert.Assert(t, json.Valid(result))
				text += string(result)
			}
			golden.Assert(t, text, name+".txt")
		}
	}
}

// TestVLLMResult checks the members of the result file that vLLM's dashboards read.
func TestVLLMResult(t *testing.T) {
	for _, c := range tables(t) {
		tool, err := Find("vllm")
		assert.NilError(t, err)
		text, err := tool.Result(c.run)
		assert.NilError(t, err)
		var m map[string]any
		assert.NilError(t, json.Unmarshal(text, &m))
		for _, key := range []string{"date", "backend", "model_id", "num_prompts", "request_rate", "max_concurrency", "duration", "completed", "failed",
			"total_input_tokens", "total_output_tokens", "request_throughput", "request_goodput", "output_throughput", "total_token_throughput",
			"max_output_tokens_per_s", "max_concurrent_requests", "rtfx", "mean_ttft_ms", "median_tpot_ms", "std_itl_ms", "p99_itl_ms"} {
			_, has := m[key]
			assert.Assert(t, has, key)
		}
		_, has := m["mean_e2el_ms"]
		assert.Assert(t, !has, "a section that --percentile-metrics does not select")
	}
}

// TestPython checks that numbers are written as Python writes them.
func TestPython(t *testing.T) {
	for v, want := range map[float64]string{0: "0.0", 1e6: "1000000.0", 1e16: "1e+16", 123456.75: "123456.75", 0.25: "0.25", 1e-4: "0.0001", 1e-5: "1e-05", 1e-7: "1e-07"} {
		assert.Equal(t, repr(v), want)
	}
	for v, want := range map[float64]string{0: "0", 12.5: "13", 90: "90", -0.5: "0", 0.4: "0", 1e22: "10000000000000000000000"} {
		assert.Equal(t, shortest(v, 0), want)
	}
	for v, want := range map[float64]string{1.005: "1.01", 1.004: "1", 0.1: "0.1", 12.346: "12.35", -1: "-1"} {
		assert.Equal(t, shortest(v, 2), want)
	}
	assert.Equal(t, round(2.675, 2), 2.67) // because 2.675 is a little less in binary
	text, err := exact(1e6).MarshalJSON()
	assert.NilError(t, err)
	assert.Equal(t, string(text), "1000000")
}

// TestReasons checks the reasons that are given for unknown quotients.
func TestReasons(t *testing.T) {
	for _, c := range tables(t) {
		switch c.name {
		case "nothing but failures":
			tool, _ := Find("evalscope@1.10")
			text := tool.Summary(c.run)
			for _, row := range []string{"Avg Latency (s)           │     -1.00 │", "Avg TTFT (ms)             │  -1000.00 │", "Latency (s)    │   nan │"} {
				assert.Assert(t, strings.Contains(text, row), text)
			}
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

// TestOpenLoopResult checks the rate and the burstiness in the result file of vLLM.
func TestOpenLoopResult(t *testing.T) {
	for arrivals, want := range map[string]string{
		`"arrivals":"llmbench.Poisson{Rate:2 Seed:1}"`:                            `"request_rate": 2.0, "burstiness": 1.0,`,
		`"arrivals":{"process":"gamma","parameters":{"rate":"0.25","shape":"4"}}`: `"request_rate": 0.25, "burstiness": 4.0,`,
		`"arrivals":{"process":"replay","parameters":{"speed":"1"}}`:              `"request_rate": null, "burstiness": null,`,
		`"arrivals":{"process":"constant","parameters":{"rate":"3"}}`:             `"request_rate": 3.0, "burstiness": null,`,
	} {
		tool, err := Find("vllm")
		assert.NilError(t, err)
		text, err := tool.Result(run(t, `"concurrency":0,`+arrivals, req(0, []int{100}, 110, wire(0, 0, 100, 100, 105, 106)+","+usage(7, 1))))
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(string(text), want), "%s", text)
	}
}

// TestEmptyAnswers checks how tools count answers without text. The records come from different
// releases.
func TestEmptyAnswers(t *testing.T) {
	for _, c := range []struct{ fields, vllm, sglang string }{
		{`"events":0`, "0", "0"},
		{`"events":2,"last_event_ns":50000000`, "0", "1"}, // no event with a choice
		{`"clock":"user"`, "0", "0"},
		{`"error":"the answer ended well and holds no token"`, "?", "?"}, // from before both fields existed
	} {
		p := run(t, "", req(0, nil, 60, c.fields+`,"outcome":"empty"`))
		assert.Equal(t, figure(t, "vllm", p, "completed").Text(0), c.vllm, c.fields)
		assert.Equal(t, figure(t, "sglang", p, "completed").Text(0), c.sglang, c.fields)
	}
}

func TestFind(t *testing.T) {
	_, err := Find("wrk")
	assert.Error(t, err, `"wrk": want one of vllm, sglang, evalscope, evalscope-2024, fw-ai, llama-bench`)
	for _, tool := range Tools {
		assert.Assert(t, tool.Differs != "" && strings.HasPrefix(tool.URL, "https://"), tool.Name)
	}
}
