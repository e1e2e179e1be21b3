package dialect

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// stamped records the instant of its last Read, as the client's reader does.
type stamped struct {
	r     io.Reader
	start time.Time
	last  time.Duration
}

func (s *stamped) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.last = time.Since(s.start)
	return n, err
}

// BenchmarkDecode measures all steps from the bytes of a chunk to its instant, event and delta, for servers
// of each family (of=delta). It also measures a bare line reader for the same bytes (of=readslice). All
// times are per chunk. Only their ratios within one run are meaningful.
func BenchmarkDecode(b *testing.B) {
	const chunks = 1000
	for _, stream := range []struct {
		name    string
		dialect Dialect
		chunk   string // a format with a three-digit number
		end     string
	}{
		{"vllm", OpenAIChat{},
			`data: {"id":"chatcmpl-9f3c2b7a6d5e4f3c2b7a6d5e4f3c2b7a","object":"chat.completion.chunk","created":1795255695,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"delta":{"content":" w%03d"},"logprobs":null,"finish_reason":null,"token_ids":null}]}` + "\n\n",
			`data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\ndata: [DONE]\n\n"},
		{"vllm-usage", OpenAIChat{}, // with continuous_usage_stats, so that no two chunks are the same around their text
			`data: {"id":"chatcmpl-9f3c2b7a6d5e4f3c2b7a6d5e4f3c2b7a","object":"chat.completion.chunk","created":1795255695,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"delta":{"content":" w%03[1]d"},"logprobs":null,"finish_reason":null,"token_ids":null}],"usage":{"prompt_tokens":512,"total_tokens":1512,"completion_tokens":%[1]d}}` + "\n\n",
			`data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\ndata: [DONE]\n\n"},
		{"llamacpp", OpenAIChat{},
			`data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":" w%03d"}}],"created":1795255695,"id":"chatcmpl-Xq7T2mB9dKf1LwZr","model":"qwen3-8b-q4_k_m.gguf","system_fingerprint":"b10472-5f3a2c1","object":"chat.completion.chunk"}` + "\n\n",
			`data: {"choices":[{"finish_reason":"length","index":0,"delta":{}}]}` + "\n\ndata: [DONE]\n\n"},
		{"llamacpp-timings", OpenAIChat{}, // with timings_per_token
			`data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":" w%03[1]d"}}],"created":1795255695,"id":"chatcmpl-Xq7T2mB9dKf1LwZr","model":"qwen3-8b-q4_k_m.gguf","system_fingerprint":"b10472-5f3a2c1","object":"chat.completion.chunk","timings":{"cache_n":4,"prompt_n":1,"prompt_ms":21.5,"prompt_per_token_ms":4.3,"prompt_per_second":232.55813953488374,"predicted_n":%[1]d,"predicted_ms":45.017,"predicted_per_token_ms":15.005666666666666,"predicted_per_second":66.64149099229179}}` + "\n\n",
			`data: {"choices":[{"finish_reason":"length","index":0,"delta":{}}]}` + "\n\ndata: [DONE]\n\n"},
		{"llamacpp-native", LlamaCPP{},
			`data: {"index":0,"content":" w%03d","tokens":[9707],"stop":false,"id_slot":-1,"tokens_predicted":3,"tokens_evaluated":5,"timings":{"cache_n":4,"prompt_n":1,"prompt_ms":21.5,"predicted_n":3,"predicted_ms":45.017}}` + "\n\n",
			`data: {"content":"","stop":true,"stop_type":"limit"}` + "\n\n"},
		{"anthropic", AnthropicMessages{},
			"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" w%03d"}}` + "\n\n", anthropicEnd},
		{"anthropic-thinking", AnthropicMessages{}, // with text that the memo does not know
			"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":%[1]d,"delta":{"type":"text_delta","text":" w%03[1]d"}}` + "\n\n", anthropicEnd},
		{"gemini", Gemini{},
			`data: {"candidates":[{"content":{"parts":[{"text":" w%03[1]d"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":512,"candidatesTokenCount":%[1]d,"totalTokenCount":612},"modelVersion":"gemini-3-flash","responseId":"Il0taoSYJ5Cez7IP"}` + "\r\n\r\n",
			`data: {"candidates":[{"finishReason":"STOP"}]}` + "\r\n\r\n"},
		{"bedrock-converse", BedrockConverse{}, "contentBlockDelta " + `{"contentBlockIndex":0,"delta":{"text":" w%03d"},"p":"abcdefghijklmnop"}`, converseEnd},
		{"bedrock-invoke", BedrockInvoke{}, "chunk " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" w%03d"}}`, awsChunk("message_delta", `,"delta":{"stop_reason":"end_turn"}`)},
		{"cohere", Cohere{}, "event: content-delta\n" + `data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":" w%03d"}}}}` + "\n\n", cohereEnd("COMPLETE")},
		{"cohere-logprobs", Cohere{}, // with text that the memo does not know
			"event: content-delta\n" + `data: {"type":"content-delta","index":0,"logprobs":{"text":" w%03[1]d","token_ids":[%[1]d],"logprobs":[-0.5]},"delta":{"message":{"content":{"text":" w%03[1]d"}}}}` + "\n\n", cohereEnd("COMPLETE")},
		{"ollama", Ollama{},
			`{"model":"qwen3:8b","created_at":"2026-11-21T10:08:15.100456789Z","message":{"role":"assistant","content":" w%03d"},"done":false}` + "\n",
			`{"model":"qwen3:8b","message":{"role":"assistant","content":""},"done":true,"done_reason":"length","eval_count":1000,"eval_duration":45000000}` + "\n"},
		{"tgi", TGI{},
			`data: {"index":1,"token":{"id":9707,"text":" w%03d","logprob":-0.25,"special":false},"generated_text":null,"details":null}` + "\n\n",
			`data: {"token":{"id":2,"text":"</s>","special":true},"generated_text":"x","details":{"finish_reason":"eos_token"}}` + "\n\n"},
	} {
		src := &perRead{}
		for i := range chunks {
			src.events = append(src.events, framed(fmt.Sprintf(stream.chunk, i)))
		}
		src.events = append(src.events, []byte(stream.end))
		b.Run("stream="+stream.name+"/of=readslice", func(b *testing.B) { readSlice(b, src, chunks) })
		b.Run("stream="+stream.name+"/of=delta", func(b *testing.B) {
			b.ReportAllocs()
			in := &stamped{r: src, start: time.Now()}
			events := sse.NewDecoder(in)
			events.Format = sse.Auto
			var d Decoder = events
			if f, ok := stream.dialect.(Framer); ok {
				d = f.NewDecoder(in)
			}
			p := stream.dialect.NewParser()
			var delta Delta
			for b.Loop() {
				src.next = 0
				d.Reset(in)
				p.Reset()
				text := 0
				var at time.Duration
				for {
					e, err := d.Next()
					if err != nil {
						break
					}
					at = in.last
					if err := p.Event(e, &delta); err != nil {
						b.Fatal(err)
					}
					text += len(delta.Text)
				}
				if err := p.End(); err != nil || text != 5*chunks || at == 0 {
					b.Fatalf("%d bytes of text at %v, End() = %v; want %d", text, at, err, 5*chunks)
				}
			}
			perChunk(b, chunks)
		})
	}
}

// framed returns the bytes of a chunk. A chunk of Amazon Bedrock is given as the name of an event and a
// payload, or for the name "chunk" the payload's event.
func framed(chunk string) []byte {
	name, payload, _ := strings.Cut(chunk, " ")
	switch name {
	case "contentBlockDelta":
		return []byte(awsEvent(name, payload))
	case "chunk":
		return []byte(awsEvent(name, `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(payload))+`","p":"abcdefgh"}`))
	}
	return []byte(chunk)
}
