package send

import (
	"net/http"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const eventStream = "text/event-stream"

// messages returns a stream of Anthropic's API whose message_start and message_delta have the given members of usage.
func messages(start, delta string) string {
	return "event: message_start\n" + `data: {"type":"message_start","message":{"stop_reason":null,"usage":{` + start + `,"output_tokens":0}}}` + "\n\n" +
		"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}` + "\n\n" +
		"event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{` + delta + `"output_tokens":4}}` + "\n\n" +
		"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n"
}

// chatUsage returns a stream of OpenAI's API with a usage object for each text, and for the end.
func chatUsage(usages ...string) (text string) {
	for i, u := range usages {
		delta := `{"choices":[{"delta":{"content":"a"}}]`
		if i == len(usages)-1 {
			delta = `{"choices":[{"delta":{},"finish_reason":"length"}]`
		}
		text += "data: " + delta + `,"usage":` + u + "}\n\n"
	}
	return text + done
}

// TestStatedPrompt checks how many prompt tokens, and how many cached ones, an answer states. A number of cached tokens
// may be 0, and a later one replaces an earlier one.
func TestStatedPrompt(t *testing.T) {
	const read, written = `"cache_read_input_tokens":`, `"cache_creation_input_tokens":`
	type stated struct {
		prompt, cached int
		isStated       bool
	}
	for _, c := range []struct {
		name, dialect, body string
		want                stated
	}{
		{"vLLM writes the cache", "anthropic-messages", messages(`"input_tokens":64`, `"input_tokens":0,`+written+`64,`+read+`0,`), stated{64, 0, true}},
		{"vLLM writes the cache, and says nothing of a read", "anthropic-messages", messages(`"input_tokens":64`, `"input_tokens":0,`+written+`64,`), stated{64, 0, true}},
		{"vLLM reads the cache", "anthropic-messages", messages(`"input_tokens":374`, `"input_tokens":22,`+written+`0,`+read+`352,`), stated{374, 352, true}},
		{"vLLM has no cache", "anthropic-messages", messages(`"input_tokens":18`, `"input_tokens":18,`+written+`0,`+read+`0,`), stated{18, 0, true}},
		{"a read that did not happen", "anthropic-messages", messages(`"input_tokens":5,`+read+`3,`+written+`2`, `"input_tokens":10,`+read+`0,`+written+`0,`), stated{10, 0, true}},
		{"Anthropic repeats all", "anthropic-messages", messages(`"input_tokens":5,`+read+`3,`+written+`2`, `"input_tokens":5,`+read+`3,`+written+`2,`), stated{10, 3, true}},
		{"Anthropic repeats nothing", "anthropic-messages", messages(`"input_tokens":5,`+read+`3,`+written+`2`, ``), stated{10, 3, true}},
		{"only the end knows", "anthropic-messages", messages(`"input_tokens":0,`+read+`0,`+written+`0`, `"input_tokens":7,`+read+`9,`), stated{16, 9, true}},
		{"the end has only the cache", "anthropic-messages", messages(`"input_tokens":64`, read+`48,`), stated{64, 48, true}},
		{"a placeholder", "anthropic-messages", messages(`"input_tokens":64`, `"input_tokens":0,`), stated{64, 0, false}},
		{"null", "anthropic-messages", messages(`"input_tokens":64`, `"input_tokens":0,`+read+`null,`+written+`null,`), stated{64, 0, false}},

		{"a cached part", "openai-chat", chatUsage(`null`, `{"prompt_tokens":64,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":48}}`), stated{64, 48, true}},
		{"nothing cached", "openai-chat", chatUsage(`null`, `{"prompt_tokens":64,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":0}}`), stated{64, 0, true}},
		{"no details", "openai-chat", chatUsage(`null`, `{"prompt_tokens":64,"completion_tokens":4,"prompt_tokens_details":null}`), stated{64, 0, false}},
		{"empty details", "openai-chat", chatUsage(`null`, `{"prompt_tokens":64,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":null}}`), stated{64, 0, false}},
		{"zeros before", "openai-chat", chatUsage(`{"prompt_tokens":0,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":0}}`, `{"prompt_tokens":64,"completion_tokens":4}`), stated{64, 0, false}},
		{"zeros after", "openai-chat", chatUsage(`{"prompt_tokens":64,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":48}}`, `{"prompt_tokens":0,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":0}}`), stated{64, 48, true}},
		{"llama.cpp", "openai-chat", content + `data: {"choices":[{"delta":{},"finish_reason":"length"}],"timings":{"cache_n":0,"prompt_n":64,"predicted_n":4}}` + "\n\n" + done, stated{64, 0, true}},
		{"llama.cpp with a cached part", "openai-chat", content + `data: {"choices":[{"delta":{},"finish_reason":"length"}],"timings":{"cache_n":48,"prompt_n":16,"predicted_n":4}}` + "\n\n" + done, stated{64, 48, true}},
		{"SGLang", "sglang", `data: {"text":"a","meta_info":{"prompt_tokens":64,"completion_tokens":4,"cached_tokens":0,"finish_reason":{"type":"length"}}}` + "\n\n" + done, stated{64, 0, true}},
		{"Cohere", "cohere", `data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"a"}}}}` + "\n\n" +
			`data: {"type":"message-end","delta":{"finish_reason":"MAX_TOKENS","usage":{"tokens":{"input_tokens":64,"output_tokens":4},"cached_tokens":0}}}` + "\n\n" + done, stated{64, 0, true}},
	} {
		d, err := dialect.ByName(c.dialect)
		assert.NilError(t, err)
		w, p := newDialectWorker(t, d, reply{200, ofType(eventStream), c.body}, Options{Stream: true})
		s := w.Do(t.Context(), p, 0, false)
		assert.NilError(t, s.Err, c.name)
		assert.Equal(t, stated{s.PromptTokens, s.CachedTokens, s.CachedStated}, c.want, c.name)
		cached, known := sample.Summarize(sample.All(s, s), 1e9, sample.SLO{}).Metrics["cached-%"]
		assert.Equal(t, known, c.want.isStated, c.name)
		assert.Equal(t, cached, 100*float64(c.want.cached)/float64(c.want.prompt), c.name)
	}
}

// TestErrorStatus checks the outcome of answers of status 200 with an error that states a status of its own.
func TestErrorStatus(t *testing.T) {
	const grammar = `data: {"error": {"object": "error", "message": "no grammar", "type": "BAD_REQUEST", "param": null, "code": 400}}` + "\n\n" + done
	for _, c := range []struct {
		name, dialect, kind, body string
		outcome                   sample.Outcome
		status                    int
	}{
		{"SGLang refuses", "openai-chat", eventStream, grammar, sample.ServerError, 400},
		{"SGLang is full", "openai-chat", eventStream, `data: {"error":{"message":"The request queue is full.","type":"SERVICE_UNAVAILABLE","code":503}}` + "\n\n" + done, sample.Shed, 503},
		{"a string of digits", "openai-chat", eventStream, `data: {"error":{"message":"slow down","code":"429"}}` + "\n\n", sample.Shed, 429},
		{"a status", "openai-completions", eventStream, `data: {"error":{"message":"no","status":422}}` + "\n\n", sample.ServerError, 422},
		{"a status code", "openai-completions", eventStream, `data: {"error":{"message":"no","status_code":"529"}}` + "\n\n", sample.Shed, 529},
		{"a code beside the error", "openai-chat", eventStream, `data: {"error":"full","code":503}` + "\n\n", sample.Shed, 503},
		{"the error is a code", "openai-chat", eventStream, `data: {"error":503,"message":"full"}` + "\n\n", sample.Shed, 503},
		{"vLLM", "openai-chat", eventStream, `data: {"object":"error","message":"too long","type":"BadRequestError","code":400}` + "\n\n", sample.ServerError, 400},
		{"an error event", "anthropic-messages", eventStream, "event: error\n" + `data: {"type":"error","error":{"type":"overloaded","message":"full","code":503}}` + "\n\n", sample.Shed, 503},
		{"an error event, itself a document", "openai-chat", eventStream, "event: error\n" + `data: {"message":"full","status":"503"}` + "\n\n", sample.Shed, 503},
		{"SGLang's own API", "sglang", eventStream, `data: {"text":"","meta_info":{"finish_reason":{"type":"abort","message":"The request queue is full.","status_code":503}}}` + "\n\n" + done, sample.Shed, 503},
		{"Gemini", "gemini", eventStream, `data: {"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}` + "\n\n", sample.Shed, 429},
		{"no stream", "openai-chat", "application/json", `{"error":{"message":"full","code":503}}`, sample.Shed, 503},
		{"after some text", "openai-chat", eventStream, content + `data: {"error":{"message":"full","code":503}}` + "\n\n", sample.ServerError, 503},
		{"a word", "openai-chat", eventStream, `data: {"error":{"message":"no","code":"model_not_found"}}` + "\n\n", sample.ServerError, 0},
		{"no status of an error", "openai-chat", eventStream, `data: {"error":{"message":"no","code":1301}}` + "\n\n", sample.ServerError, 0},
		{"success", "openai-chat", eventStream, `data: {"error":{"message":"no","code":200}}` + "\n\n", sample.ServerError, 0},
		{"no code", "openai-chat", eventStream, `data: {"error":{"message":"no"}}` + "\n\n", sample.ServerError, 0},
	} {
		d, err := dialect.ByName(c.dialect)
		assert.NilError(t, err)
		w, p := newDialectWorker(t, d, reply{200, ofType(c.kind), c.body}, Options{Stream: c.kind == eventStream})
		s := w.Do(t.Context(), p, 0, false)
		assert.Equal(t, s.Outcome, c.outcome, "%s: %v", c.name, s.Err)
		assert.Equal(t, s.ErrorStatus, c.status, c.name)
		assert.Equal(t, s.Status, http.StatusOK, c.name)
	}
}
