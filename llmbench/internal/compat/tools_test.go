package compat

import (
	"math"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// tables returns runs for which the tools print different values. A want is a number, "≤ number",
// "≥ number", "?" for an unknown value, or "-" for a value that the tool does not print.
func tables(t testing.TB) []struct {
	name string
	run  Pass
	want []string // each is "tool, name of the value: value"
} {
	// The role comes at 10 ms, three tokens at 500, 540 and 580, the finish reason at 581, the
	// usage at 582, [DONE] at 583, and the end at 590.
	role := run(t, "", req(0, []int{500, 540, 580}, 590, wire(1, 1, 10, 581, 582, 583)+","+usage(7, 3)))

	// There are three events with four tokens each, 40 ms apart. The usage comes at 181.
	merged := run(t, "", req(0, []int{100, 140, 180}, 190, wire(0, 0, 100, 180, 181, 182)+","+usage(7, 12)))

	// One answer has one token, and one has three.
	single := run(t, "",
		req(0, []int{100}, 110, wire(0, 0, 100, 100, 105, 106)+","+usage(7, 1)),
		req(0, []int{100, 120, 140}, 160, wire(0, 0, 100, 140, 150, 155)+","+usage(7, 3)))

	// The second request failed with an HTTP status, and it was the last to end.
	broken := run(t, "",
		req(0, []int{100, 200}, 400, wire(0, 0, 100, 200, 300, 300)+","+usage(7, 2)),
		req(0, nil, 1000, `"outcome":"http","error":"status 500","status":500`))

	// No usage came.
	missing := run(t, "", req(0, []int{100, 120, 140}, 160, wire(0, 0, 100, 140, 140, 150)+`,"prompt_tokens":0,"output_tokens":3,"token_source":"deltas"`))

	// There are a hundred requests. Their text comes at 10, 20, … 1000 ms.
	var hundred []string
	for i := 1; i <= 100; i++ {
		hundred = append(hundred, req(0, []int{10 * i}, 10*i, wire(0, 0, 10*i, 10*i, 10*i, 10*i)+","+usage(7, 1)))
	}

	// The second stream was cut off after a token.
	cut := run(t, "",
		req(0, []int{100, 200}, 400, wire(0, 0, 100, 200, 300, 300)+","+usage(7, 2)),
		req(0, []int{100}, 150, wire(0, 0, 100, 100, 100, 0)+`,"outcome":"truncated","error":"unexpected EOF"`))

	// This is the same, but the body ended as if the answer were complete, or in the middle of an
	// event.
	short := func(why string) Pass {
		return run(t, "",
			req(0, []int{100, 200}, 400, wire(0, 0, 100, 200, 300, 300)+","+usage(7, 2)),
			req(0, []int{100, 140}, 150, wire(0, 0, 100, 140, 140, 0)+`,"clock":"kernel","outcome":"truncated","error":"openai-chat: stream is truncated`+why+`"`))
	}

	// The stream had an error object after a token.
	fault := run(t, "", req(0, []int{100}, 150, wire(0, 0, 100, 100, 100, 110)+`,"outcome":"server-error","error":"oops"`))

	// The error object came alone, or is in an older record without choices.
	early := run(t, "", req(0, nil, 150, `"last_event_ns":100000000,"outcome":"server-error","error":"oops"`))
	oldFault := run(t, "", req(0, []int{100}, 150, `"outcome":"server-error","error":"oops"`))

	// The first request was sent at 5 s.
	nothing := run(t, "", req(5000, nil, 5100, `"outcome":"http","status":500`), req(5050, nil, 5200, `"outcome":"connect","status":0`))
	nothingWhole := run(t, `"stream":false`, req(5000, nil, 5100, `"outcome":"http","status":500`))

	// One answer has the status 200 and an empty body. The other has the status 200, and only
	// [DONE].
	hollow := run(t, "", req(0, nil, 60, `"events":0,"clock":"kernel","outcome":"empty"`))
	done := run(t, "", req(0, nil, 70, `"events":1,"done_ns":60000000,"max_tokens":128,"outcome":"empty"`))

	// 100 and 128 tokens were requested, and no usage came.
	silent := req(0, []int{100, 140}, 190, wire(0, 0, 100, 140, 145, 150)+`,"max_tokens":128,"asked_tokens":100,"output_tokens":2,"token_source":"deltas"`)
	asked := run(t, "", silent, silent)
	session := run(t, "", req(0, []int{100, 140}, 190, wire(0, 0, 100, 140, 145, 150)+`,"turn":1,"asked_tokens":100,`+usage(7, 2)))

	// These answers are not streamed: 10 tokens after 1 s, 30 tokens after 3 s, and a failure after
	// 4 s.
	whole := run(t, `"stream":false`,
		req(0, nil, 1000, usage(7, 10)), req(0, nil, 3000, usage(7, 30)), req(0, nil, 4000, `"outcome":"http","status":503`))

	// This is an older record without choices.
	old := run(t, "", req(0, []int{100, 140}, 190, `"prompt_tokens":7,"output_tokens":2,"token_source":"usage"`))

	// The usage is on the last event with text.
	onText := run(t, "", req(0, []int{100, 140}, 190, wire(0, 0, 100, 140, 140, 150)+`,"prompt_tokens":7,"output_tokens":2,"token_source":"usage"`))

	// There are two limits. The first request keeps both. The first token of the second request
	// comes too late.
	slo := run(t, `"slo":"ttft=100ms,tpot=20ms"`,
		req(0, []int{100, 120}, 500, wire(0, 0, 100, 120, 130, 140)+","+usage(7, 2)),
		req(0, []int{101, 120}, 500, wire(0, 0, 101, 120, 130, 140)+","+usage(7, 2)))

	// There are bursts. In the first second, which begins with the first send at 500 ms, there are
	// 3 events, and in the next second 2.
	peaks := run(t, "",
		req(500, []int{600, 1400, 1600}, 1700, wire(1, 0, 550, 1600, 1650, 1660)+","+usage(7, 3)),
		req(1500, []int{1550}, 1700, wire(0, 0, 1550, 1550, 1650, 1660)+","+usage(7, 1)))

	other := run(t, `"dialect":"tgi"`, req(0, []int{100, 140}, 190, usage(7, 2)))
	called := run(t, "", req(0, []int{100, 140}, 190, wire(0, 0, 100, 140, 150, 160)+`,"finish":"tool_calls",`+usage(7, 2)))

	// These are llama.cpp's own times: 64 tokens of the prompt in 0.5 s, then 20 and 30 tokens/s.
	timed := run(t, `"concurrency":1,"dialect":"llamacpp"`,
		req(0, []int{100, 140}, 190, usage(64, 10)+`,"server":{"prompt_ns":500000000,"predict_ns":500000000,"prompt_tokens":64,"output_tokens":10}`),
		req(200, []int{300, 340}, 390, usage(64, 15)+`,"server":{"prompt_ns":500000000,"predict_ns":500000000,"prompt_tokens":64,"output_tokens":15}`))
	crowd := run(t, `"dialect":"llamacpp"`, req(0, []int{100, 140}, 190, usage(64, 10)+`,"server":{"prompt_ns":5,"predict_ns":5,"prompt_tokens":64,"output_tokens":10}`))

	return []struct {
		name string
		run  Pass
		want []string
	}{
		{"a role first", role, []string{
			"vllm, mean ttft: 10",    // up to the role
			"vllm, mean e2e: 581",    // up to the finish reason
			"vllm, mean tpot: 285.5", // (581-10)/(3-1)
			"vllm, mean itl: 142.75", // (490+40+40+1)/4
			"vllm, p50 itl: 40",      // the values are 1 40 40 490
			"vllm, p99 itl: 476.5",   // 40 + 0.97*450, because 0.99*3 = 2.97
			"vllm, duration: 0.59",
			"vllm, tok/s: 5.084745762711865",       // 3/0.59
			"vllm, total tok/s: 16.94915254237288", // (7+3)/0.59
			"sglang, mean ttft: 500",               // up to the first text
			"sglang, mean e2e: 583",                // up to [DONE]
			"sglang, mean tpot: 41.5",              // (583-500)/2
			"sglang, mean itl: 40",
			"sglang, in: ?",                      // the tool takes it from the data set
			"sglang, tok/s: ≤ 5.084745762711865", // because /server_info takes time too
			"evalscope, mean ttft: 10",
			"evalscope, mean e2e: 582",  // up to the usage
			"evalscope, p50 e2e: 580",   // 0.582 s rounded to 0.58
			"evalscope, mean tpot: 286", // (582-10)/2
			"evalscope, mean itl: 142.75",
			"fw-ai, mean ttft: 500",
			"fw-ai, mean e2e: 590",                                 // up to the end of the stream
			"fw-ai, mean tpot: 30",                                 // (590-500)/3
			"fw-ai, Overall Latency Per Token: 196666666.66666666", // in ns: 590/3
			"fw-ai, mean itl: -",
			"fw-ai, tok/s: -",
			"guidellm, mean ttft: 500",
			"guidellm, mean e2e: 590",
			"guidellm, mean tpot: 193.33333333333334", // 580/3
			"guidellm, mean itl: 40",                  // (580-500)/2
			"guidellm, req/s: ?",
			"aiperf, mean ttft: 500",
			"aiperf, mean e2e: 580",
			"aiperf, mean itl: 40", // (580-500)/2
			"aiperf, mean tpot: -",
			"aiperf, duration: 0.58", // up to the last text
			"evalscope-2024, mean e2e: ?",
			"llama-bench, tg: ?",
		}},
		{"four tokens an event", merged, []string{
			"vllm, mean itl: 40",                  // between two events
			"vllm, mean tpot: 7.2727272727272725", // 80/11
			"sglang, mean itl: 40",
			"sglang, mean tpot: 7.4545454545454541",    // (182-100)/11
			"evalscope, mean tpot: 7.3636363636363633", // (181-100)/11
			"fw-ai, mean tpot: 7.5",                    // (190-100)/12
			"guidellm, mean itl: 7.2727272727272725",   // 80/11
			"guidellm, mean tpot: 15",                  // 180/12
			"aiperf, mean itl: 7.2727272727272725",
		}},
		{"an answer of one token", single, []string{
			"vllm, mean tpot: 20",        // only one request has one: (140-100)/2
			"sglang, mean tpot: 27.5",    // (155-100)/2
			"evalscope, mean tpot: 12.5", // (0 + (150-100)/2) / 2
			"evalscope, p50 tpot: 25",    // sorted[int(2*50/100)]
			"fw-ai, mean tpot: 15",       // ((110-100)/1 + (160-100)/3) / 2
			"guidellm, mean tpot: 60",    // (100/1*1 + 140/3*3)/4: weights 1 and 3
			"guidellm, mean itl: 20",
			"aiperf, mean itl: 20",
		}},
		{"a failed request", broken, []string{
			"vllm, completed: 1", "vllm, failed: 1",
			"vllm, duration: 1", "vllm, req/s: 1", "vllm, tok/s: 2",
			"sglang, completed: 1", "sglang, req/s: ≤ 1",
			"evalscope, failed: 1", "evalscope, duration: 0.3", // the tool gives a failure no end
			"evalscope, req/s: 3.333333333333333",
			"fw-ai, failed: 1", "fw-ai, req/s: 1",
			"guidellm, failed: 1",
			"aiperf, failed: 1", "aiperf, duration: 0.2", "aiperf, req/s: 5",
			"vllm, mean ttft: 100", // of the successful requests only
		}},
		{"usage missing", missing, []string{
			"vllm, out: ?", "vllm, tok/s: ?", "vllm, mean tpot: ?", "vllm, in: ?", "vllm, mean ttft: 100", "vllm, mean itl: 20",
			"sglang, out: ?", "sglang, mean tpot: ?",
			"evalscope, out: ?", "evalscope, mean tpot: ?", "evalscope, mean e2e: 140",
			"fw-ai, out: 0", "fw-ai, mean tpot: ?", // no request has a value
			"guidellm, out: 3", // every event counts as a token
			"guidellm, mean itl: 20",
			"aiperf, out: ?", "aiperf, mean itl: ?",
		}},
		{"percentiles of a hundred", run(t, "", hundred...), []string{
			"vllm, p99 ttft: 990.1", // 990 + 0.01*10, because 0.99*99 = 98.01
			"vllm, p50 ttft: 505",
			"sglang, p99 ttft: 990.1",
			"evalscope, p99 ttft: 1000", // sorted[99]
			"evalscope, p50 ttft: 510",  // sorted[50]
			"fw-ai, p99 ttft: 1000",     // sorted[99]
			"fw-ai, p90 ttft: 910",      // sorted[90]
			"guidellm, p99 ttft: 990",   // the first value whose share reaches 0.99
			"guidellm, p50 ttft: 500",
			"aiperf, p99 ttft: 990.1",
		}},
		{"a stream that was cut", cut, []string{
			"vllm, completed: 1", "vllm, failed: 1", "vllm, mean ttft: 100", "vllm, duration: 0.4", "vllm, tok/s: 5",
			"sglang, completed: 1", "evalscope, completed: 1", "guidellm, failed: 1", "aiperf, failed: 1",
			"fw-ai, completed: 1", "fw-ai, failed: 0", // the failure is counted nowhere
		}},
		{"a stream that ended early", short(": neither a finish reason nor [DONE]"), []string{
			"vllm, completed: 2", "vllm, failed: 0", "vllm, mean ttft: 100", "vllm, mean itl: 70", "vllm, mean e2e: 170", "vllm, req/s: 5",
			"vllm, out: ?", "vllm, tok/s: ?", "vllm, mean tpot: ?", // the tool counts the tokens of the text itself
			"sglang, completed: 2", "sglang, mean ttft: 100",
			"evalscope, completed: 2", "evalscope, mean e2e: 220", "evalscope, out: ?",
			"fw-ai, completed: 2", "fw-ai, out: 2", "fw-ai, mean e2e: 275", "fw-ai, mean tpot: 150", // only one request has one
			"guidellm, completed: ?", "aiperf, completed: ?",
		}},
		{"a stream that ended within an event", short(" within an event: x"), []string{
			"vllm, completed: 2", "evalscope, completed: 2", "fw-ai, failed: 1", "sglang, failed: ?",
		}},
		{"an error in the stream", fault, []string{
			"vllm, completed: 1", "vllm, mean ttft: 100", "vllm, out: ?",
			"sglang, completed: 1", "evalscope, completed: 1", "aiperf, completed: ?",
			"fw-ai, completed: 1", "fw-ai, failed: 0", "fw-ai, out: 0", "fw-ai, mean ttft: 100",
		}},
		{"an error in a stream without text", early, []string{
			"vllm, failed: 1", "sglang, completed: 1", "evalscope, completed: 1", "fw-ai, failed: 1",
		}},
		{"an error in an old record", oldFault, []string{
			"vllm, completed: ?", "vllm, failed: ?", "evalscope, completed: 1",
		}},
		{"nothing but failures", nothing, []string{
			"vllm, completed: 0", "vllm, failed: 2", "vllm, duration: 5.2", "vllm, req/s: 0", "vllm, mean ttft: 0", "vllm, mean itl: 0", "vllm, peak req: 0",
			"sglang, completed: 0", "sglang, duration: ≥ 5.2", "sglang, req/s: 0", "sglang, mean e2e: ?", "sglang, Concurrency: ?",
			"evalscope, failed: 2", "evalscope, duration: 0", "evalscope, req/s: ?", "evalscope, mean tpot: ?",
			"evalscope-2024, completed: ?",
			"fw-ai, failed: 2", "fw-ai, req/s: 0", "fw-ai, mean e2e: ?",
			"guidellm, completed: 0", "guidellm, failed: 2", "guidellm, mean e2e: ?",
			"aiperf, completed: 0", "aiperf, failed: 2", "aiperf, duration: ?", "aiperf, req/s: ?", "aiperf, tok/s: ?", "aiperf, mean ttft: ?",
			"llama-bench, tg: ?",
		}},
		{"nothing but failures, not streamed", nothingWhole, []string{
			"evalscope-2024, completed: 0", "evalscope-2024, failed: 1", "evalscope-2024, req/s: 0", "evalscope-2024, tok/s: ?", "evalscope-2024, mean tpot: ?",
		}},
		{"an empty body", hollow, []string{
			"vllm, failed: 1", "fw-ai, failed: 1", "sglang, failed: 1", "evalscope, completed: 1", "evalscope, mean ttft: 0",
		}},
		{"[DONE] alone", done, []string{
			"vllm, failed: 1", "fw-ai, failed: 1",
			"sglang, completed: 1", "sglang, mean ttft: 0", "sglang, mean e2e: 60", "sglang, out: 128",
			"evalscope, completed: 1", "evalscope, mean ttft: 0", "evalscope, mean e2e: 0",
		}},
		{"tokens that were asked for", asked, []string{
			"sglang, in: 200", "sglang, out: 256", "sglang, total tok/s: ≤ 2400", // 456 / 0.19 s
			"sglang, Input token throughput: ≤ 1052.6315789473683",
			"sglang, mean tpot: 0.3937007874015748",     // (150-100)/127
			"sglang, Concurrency: ≤ 1.5789473684210527", // 2 * 150 / 190
			"sglang, peak tok/s: 4", "sglang, peak req: 2",
			"vllm, in: ?", "vllm, out: ?",
		}},
		{"a session", session, []string{"sglang, in: ?", "sglang, out: 2"}},
		{"not streamed", whole, []string{
			"vllm, mean e2e: ?", // the tool always streams
			"sglang, mean ttft: 2000",
			"evalscope, mean ttft: 2000", "evalscope, mean e2e: 2000", "evalscope, mean itl: -",
			"evalscope, duration: 3", // the tool gives a failure no end
			"evalscope-2024, completed: 2", "evalscope-2024, failed: 1",
			"evalscope-2024, mean e2e: 2000", "evalscope-2024, mean ttft: 2000",
			"evalscope-2024, p50 e2e: 3000",               // sorted[int(2*50/100)]
			"evalscope-2024, req/s: ≤ 0.5",                // 2/4 s, but it may take up to a second more
			"evalscope-2024, tok/s: ≤ 13.333333333333334", // 40/3 s
			"evalscope-2024, mean tpot: ≥ 100",            // 4 s / 40
			"fw-ai, mean ttft: -", "fw-ai, mean e2e: 2000",
			"guidellm, mean ttft: 0", "guidellm, mean tpot: 100", // (1000/10*10 + 3000/30*30)/40
			"aiperf, mean ttft: -", "aiperf, mean e2e: 2000",
		}},
		{"an old record", old, []string{
			"vllm, mean ttft: ?", "vllm, mean itl: ?", "vllm, out: ?", "evalscope, mean ttft: ?", "evalscope, mean e2e: ?",
			"sglang, mean ttft: 100", "sglang, mean e2e: ?", "aiperf, mean ttft: 100", "guidellm, mean ttft: 100",
		}},
		{"usage with text", onText, []string{"vllm, out: ?", "vllm, in: ?", "vllm, total tok/s: ?", "evalscope, in: 7", "sglang, out: 2", "evalscope, out: 2"}},
		{"limits", slo, []string{"vllm, good: 2", "sglang, good: -"}}, // 1/0.5 s
		{"peaks", peaks, []string{
			"vllm, peak tok/s: 3", // events at 550, 600 and 1400 are in the second that begins at 500; 1550 and 1600 are in the next
			"vllm, peak req: 2",
		}},
		{"another dialect", other, []string{"vllm, completed: ?", "sglang, completed: ?", "evalscope, mean e2e: ?", "guidellm, mean e2e: ?", "aiperf, mean e2e: ?", "fw-ai, mean e2e: 190"}},
		{"tool calls", called, []string{
			"vllm, mean ttft: 100", "vllm, mean itl: 40", "sglang, mean ttft: ?", "sglang, mean itl: ?", "sglang, peak tok/s: ?", "sglang, mean e2e: 160",
			"aiperf, mean ttft: ?", "aiperf, mean e2e: ?", "aiperf, duration: ?", "fw-ai, completed: ?", "fw-ai, mean ttft: ?",
			"guidellm, mean ttft: ?", "guidellm, mean itl: ?", "guidellm, mean tpot: ?", "guidellm, mean e2e: 190",
			"evalscope, mean ttft: 100",
		}},
		{"own times of the server", timed, []string{
			"llama-bench, pp: 128",
			"llama-bench, tg: 25",
			"llama-bench, tg std: 7.0710678118654755", // the standard deviation of 20 and 30, with n-1
			"llama-bench, mean e2e: -",
		}},
		{"two at once", crowd, []string{"llama-bench, tg: ?"}},
	}
}

// TestVersions checks what differs between releases. The message with the usage came at 582 ms, and
// the message with the finish reason at 581 ms. In another chat, no message has a choice.
func TestVersions(t *testing.T) {
	role := run(t, "", req(0, []int{500, 540, 580}, 590, wire(1, 1, 10, 581, 582, 583)+","+usage(7, 3)))
	hollow := run(t, "", req(0, nil, 60, `"events":0,"clock":"kernel","outcome":"empty"`))
	text := run(t, `"dialect":"openai-completions"`, req(0, []int{500, 540, 580}, 590, wire(1, 1, 10, 581, 582, 583)+","+usage(7, 3)))
	for _, c := range []struct {
		tool, figure string
		run          Pass
		want         string
	}{
		{"vllm@0.30", "mean e2e", role, "581"},
		{"vllm@v0.31.2", "mean e2e", role, "581"},
		{"vllm@0.29", "mean e2e", role, "582"},
		{"vllm@0.29", "mean tpot", role, "286"},
		{"vllm@0.29", "mean itl", role, "142.75"},
		{"vllm@0.29", "mean e2e", text, "581"}, // only for chats do the releases differ
		{"vllm@0.29", "in", role, "7"},
		{"vllm@0.19.1", "in", role, "?"},
		{"vllm@0.29", "completed", hollow, "1"},
		{"vllm@0.29", "mean e2e", hollow, "0"},
		{"vllm@0.30", "completed", hollow, "0"},
		{"vllm@0.11.0", "peak req", role, "1"},
		{"vllm@0.10.2", "peak req", role, "-"},
		{"evalscope@1.8", "mean e2e", role, "582"},
	} {
		got := figure(t, c.tool, c.run, c.figure)
		text := got.Text(6)
		if got.known() {
			text = strings.TrimSuffix(repr(got.V), ".0")
		}
		assert.Equal(t, text, c.want, "%s, %s", c.tool, c.figure)
	}
}

// TestTruncated checks that dialects and tools use the same text to say how a stream ended.
func TestTruncated(t *testing.T) {
	assert.Equal(t, dialect.ErrTruncated.Error(), truncated)
}

func TestTools(t *testing.T) {
	for _, c := range tables(t) {
		for _, want := range c.want {
			key, value, _ := strings.Cut(want, ": ")
			tool, name, _ := strings.Cut(key, ", ")
			got := figure(t, tool, c.run, name)
			text := got.Text(-1)
			if got.known() { // because times were converted to ns
				text = strings.TrimSuffix(strings.TrimSuffix(got.Text(9), "000000000"), ".")
				var v float64
				if b, err := parse(strings.TrimLeft(value, "≤≥ ")); err == nil {
					v = b
				}
				if math.Abs(v-got.V) < 1e-9*math.Max(1, v) && strings.Trim(text, "0123456789.") == strings.Trim(value, "0123456789.") {
					continue
				}
			}
			if text != value {
				t.Errorf("%s: %s: %s is %s (%v), want %s", c.name, tool, name, text, got.Why, value)
			}
			if got.Bound == CannotTell && got.Why == "" {
				t.Errorf("%s: %s: %s cannot be told, and it does not say why", c.name, tool, name)
			}
		}
	}
}

// TestWarmup checks that no tool counts the time of a warm-up whose requests it does not count.
func TestWarmup(t *testing.T) {
	head := `"duration_ns":1000000000,"warmup_ns":2000000000`
	early := req(0, []int{100, 140}, 190, wire(1, 1, 90, 150, 160, 170)+","+usage(7, 2))
	for _, start := range []int{0, 2000} {
		lines, of := []string{req(start, []int{start + 100, start + 140}, start+190, wire(1, 1, start+90, start+150, start+160, start+170)+","+usage(7, 2))}, ""
		if start > 0 {
			lines, of = append([]string{early}, lines...), head
		}
		p := run(t, of, lines...)
		g, _ := newGather(p, usual)
		assert.Equal(t, g.all, 1)
		assert.Equal(t, g.last, 190*time.Millisecond)
		assert.Equal(t, g.lastServed, 190*time.Millisecond)
	}
}

// TestLocustBucket checks the values in https://github.com/locustio/locust/issues/777.
func TestLocustBucket(t *testing.T) {
	for ms, want := range map[float64]float64{0.4: 0, 99.4: 99, 147: 150, 145: 140, 3432: 3400, 58760: 59000} {
		if got := locustBucket(ms); got != want {
			t.Errorf("locustBucket(%v) = %v, want %v", ms, got, want)
		}
	}
}
