package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// fuzzStream parses streams with the parsers of a family of dialects. It checks that no parser panics, that
// the result depends neither on how reads split the stream nor on earlier answers, and that the text is not
// longer than the stream can give.
func fuzzStream(f *testing.F, family []Dialect, seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	var parsers []Parser
	for _, d := range family {
		parsers = append(parsers, d.NewParser())
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		for i, p := range parsers {
			name := family[i].Name()
			whole := readAll(p, sse.Auto, bytes.NewReader(stream))
			// A byte of the stream becomes at most the 3 bytes of U+FFFD.
			if n := len(whole.Text) + len(whole.Reasoning) + len(whole.ToolCall); n > 3*len(stream) {
				t.Errorf("%s: %q has %d bytes of text", name, stream, n)
			}
			if whole.Chunks == 0 && whole.Text+whole.Reasoning+whole.ToolCall != "" {
				t.Errorf("%s: %q has text and no chunk", name, stream)
			}
			for how, src := range everyWay(stream) {
				if diff := cmp.Diff(whole, readAll(p, sse.Auto, src), cmp.AllowUnexported(read{})); diff != "" {
					t.Errorf("%s, %s: %q mismatch (-whole +%s):\n%s", name, how, stream, how, diff)
				}
			}
			fresh := readAll(family[i].NewParser(), sse.Auto, bytes.NewReader(stream))
			if diff := cmp.Diff(whole, fresh, cmp.AllowUnexported(read{})); diff != "" {
				t.Errorf("%s: %q mismatch (-used parser +new parser):\n%s", name, stream, diff)
			}
			var d Delta
			p.Reset()
			if err := p.Body(stream, &d); err == nil && !json.Valid(stream) && len(bytes.TrimSpace(stream)) > 0 && !severalDocuments(stream) {
				t.Errorf("%s.Body(%q) = nil; want an error, the body is not JSON", name, stream)
			}
		}
	})
}

// severalDocuments reports whether text is a sequence of JSON documents according to encoding/json. It
// first replaces invalid UTF-8, because encoding/json refuses it, but the parsers accept it.
func severalDocuments(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(bytes.ToValidUTF8(text, []byte("?"))))
	for {
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return err.Error() == "EOF"
		}
	}
}

func FuzzTGI(f *testing.F) {
	fuzzStream(f, []Dialect{TGI{}, MindIEInfer{}},
		`data: {"index":1,"token":{"id":1,"text":"a","special":false},"generated_text":null}`+"\n\n"+`data:{"token":{"id":[2],"text":null},"generated_text":"ab","details":{"finish_reason":"length","generated_tokens":2,"input_length":5}}`+"\n\n",
		`data: {"token":{"id":2,"text":"</s>","special":true},"generated_text":"","prefill_time":4}`+"\n\n", `data: {"error":"no","error_type":"x"}`+"\n\n")
}

func FuzzLlamaCPP(f *testing.F) {
	fuzzStream(f, []Dialect{LlamaCPP{}},
		`data: {"content":"a","stop":false,"tokens_predicted":1}`+"\n\n"+`data: {"content":"","stop":true,"stop_type":"limit","timings":{"prompt_ms":2.5,"predicted_n":3}}`+"\n\n",
		"error: {\"message\":\"no\"}\n\n", `data: {"stopped_eos":true,"stop":true}`+"\n\n")
}

func FuzzOllama(f *testing.F) {
	fuzzStream(f, []Dialect{Ollama{}, OllamaGenerate{}},
		`{"message":{"content":"a","thinking":"r","tool_calls":[{"function":{"arguments":{"x":1}}}]},"done":false}`+"\n"+`{"message":{"content":""},"done":true,"done_reason":"stop","eval_count":3,"eval_duration":45000000}`+"\n",
		`{"response":"a","done":true}`, `{"error":"no"}`+"\r\n")
}

func FuzzGenerate(f *testing.F) {
	fuzzStream(f, []Dialect{SGLang{}, LMDeploy{}},
		generated("a|1", "ab|1,2", "abc|1,2,3"), generated("a|1", "b|2"), generated("a", "ab"),
		`data: {"text":"","meta_info":{"finish_reason":{"type":"abort","message":"no"}}}`+"\n\n")
}

func FuzzTriton(f *testing.F) {
	fuzzStream(f, []Dialect{Triton{}, VLLMDemo{}, MindIEVLLM{}},
		`data:{"text_output":"a","details":{"finish_reason":"length","generated_tokens":2},"decode_time":1}`+"\n\n",
		`{"text": ["p a"]}`+"\n"+`{"text": ["p ab", "x"]}`+"\x00", `data: {"error":"no"}`+"\n\n")
}

func FuzzOpenAIResponses(f *testing.F) {
	fuzzStream(f, []Dialect{OpenAIResponses{}},
		"event: response.output_text.delta\n"+`data: {"delta":"a","type":"response.output_text.delta"}`+"\n\n"+`data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":9}}}`+"\n\n",
		`data: {"type":"response.incomplete","response":{"incomplete_details":{"reason":"x"}}}`+"\n\n", "event: error\ndata: {\"message\":\"no\"}\n\n",
		`{"status":"completed","output":[{"type":"reasoning","summary":[{"text":"r"}]},{"content":[{"text":"a"}],"arguments":"{}"}]}`)
}

func FuzzAnthropicMessages(f *testing.F) {
	fuzzStream(f, []Dialect{AnthropicMessages{}},
		anthropicBegin+anthropicEvent("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"a"}`)+anthropicEvent("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"b"}`)+anthropicEnd,
		anthropicEvent("content_block_start", `"content_block":{"type":"tool_use","name":"f","input":{}}`)+anthropicEvent("content_block_delta", `"delta":{"partial_json":"{}"}`),
		"event: error\ndata: {\"error\":{\"message\":\"no\"}}\n\n", "event: message_stop\ndata: {}\n\n",
		`{"content":[{"thinking":"r"},{"text":"a"},{"name":"f","input":{"x":1}}],"stop_reason":"tool_use","usage":{"input_tokens":9}}`)
}

func FuzzCohere(f *testing.F) {
	fuzzStream(f, []Dialect{Cohere{}},
		cohereBegin+cohereText("a")+cohereText("b")+cohereEnd("COMPLETE")+cohereDone,
		cohereEvent("content-delta", `"content":{"thinking":"h"}`)+cohereEvent("tool-plan-delta", `"tool_plan":"p"`)+cohereEvent("tool-call-start", `"tool_calls":{"function":{"name":"f","arguments":"{}"}}`)+cohereEnd("TOOL_CALL"),
		cohereEvent("citation-start", `"citations":{"text":"x"}`)+`data: {"type":"message-end","delta":{"error":"no","finish_reason":"TIMEOUT"}}`+"\n\n", "event: error\ndata: {\"message\":\"no\"}\n\n",
		`{"message":{"content":[{"thinking":"r"},{"text":"a"}],"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"TOOL_CALL",`+cohereUsage+`}`)
}

func FuzzGemini(f *testing.F) {
	fuzzStream(f, []Dialect{Gemini{}, Vertex{}},
		geminiEvents(geminiResponse(`{"text":"a","thought":true}`, "", `"thoughtsTokenCount":1,`), geminiResponse(`{"text":"b"},{"functionCall":{"name":"f","args":{"x":1}}}`, "STOP", `"candidatesTokenCount":2,`)),
		geminiEvents(`{"promptFeedback":{"blockReason":"OTHER"}}`), geminiEvents(`{"error":{"message":"no"}}`), `{"candidates":[{"index":1,"content":{"parts":[{"text":"a"}]}}]}`)
}

// FuzzBedrock parses streams of two messages of Amazon's event stream, with any type, event and payload, and
// with further bytes after them.
func FuzzBedrock(f *testing.F) {
	f.Add("event", "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a"}}`, "")
	f.Add("event", "messageStop", `{"stopReason":"end_turn"}`, "\x00\x00\x00\x10")
	f.Add("event", "metadata", `{"usage":{"inputTokens":5,"cacheReadInputTokens":3},"metrics":{"latencyMs":1}}`, converseEnd)
	f.Add("event", "chunk", `{"bytes":"eyJ0eXBlIjoibWVzc2FnZV9zdG9wIn0="}`, awsChunk("content_block_delta", `,"delta":{"text":"a"}`))
	f.Add("exception", "throttlingException", `{"message":"no"}`, "")
	f.Add("error", "InternalFailure", "", "")
	f.Fuzz(func(t *testing.T, kind, name, payload, rest string) {
		if len(name)+len(kind) > 1000 {
			return
		}
		m := awsMessage(payload, ":message-type", kind, ":event-type", name)
		for _, d := range []Dialect{BedrockConverse{}, BedrockInvoke{}} {
			sameFrames(t, d, []byte(m+m+rest))
		}
	})
}

// sameFrames checks that the result of reading body does not depend on how reads split it, nor on whether
// the parser has read another answer.
func sameFrames(t *testing.T, d Dialect, body []byte) {
	p := d.NewParser()
	whole := readFrames(p, d.(Framer).NewDecoder(bytes.NewReader(body)))
	if whole.Chunks == 0 && whole.Text+whole.Reasoning+whole.ToolCall != "" {
		t.Errorf("%s: %q has text and no chunk", d.Name(), body)
	}
	for how, src := range everyWay(body) {
		if got := readFrames(p, d.(Framer).NewDecoder(src)); got != whole {
			t.Errorf("%s, %s: %q = %+v; want %+v", d.Name(), how, body, got, whole)
		}
	}
}

func FuzzOpenAIStream(f *testing.F) {
	fuzzStream(f, []Dialect{OpenAIChat{}, OpenAICompletions{}},
		`data: {"choices":[{"index":0,"delta":{"content":"a"},"token_ids":[1]}],"usage":{"completion_tokens":1}}`+"\n\n"+`data: {"choices":[{"text":"","finish_reason":"stop"}],"timings":{"predicted_n":1}}`+"\n\ndata: [DONE]\n\n",
		`data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"x"}}]},"index":1}]}`+"\n\n", "data: {}{}[DONE]", "event: ping\rdata: x\r\r", `data: {"object":"error","message":"no"}`+"\n\n")
}

// FuzzOpenAI checks that the parser accepts every event that encoding/json accepts.
func FuzzOpenAI(f *testing.F) {
	for _, seed := range []string{
		`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		`{"error":{"message":"no"}}`, `[DONE]`, `{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"x"}}]}}]}`,
		"{}\n{}\n[DONE]", `{"choices":[{"conte\u006et":"\ud800"}]}`, "null", "\xff",
	} {
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, payload []byte, unterminated bool) {
		p := OpenAIChat{}.NewParser()
		var d Delta
		for range 2 {
			p.Reset()
			err := p.Event(sse.Event{Type: []byte("message"), Data: payload, Unterminated: unterminated}, &d)
			if n := len(d.Text) + len(d.Reasoning) + len(d.ToolCall); n > 3*len(payload) { // a byte becomes at most the 3 bytes of U+FFFD
				t.Errorf("%q has %d bytes of text", payload, n)
			}
			if d.Finish != "" && p.End() != nil {
				t.Errorf("%q: finish %q, and End() = %v", payload, d.Finish, p.End())
			}
			// An event that encoding/json can read must not be an error.
			var object map[string]json.RawMessage
			if json.Unmarshal(payload, &object) != nil || object == nil || err == nil {
				continue
			}
			var s struct {
				Choices []struct {
					Delta, Message *struct {
						ToolCalls    []struct{ Function *struct{} } `json:"tool_calls"`
						FunctionCall *struct{}                      `json:"function_call"`
					}
				}
				Usage *struct {
					Details *struct{} `json:"prompt_tokens_details"`
				}
				Timings *struct{}
			}
			if json.Unmarshal(payload, &s) == nil && !errors.Is(err, ErrTruncated) && !repeated(payload) {
				t.Errorf("Event(%q) = %v; encoding/json reads it", payload, err)
			}
		}
	})
}

// repeated reports whether an object in payload may have a duplicate name, ignoring case. encoding/json
// keeps only the last value of such a name; the parser reads all values.
func repeated(payload []byte) bool {
	seen := map[string]bool{}
	for part := range strings.SplitSeq(string(payload), `"`) {
		name := strings.ToLower(fmt.Sprintf("%q", part))
		if len(part) > 0 && seen[name] || strings.ContainsAny(part, `\`) {
			return true
		}
		seen[name] = true
	}
	return false
}
