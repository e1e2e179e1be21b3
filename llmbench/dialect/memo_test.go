package dialect

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// forgetful is the parser without its memo.
type forgetful struct{ *openAIParser }

func (p forgetful) Event(e sse.Event, d *Delta) error {
	p.memo.forget()
	return p.openAIParser.Event(e, d)
}

// eventByEvent tells what p makes of each document.
func eventByEvent(p Parser, documents ...[]byte) (all []string) {
	p.Reset()
	var d Delta
	for _, document := range documents {
		err := p.Event(sse.Event{Type: []byte("message"), Data: document}, &d)
		all = append(all, fmt.Sprintf("%+v text=%q reasoning=%q call=%q err=%v", d, d.Text, d.Reasoning, d.ToolCall, err))
	}
	return append(all, fmt.Sprint(p.End()))
}

const vllmChunk = `{"id":"c","object":"chat.completion.chunk","created":7,"model":"m","choices":[{"index":0,"delta":{"content":"a"},"logprobs":null,"finish_reason":null}]}`

// TestMemo: which documents the memo answers for, and that each answer is the
// one that reading the document gives.
func TestMemo(t *testing.T) {
	for _, test := range []struct {
		name, first, next string
		known             bool
	}{
		{"same shape", vllmChunk, replaced(vllmChunk, " and more"), true},
		{"invalid UTF-8", vllmChunk, replaced(vllmChunk, "\xff"), true},
		{"completions", `{"choices":[{"text":"a"}]}`, `{"choices":[{"text":"b"}]}`, true},
		{"usage of zeros", `{"choices":[{"text":"a"}],"usage":{"completion_tokens":0}}`, `{"choices":[{"text":"b"}],"usage":{"completion_tokens":0}}`, true},
		{"text that looks like the shape", `{"choices":[{"text":"a"}]}`, `{"choices":[{"text":"}]}{]"}]}`, true},
		{"empty text", vllmChunk, replaced(vllmChunk, ""), false},
		{"escape", vllmChunk, replaced(vllmChunk, `\n`), false},
		{"closing quote", vllmChunk, replaced(vllmChunk, `b","role":"assistant`), false},
		{"control character", vllmChunk, replaced(vllmChunk, "\n"), false},
		{"another member", vllmChunk, `{"id":"d"` + vllmChunk[len(`{"id":"c"`):], false},
		{"overlap of head and tail", `{"choices":[{"text":"a"}]}`, `{"choices":[{"text":"}]}`, false},
		{"first has an escape", replaced(vllmChunk, `\t`), vllmChunk, false},
		{"usage", `{"choices":[{"text":"a"}],"usage":{"completion_tokens":1}}`, `{"choices":[{"text":"b"}],"usage":{"completion_tokens":1}}`, false},
		{"ids", `{"choices":[{"text":"a","token_ids":[1]}]}`, `{"choices":[{"text":"b","token_ids":[1]}]}`, false},
		{"finish", `{"choices":[{"text":"a","finish_reason":"stop"}]}`, `{"choices":[{"text":"b","finish_reason":"stop"}]}`, false},
		{"fault", `{"choices":[{"text":"a"}],"error":"no"}`, `{"choices":[{"text":"b"}],"error":"no"}`, false},
		{"text twice", `{"choices":[{"text":"a","delta":{"content":"a"}}]}`, `{"choices":[{"text":"b","delta":{"content":"a"}}]}`, false},
		{"another choice", `{"choices":[{"text":"a"},{"text":"a","index":1}]}`, `{"choices":[{"text":"a"},{"text":"b","index":1}]}`, false},
	} {
		p := OpenAIChat{}.NewParser().(*openAIParser)
		first, next := []byte(test.first), []byte(test.next)
		want := eventByEvent(forgetful{OpenAIChat{}.NewParser().(*openAIParser)}, first, next)
		assert.DeepEqual(t, eventByEvent(p, first, next), want)
		eventByEvent(p, first)
		if _, known := p.memo.text(next); known != test.known {
			t.Errorf("%s: the memo of %s knows %s: %t; want %t", test.name, first, next, known, test.known)
		}
	}
	p := OpenAIChat{}.NewParser()
	eventByEvent(p, []byte(vllmChunk))
	p.Reset()
	if _, known := p.(*openAIParser).memo.text([]byte(vllmChunk)); known {
		t.Error("the memo knows a document of the answer before")
	}
}

// replaced returns vllmChunk or its like with another text.
func replaced(chunk, text string) string {
	return string(bytes.Replace([]byte(chunk), []byte(`"a"`), []byte(`"`+text+`"`), 1))
}

// FuzzMemo: whatever the first document is, and whatever stands in the place of
// its text in the next, the memo changes nothing.
func FuzzMemo(f *testing.F) {
	f.Add([]byte(vllmChunk), []byte("b"), false)
	f.Add([]byte(vllmChunk), []byte(`b"},"finish_reason":"stop`), false)
	f.Add([]byte(`{"choices":[{"text":"a","delta":{"content":"b"}}]}`), []byte("c"), true)
	f.Add([]byte(`{"choices":[{"text":"a"}],"usage":{"completion_tokens":0}}{}`), []byte("\xc3"), true)
	f.Add([]byte(`{"choices":[{"text":"a","index":0},{"index":1,"text":"a"}]}`), []byte(`\u0041`), false)
	f.Fuzz(func(t *testing.T, first, text []byte, completions bool) {
		var d Dialect = OpenAIChat{}
		if completions {
			d = OpenAICompletions{}
		}
		p := d.NewParser().(*openAIParser)
		eventByEvent(p, first)
		if len(p.memo.head) == 0 {
			return
		}
		next := bytes.Join([][]byte{p.memo.head, p.memo.tail}, text)
		want := eventByEvent(forgetful{d.NewParser().(*openAIParser)}, first, next, first, next)
		if diff := cmp.Diff(want, eventByEvent(p, first, next, first, next)); diff != "" {
			t.Errorf("%q and %q: mismatch (-without memo +with):\n%s", first, next, diff)
		}
	})
}
