package dialect

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// perRead is a body that returns one event per Read, like the body of a server that
// flushes after each token.
type perRead struct {
	events [][]byte
	next   int
}

func (p *perRead) Read(b []byte) (int, error) {
	if p.next == len(p.events) {
		return 0, io.EOF
	}
	n := copy(b, p.events[p.next])
	p.next++
	return n, nil
}

// BenchmarkChunk compares the time to turn the bytes of a streamed chunk into a delta with two other times
// for the same bytes: of a bare line reader (of=readslice), and of encoding/json into a struct. All times
// are per chunk. Only their ratios within one run are meaningful.
func BenchmarkChunk(b *testing.B) {
	const chunks = 1000
	src := &perRead{}
	for i := range chunks { // the size and form of a chunk of vLLM
		src.events = append(src.events, fmt.Appendf(nil, `data: {"id":"chatcmpl-9f3c2b7a6d5e4f3c2b7a6d5e4f3c2b7a","object":"chat.completion.chunk","created":1795255695,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"delta":{"content":" w%03d"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`+"\n\n", i))
	}
	d := sse.NewDecoder(src)
	frames := func(b *testing.B, event func(sse.Event) (text int)) {
		b.ReportAllocs()
		for b.Loop() {
			src.next = 0
			d.Reset(src)
			n, text := 0, 0
			for {
				e, err := d.Next()
				if err != nil {
					break
				}
				n++
				text += event(e)
			}
			if n != chunks || text != 5*chunks {
				b.Fatalf("%d chunks with %d bytes of text; want %d with %d", n, text, chunks, 5*chunks)
			}
		}
		perChunk(b, chunks)
	}

	b.Run("of=readslice", func(b *testing.B) { readSlice(b, src, chunks) })
	b.Run("of=framing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			src.next = 0
			d.Reset(src)
			for {
				if _, err := d.Next(); err != nil {
					break
				}
			}
		}
		perChunk(b, chunks)
	})
	p := OpenAIChat{}.NewParser().(*openAIParser)
	for _, of := range []struct {
		name   string
		parser Parser
	}{{"framing_and_dialect", p}, {"framing_and_dialect_without_memo", withoutMemo{p}}} {
		b.Run("of="+of.name, func(b *testing.B) {
			var delta Delta
			frames(b, func(e sse.Event) int {
				if err := of.parser.Event(e, &delta); err != nil {
					b.Fatal(err)
				}
				return len(delta.Text)
			})
		})
	}
	b.Run("of=framing_and_encoding-json", func(b *testing.B) {
		type message struct { // all members that the dialect reads from a message
			Content          *string `json:"content"`
			Reasoning        *string `json:"reasoning"`
			ReasoningContent *string `json:"reasoning_content"`
			ToolCalls        []struct {
				Function struct {
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		}
		type chunk struct {
			Object  string          `json:"object"`
			Message json.RawMessage `json:"message"`
			Choices []struct {
				Index        int     `json:"index"`
				Delta        message `json:"delta"`
				Message      message `json:"message"`
				Text         *string `json:"text"`
				FinishReason *string `json:"finish_reason"`
				TokenIDs     []int   `json:"token_ids"`
			} `json:"choices"`
			Usage *struct {
				PromptTokens     float64 `json:"prompt_tokens"`
				CompletionTokens float64 `json:"completion_tokens"`
				Details          *struct {
					CachedTokens float64 `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			} `json:"usage"`
			Timings json.RawMessage `json:"timings"`
			Error   json.RawMessage `json:"error"`
		}
		frames(b, func(e sse.Event) int {
			var c chunk
			if err := json.Unmarshal(e.Data, &c); err != nil {
				b.Fatal(err)
			}
			return len(*c.Choices[0].Delta.Content)
		})
	})
}

// readSlice measures a line reader that does nothing with the lines.
func readSlice(b *testing.B, src *perRead, chunks int) {
	b.ReportAllocs()
	r := bufio.NewReader(src)
	for b.Loop() {
		src.next = 0
		r.Reset(src)
		for {
			if _, err := r.ReadSlice('\n'); err != nil {
				break
			}
		}
	}
	perChunk(b, chunks)
}

// perChunk reports the time of one chunk.
func perChunk(b *testing.B, chunks int) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*chunks), "ns/chunk")
}
