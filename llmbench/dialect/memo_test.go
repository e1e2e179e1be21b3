package dialect

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// withoutMemo is a parser that never uses its memo.
type withoutMemo struct{ *openAIParser }

func (p withoutMemo) Event(e sse.Event, d *Delta) error {
	p.memo.forget()
	return p.openAIParser.Event(e, d)
}

// eventByEvent returns the delta and the error of each document, and of the end.
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

// TestMemo checks which documents the memo knows, and that the result is the same
// with and without the memo.
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
		want := eventByEvent(withoutMemo{OpenAIChat{}.NewParser().(*openAIParser)}, first, next)
		assert.DeepEqual(t, eventByEvent(p, first, next), want)
		eventByEvent(p, first)
		if _, known := p.memo.text(next); known != test.known {
			t.Errorf("%s: after %s, the memo knows %s: %t; want %t", test.name, first, next, known, test.known)
		}
	}
	p := OpenAIChat{}.NewParser()
	eventByEvent(p, []byte(vllmChunk))
	p.Reset()
	if _, known := p.(*openAIParser).memo.text([]byte(vllmChunk)); known {
		t.Error("Reset does not clear the memo")
	}
}

// remembered returns the parser's memo.
func (p *memoParser) remembered() *memo { return &p.memo }

// textType returns the type of the events that have text.
func (p *memoParser) textType() []byte { return p.textEvent }

// TestMemoState checks in each dialect with a memo that a document which the memo learns does not change the state of the
// parser when it comes again, whatever fields the parser has. The memo leaves out such documents.
func TestMemoState(t *testing.T) {
	walker := regexp.MustCompile(`\bw:0x[0-9a-f]+ `) // comes from a pool, which may give another one for each document
	learned := map[string]bool{}
	for _, f := range forms {
		p, ok := f.d.NewParser().(interface {
			Parser
			remembered() *memo
		})
		if !ok {
			continue
		}
		var d Delta
		state := func(document string) string {
			assert.NilError(t, p.Event(sse.Event{Type: p.(interface{ textType() []byte }).textType(), Data: []byte(document)}, &d))
			learned[f.d.Name()] = len(p.remembered().head) > 0
			p.remembered().forget()
			return walker.ReplaceAllString(fmt.Sprintf("%+v", reflect.ValueOf(p).Elem()), "")
		}
		p.Reset()
		assert.Equal(t, state(f.text), state(f.text), f.d.Name())
	}
	assert.DeepEqual(t, learned, map[string]bool{"openai-chat": true, "openai-completions": true, "anthropic-messages": true, "cohere": true})
}

// replaced returns chunk with its text "a" replaced by text.
func replaced(chunk, text string) string {
	return string(bytes.Replace([]byte(chunk), []byte(`"a"`), []byte(`"`+text+`"`), 1))
}

// FuzzMemo checks that the memo never changes a result, whatever the first document
// is and whatever replaces its text in the next document.
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
		want := eventByEvent(withoutMemo{d.NewParser().(*openAIParser)}, first, next, first, next)
		if diff := cmp.Diff(want, eventByEvent(p, first, next, first, next)); diff != "" {
			t.Errorf("%q and %q: mismatch (-without memo +with):\n%s", first, next, diff)
		}
	})
}
