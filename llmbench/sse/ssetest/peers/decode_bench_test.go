package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
	goopenai "github.com/sashabaranov/go-openai"
	gosse "github.com/tmaxmax/go-sse"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// A decoder reads a body to its end and returns the number of bytes of text in its
// events.
type decoder struct {
	name   string
	decode func(io.Reader) (text int, err error)
}

// sdks decode chat completions into the types that their users see.
var sdks = []decoder{
	{"openai-go", func(r io.Reader) (text int, err error) {
		stream := ssestream.NewStream[openai.ChatCompletionChunk](ssestream.NewDecoder(response(r)), nil)
		for stream.Next() {
			for _, c := range stream.Current().Choices {
				text += len(c.Delta.Content)
			}
		}
		return text, stream.Err()
	}},
	{"go-openai", func(r io.Reader) (text int, err error) {
		stream, err := goOpenAIStream(r)
		for err == nil {
			var e goopenai.ChatCompletionStreamResponse
			if e, err = stream.Recv(); err == nil {
				for _, c := range e.Choices {
					text += len(c.Delta.Content)
				}
			}
		}
		return text, err
	}},
	{"go-sse_and_encoding-json", func(r io.Reader) (text int, err error) {
		gosse.Read(r, nil)(func(e gosse.Event, readErr error) bool {
			if err = readErr; err != nil {
				return false
			}
			var chunk struct { // only the members that are needed for the text
				Choices []struct{ Delta struct{ Content string } }
			}
			if err = json.Unmarshal([]byte(e.Data), &chunk); err == nil {
				for _, c := range chunk.Choices {
					text += len(c.Delta.Content)
				}
			}
			return err == nil
		})
		return text, err
	}},
}

// BenchmarkDecode measures the time from the bytes to the text of a stream of 1,000 chunks, for llmbench,
// for the public SDKs, and for a bare line reader. Times are per chunk. Only their ratios within one run
// are meaningful. None of these SDKs reads the JSON lines of Ollama; Ollama's own client reads them like
// the decoder encoding-json.
func BenchmarkDecode(b *testing.B) {
	for _, stream := range []struct {
		name     string
		dialect  dialect.Dialect
		chunk    string
		decoders []decoder
	}{
		{"vllm", dialect.OpenAIChat{}, `data: {"id":"chatcmpl-9f3c2b7a6d5e4f3c2b7a6d5e4f3c2b7a","object":"chat.completion.chunk","created":1795255695,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"delta":{"content":" w%03d"},"logprobs":null,"finish_reason":null,"token_ids":null}]}` + "\n\n", sdks},
		{"llamacpp-timings", dialect.OpenAIChat{}, `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":" w%03[1]d"}}],"created":1795255695,"id":"chatcmpl-Xq7T2mB9dKf1LwZr","model":"qwen3-8b-q4_k_m.gguf","system_fingerprint":"b10472-5f3a2c1","object":"chat.completion.chunk","timings":{"cache_n":4,"prompt_n":1,"prompt_ms":21.5,"prompt_per_token_ms":4.3,"prompt_per_second":232.55813953488374,"predicted_n":%[1]d,"predicted_ms":45.017,"predicted_per_token_ms":15.005666666666666,"predicted_per_second":66.64149099229179}}` + "\n\n", sdks},
		{"ollama", dialect.Ollama{}, `{"model":"qwen3:8b","created_at":"2026-11-21T10:08:15.100456%03[1]dZ","message":{"role":"assistant","content":" w%03[1]d"},"done":false}` + "\n", []decoder{
			{"encoding-json", func(r io.Reader) (text int, err error) {
				for d := json.NewDecoder(r); err == nil; {
					var line struct{ Message struct{ Content string } }
					if err = d.Decode(&line); err == nil {
						text += len(line.Message.Content)
					}
				}
				return text, err
			}},
		}},
	} {
		const count, want = 1000, 5000
		var chunks [][]byte
		for i := range count {
			chunks = append(chunks, fmt.Appendf(nil, stream.chunk, i))
		}
		ours := decoder{"llmbench", decodeWith(stream.dialect)}
		floor := decoder{"none-bufio.ReadSlice", func(r io.Reader) (int, error) {
			_, err := drainLines(r)
			return want, err
		}}
		for _, d := range append([]decoder{floor, ours}, stream.decoders...) {
			b.Run("stream="+stream.name+"/parser="+d.name+"/chunks=1000", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if text, err := d.decode(&chunkReader{chunks: chunks}); text != want || err != nil && err != io.EOF {
						b.Fatalf("%d bytes of text, %v; want %d", text, err, want)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/chunk")
			})
		}
	}
}

// decodeWith returns a function that decodes bodies with one parser of d.
func decodeWith(d dialect.Dialect) func(io.Reader) (int, error) {
	frames, p := sse.NewDecoder(nil), d.NewParser()
	frames.Format = sse.Auto
	var delta dialect.Delta
	return func(r io.Reader) (text int, err error) {
		frames.Reset(r)
		p.Reset()
		for {
			e, err := frames.Next()
			if err != nil {
				return text, err
			}
			if err := p.Event(e, &delta); err != nil {
				return text, err
			}
			text += len(delta.Text)
		}
	}
}
