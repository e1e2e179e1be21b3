package dialect

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// A form says how a dialect writes the parts of an answer, for tests that are the same in all dialects.
type form struct {
	d      Dialect
	text   string // a document with the text "a"
	end    string // the document with the finish reason R
	whole  string // an answer that is not streamed, with the text "a" and the finish reason R
	good   []string
	other  string // a document like text, but with the member "novel" instead of the member that has the text
	inPart string // where the member "novel" is in other
}

// forms are the dialects that have finish reasons.
var forms = []form{
	{OpenAIChat{}, `{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}`, `{"choices":[{"delta":{},"finish_reason":"R"}]}`,
		`{"choices":[{"message":{"content":"a"},"finish_reason":"R"}]}`, openAIReasons, `{"choices":[{"delta":{"novel":"x"},"finish_reason":null}]}`, "delta.novel"},
	{OpenAICompletions{}, `{"choices":[{"text":"a","finish_reason":null}]}`, `{"choices":[{"text":"","finish_reason":"R"}]}`,
		`{"choices":[{"text":"a","finish_reason":"R"}]}`, openAIReasons, `{"choices":[{"novel":"x","finish_reason":null}]}`, "choices[].novel"},
	{OpenAIResponses{}, `{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"R"}}}`,
		`{"status":"incomplete","incomplete_details":{"reason":"R"},"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`, responsesReasons, `{"type":"response.novel.delta","delta":"x"}`, "delta of the event response.novel.delta"},
	{AnthropicMessages{}, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`, `{"type":"message_delta","delta":{"stop_reason":"R"}}`,
		`{"content":[{"type":"text","text":"a"}],"stop_reason":"R"}`, anthropicReasons, `{"type":"content_block_delta","delta":{"type":"novel_delta","novel":"x"}}`, "delta.novel"},
	{Gemini{}, `{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, `{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"R"}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"R"}]}`, geminiReasons, `{"candidates":[{"content":{"parts":[{"novel":"x"}]}}]}`, "parts[].novel"},
	{Cohere{}, `{"type":"content-delta","delta":{"message":{"content":{"text":"a"}}}}`, `{"type":"message-end","delta":{"finish_reason":"R"}}`,
		`{"message":{"content":[{"type":"text","text":"a"}]},"finish_reason":"R"}`, cohereReasons, `{"type":"content-delta","delta":{"message":{"content":{"novel":"x"}}}}`, "content.novel"},
	{Ollama{}, `{"message":{"role":"assistant","content":"a"},"done":false}`, `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"R"}`,
		`{"message":{"role":"assistant","content":"a"},"done":true,"done_reason":"R"}`, ollamaReasons, `{"message":{"role":"assistant","novel":"x"},"done":false}`, "message.novel"},
	{OllamaGenerate{}, `{"response":"a","done":false}`, `{"response":"","done":true,"done_reason":"R"}`,
		`{"response":"a","done":true,"done_reason":"R"}`, ollamaReasons, `{"novel":"x","done":false}`, "novel"},
	{LlamaCPP{}, `{"content":"a","stop":false}`, `{"content":"","stop":true,"stop_type":"R"}`,
		`{"content":"a","stop":true,"stop_type":"R"}`, llamaCPPReasons, `{"novel":"x","stop":false}`, "novel"},
	{TGI{}, `{"token":{"id":1,"text":"a"},"generated_text":null}`, `{"token":{"id":2,"text":"","special":true},"generated_text":"a","details":{"finish_reason":"R"}}`,
		`{"generated_text":"a","details":{"finish_reason":"R"}}`, tgiReasons, `{"novel":"x","generated_text":null}`, "novel"},
	{SGLang{}, `{"text":"a","meta_info":{"finish_reason":null}}`, `{"text":"","meta_info":{"finish_reason":{"type":"R"}}}`,
		`{"text":"a","meta_info":{"finish_reason":{"type":"R"}}}`, generateReasons, `{"text":"","novel":"x","meta_info":{"finish_reason":null}}`, "novel"},
	{LMDeploy{}, `{"text":"a","meta_info":{"finish_reason":null}}`, `{"text":"","meta_info":{"finish_reason":"R"}}`,
		`{"text":"a","meta_info":{"finish_reason":"R"}}`, generateReasons, `{"text":"","novel":"x","meta_info":{"finish_reason":null}}`, "novel"},
	{Triton{}, `{"text_output":"a","details":{"generated_tokens":1}}`, `{"text_output":"","details":{"finish_reason":"R"}}`,
		`{"text_output":"a","details":{"finish_reason":"R"}}`, tgiReasons, `{"text_output":"","novel":"x","details":{}}`, "novel"},
}

// stream returns documents as the dialect streams them.
func (f *form) stream(documents ...string) string {
	if _, lines := f.d.(Ollama); lines {
		return strings.Join(documents, "\n") + "\n"
	}
	if _, lines := f.d.(OllamaGenerate); lines {
		return strings.Join(documents, "\n") + "\n"
	}
	return "data: " + strings.Join(documents, "\n\ndata: ") + "\n\n"
}

// ends returns a document of the form with a finish reason.
func ends(document, reason string) string {
	return strings.Replace(document, `"R"`, reason, 1)
}

func (f *form) read(documents ...string) read {
	return readAll(f.d.NewParser(), sse.Auto, strings.NewReader(f.stream(documents...)))
}

// readBody reads an answer that is not streamed.
func readBody(d Dialect, body string) (got read) {
	p := d.NewParser()
	p.Reset()
	var delta Delta
	if err := p.Body([]byte(body), &delta); err != nil {
		got.Err = err.Error()
	}
	got.add(&delta)
	return got
}

// TestFinishReasons checks in each dialect which finish reasons are good, which are faults, and which are unknown,
// and that a reason such as "null" is none.
func TestFinishReasons(t *testing.T) {
	for _, f := range forms {
		name := f.d.Name()
		for _, reason := range f.good {
			for how, got := range map[string]read{"stream": f.read(f.text, ends(f.end, `"`+reason+`"`)), "whole": readBody(f.d, ends(f.whole, `"`+reason+`"`))} {
				assert.Assert(t, got.end() == "clean" && got.Finish == reason && !got.UnknownFinish && got.Text == "a", "%s, %s, %s: %+v", name, how, reason, got)
			}
		}
		for _, reason := range faultyReasons {
			assert.Assert(t, !slices.Contains(f.good, reason), "%s: %s is good and faulty", name, reason)
			for how, got := range map[string]read{"stream": f.read(f.text, ends(f.end, `"`+reason+`"`)), "whole": readBody(f.d, ends(f.whole, `"`+reason+`"`))} {
				assert.Assert(t, strings.Contains(got.Fault, reason), "%s, %s, %s: %+v", name, how, reason, got)
			}
		}
		for _, reason := range []string{"bored", "STOPPED", "system_overload", "eviction", "Stop", "☠"} {
			for how, got := range map[string]read{"stream": f.read(f.text, ends(f.end, `"`+reason+`"`)), "whole": readBody(f.d, ends(f.whole, `"`+reason+`"`))} {
				assert.Assert(t, got.end() == "clean" && got.Finish == reason && got.UnknownFinish, "%s, %s, %s: %+v", name, how, reason, got)
			}
		}
		if name != "openai-responses" && name != "sglang" { // there, an object has the reason
			for _, reason := range []string{`3`, `true`, `["stop"]`, `{"kind":"stop"}`} {
				for how, got := range map[string]read{"stream": f.read(f.text, ends(f.end, reason)), "whole": readBody(f.d, ends(f.whole, reason))} {
					if name == "lmdeploy" && reason[0] == '{' {
						continue
					}
					assert.Assert(t, got.end() == "clean" && got.Finish == reason && got.UnknownFinish, "%s, %s, %s: %+v", name, how, reason, got)
				}
			}
		}
		endMarker := slices.Contains([]string{"ollama", "ollama-generate", "llamacpp", "tgi"}, name) // the document is one
		if name == "openai-responses" {
			continue // a status without a reason is a reason
		}
		if endMarker { // a gateway sends another one
			p := f.d.NewParser()
			p.Reset()
			var d Delta
			for _, document := range []string{f.text, ends(f.end, `"`+f.good[0]+`"`), ends(f.end, "null")} {
				assert.NilError(t, p.Event(sse.Event{Type: messageEvent, Data: []byte(document)}, &d))
			}
			assert.NilError(t, p.End())
			assert.Assert(t, d.Done && !d.UnknownFinish, "%s: %+v", name, d)
		}
		if name == "llamacpp" { // the answer to an empty prompt
			got := f.read(ends(f.end, `"none"`))
			assert.Assert(t, got.end() == "clean" && !got.UnknownFinish, "%+v", got)
		}
		for _, reason := range []string{`"null"`, `null`, `""`, `"None"`} {
			got := f.read(f.text, ends(f.end, reason))
			if endMarker {
				assert.Assert(t, got.end() == "clean" && got.Finish == "" && got.UnknownFinish, "%s, %s: %+v", name, reason, got)
			} else {
				assert.Assert(t, got.end() == "incomplete" && got.Finish == "", "%s, %s: %+v", name, reason, got)
			}
			got = readBody(f.d, ends(f.whole, reason))
			assert.Assert(t, got.Finish == "" && (got.UnknownFinish || name == "triton" || name == "sglang"), "%s, %s: %+v", name, reason, got)
		}
	}
}

// TestUnknownMembers checks in each dialect that a member that may have text, and that is not known, is named if it
// comes before the end of the text, and only then.
func TestUnknownMembers(t *testing.T) {
	for _, f := range forms {
		name, end := f.d.Name(), ends(f.end, `"`+f.good[0]+`"`)
		value := func(v string) string { return strings.Replace(f.other, `"x"`, v, 1) }
		for _, v := range []string{`"x"`, `["x"]`, `{"text":"x"}`, `[{"a":[{"b":"x"}]}]`, `[1,2]`} {
			if strings.HasPrefix(name, "openai-responses") && v != `"x"` {
				continue
			}
			for how, documents := range map[string][]string{"before": {value(v), f.text, end}, "between": {f.text, value(v), f.text, end}, "alone": {value(v), end}} {
				got := f.read(documents...)
				assert.Assert(t, got.end() == "clean" && got.Unread == f.inPart, "%s, %s, %s: %+v", name, how, v, got)
			}
		}
		for _, v := range []string{`null`, `""`, `[]`, `{}`, `false`, `true`, `0`, `7`, `{"a":null,"b":[],"c":""}`, `[""]`, `{"n":1}`} {
			if strings.HasPrefix(name, "openai-responses") && v != `null` && v != `""` {
				continue
			}
			got := f.read(value(v), f.text, end)
			assert.Assert(t, got.end() == "clean" && got.Unread == "", "%s, %s: %+v", name, v, got)
		}
		got := f.read(f.text, end, f.other)
		assert.Assert(t, got.Unread == "", "%s, after the end: %+v", name, got)
	}
}

// TestReopened checks in each dialect without an end marker that text after the finish reason needs another one,
// and that usage or an empty document after it does not.
func TestReopened(t *testing.T) {
	for _, f := range forms {
		name, end := f.d.Name(), ends(f.end, `"`+f.good[0]+`"`)
		if slices.Contains([]string{"ollama", "ollama-generate", "llamacpp", "tgi", "openai-responses", "cohere"}, name) {
			continue // the document is the end marker, too
		}
		another := strings.NewReplacer(`"a"`, `"ab"`).Replace(f.text)
		for _, c := range []struct {
			documents []string
			end       string
		}{
			{[]string{f.text, end, another}, "incomplete"},
			{[]string{end, f.text}, "incomplete"},
			{[]string{end, end, f.text}, "incomplete"},
			{[]string{end, f.text, another, end}, "clean"},
			{[]string{f.text, end, `{}`}, "clean"},
			{[]string{f.text, end, end}, "clean"},
		} {
			got := f.read(c.documents...)
			assert.Equal(t, got.end(), c.end, "%s: %q = %+v", name, c.documents, got)
			assert.Assert(t, c.end == "clean" || strings.Contains(got.Err, "text came after") || name == "triton", got.Err)
		}
	}
	// [DONE] is no finish reason, but is the end of the answer.
	f := forms[0]
	end := ends(f.end, `"stop"`)
	assert.Equal(t, f.read(f.text, end, f.text, "[DONE]").Err, "openai-chat: stream is truncated: text came after the finish reason, and no finish reason after the text")
	assert.Assert(t, strings.Contains(f.read(f.text, end, f.text+"\ndata: [DONE]").Err, "text came after the finish reason"))
	p := f.d.NewParser()
	p.Reset()
	var d Delta
	for _, document := range []string{f.text, f.text, end, "[DONE]", f.text} {
		assert.NilError(t, p.Event(sse.Event{Type: messageEvent, Data: []byte(document)}, &d))
	}
	assert.NilError(t, p.End())
	// The memo knows the document after the finish reason.
	assert.Equal(t, f.read(f.text, f.text, end, f.text).end(), "incomplete")
}

// TestErrorShapes checks in each dialect that documents in which servers and gateways report errors are faults, in a
// stream and as a whole answer.
func TestErrorShapes(t *testing.T) {
	others := []Dialect{VLLMDemo{}, MindIEVLLM{}, MindIEInfer{}, Vertex{}}
	for _, f := range forms {
		others = append(others, f.d)
	}
	for _, c := range []struct{ document, want string }{
		{`{"error":"boom"}`, "boom"},
		{`{"error":{"message":"boom","code":500}}`, "boom"},
		{`{"detail":"boom"}`, "boom"},
		{`{"detail":[{"loc":["body"],"msg":"boom"}]}`, `[{"loc":["body"],"msg":"boom"}]`},
		{`{"errors":["boom"]}`, `["boom"]`},
		{`{"errors":[{"message":"boom"}]}`, `[{"message":"boom"}]`},
		{`{"code":500,"message":"boom"}`, "boom"},
		{`{"id":"r1","code":"InternalError","message":"boom","model":"m"}`, "boom"},
		{`{"status":"error","message":"boom"}`, "boom"},
		{`{"status":"failed","reason":"boom"}`, `{"status":"failed","reason":"boom"}`},
		{`{"status":503,"title":"boom"}`, `{"status":503,"title":"boom"}`},
		{`{"success":false,"why":"boom"}`, `{"success":false,"why":"boom"}`},
		{`{"ok":false,"result":null}`, `{"ok":false,"result":null}`},
		{`{"error_code":17,"error_msg":"boom"}`, "boom"},
		{`{"base_resp":{"status_code":1002,"status_msg":"boom"}}`, "boom"},
		{`{"object":"error","message":"boom"}`, "boom"},
		{`{"type":"error","message":"boom"}`, "boom"},
		{`{"Error":{"Message":"boom"}}`, "boom"},
		{`{"err":"boom"}`, "boom"},
		{`{"error":true,"message":"boom"}`, "boom"},
		{`{"error":true,"reason":"boom"}`, `{"error":true,"reason":"boom"}`},
		{`{"error":500,"message":"boom"}`, "boom"},
		{`{"code":"Throttling","request_id":"r"}`, `{"code":"Throttling","request_id":"r"}`},
		{`{"error_code":5}`, `{"error_code":5}`},
		{`{"type":"error","why":"boom"}`, `{"type":"error","why":"boom"}`},
	} {
		for _, d := range others {
			if d.Name() == "openai-responses" && strings.Contains(c.document, `"status":"failed"`) {
				continue // it is a response that failed
			}
			got := readBody(d, c.document)
			assert.Equal(t, got.Fault, c.want, "%s, whole: %s", d.Name(), c.document)
			got = readAll(d.NewParser(), sse.Auto, strings.NewReader("data: "+c.document+"\n\n"))
			if slices.Contains([]string{"ollama", "ollama-generate", "vllm-demo", "mindie-vllm"}, d.Name()) {
				got = readAll(d.NewParser(), sse.Auto, strings.NewReader(c.document+"\n"))
			}
			assert.Equal(t, got.Fault, c.want, "%s, stream: %s", d.Name(), c.document)
		}
	}
	chat := forms[0]
	for document, want := range map[string]string{
		`{"choices":[{"error":{"code":502,"message":"boom"},"delta":{"content":""},"finish_reason":"stop"}]}`:                                "boom",
		`{"choices":[{"delta":{"error":"boom"}}]}`:                                                                                           "boom",
		`{"choices":[],"base_resp":{"status_code":1002,"status_msg":"boom"}}`:                                                                "boom",
		`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"base_resp":{"status_code":1002,"status_msg":"boom"}}`:                "boom",
		`{"choices":null,"usage":null,"message":"boom"}`:                                                                                     "boom",
		`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"base_resp":{"status_code":0,"status_msg":"ok"},"message":"x"}`:       "",
		`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"detail":"x","code":500,"errors":[],"error":null,"error_message":""}`: "",
	} {
		assert.Equal(t, chat.read(chat.text, document).Fault, want, document)
	}
}

// TestStrange checks that a document that is not part of an answer is quoted, and that [DONE] alone does not complete
// an answer with such a document.
func TestStrange(t *testing.T) {
	f := forms[0]
	got := f.read(f.text, `{"id":"c","event":"stage","why":"x"}`, ends(f.end, `"stop"`), "[DONE]")
	assert.Assert(t, got.end() == "clean" && got.Strange == `{"id":"c","event":"stage","why":"x"}` && got.Unread == "event", "%+v", got)
	got = f.read(f.text, ends(f.end, `"stop"`), `{"trace":"x"}`)
	assert.Assert(t, got.end() == "clean" && got.Strange == `{"trace":"x"}` && got.Unread == "", "%+v", got)
	for _, quiet := range []string{`{}`, `null`, `{"type":"ping"}`, `{"error":0,"errno":0}`, `{"code":0,"status":"queued"}`, `{"ok":true}`, `{"code":"200"}`, `{"id":"x","object":"chat.completion.chunk","created":1,"model":"m"}`, `{"choices":[],"prompt_filter_results":[{"a":"b"}]}`, `{"object":"x","cost":0.5}`} {
		got = f.read(quiet, f.text, ends(f.end, `"stop"`))
		assert.Assert(t, got.end() == "clean" && got.Strange == "" && got.Unread == "", "%s: %+v", quiet, got)
	}
	const unmarked = `{"choices":[{"delta":{"content":"a"}}]}`
	assert.Equal(t, f.read(unmarked, `{"trace":"x"}`, "[DONE]").Err, "openai-chat: stream is truncated: [DONE] came, but no finish reason, and an event was not understood")
	assert.Equal(t, f.read(unmarked, "[DONE]").Err, "")
	assert.Equal(t, f.read(`{"choices":[{"delta":{"a\nb":"x"}}]}`, f.text, ends(f.end, `"stop"`)).Unread, `"delta.a\nb"`)
	long := f.read(f.text, fmt.Sprintf(`{"trace":%q}`, bytes.Repeat([]byte("x"), 1000)))
	assert.Assert(t, len(long.Strange) < 300 && strings.HasSuffix(long.Strange, redact.Cut), long.Strange)
}
