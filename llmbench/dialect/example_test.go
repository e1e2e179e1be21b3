package dialect_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// Shout is the API of an imaginary server. Each event of a stream is a JSON document with a word, and the
// last event has the reason why the text ended.
type Shout struct{}

func (Shout) Name() string { return "shout" }

func (Shout) Path(dialect.Query) string { return "/v0/shout" }

func (Shout) Body(q dialect.Query) ([]byte, error) {
	if len(q.Messages) > 0 {
		return nil, fmt.Errorf("shout: a conversation: %w", errors.ErrUnsupported)
	}
	return json.Marshal(map[string]any{"prompt": q.Prompt, "limit": q.MaxTokens, "stream": q.Stream})
}

func (Shout) NewParser() dialect.Parser { return new(shoutParser) }

type shoutParser struct{ finished bool }

func (p *shoutParser) Reset() { p.finished = false }

func (p *shoutParser) Event(e sse.Event, d *dialect.Delta) error { return p.Body(e.Data, d) }

func (p *shoutParser) Body(body []byte, d *dialect.Delta) error {
	*d = dialect.Delta{}
	var document struct{ Word, Ended, Error string }
	if err := json.Unmarshal(body, &document); err != nil {
		return fmt.Errorf("shout: %w", err)
	}
	if document.Word != "" {
		d.Text, d.Chunks, d.Tokens = []byte(document.Word), 1, 1 // the server sends one token per event
	}
	d.Finish, d.Fault, d.Done = document.Ended, document.Error, document.Ended != ""
	p.finished = p.finished || d.Done
	return nil
}

func (p *shoutParser) End() error {
	if !p.finished {
		return fmt.Errorf("shout: %w: no document with ended", dialect.ErrTruncated)
	}
	return nil
}

// A program can measure a server whose API is not part of this package: it
// implements Dialect and Parser.
func ExampleDialect() {
	var d dialect.Dialect = Shout{}
	body, err := d.Body(dialect.Query{Prompt: "hi", MaxTokens: 5, Stream: true})
	if err != nil {
		panic(err)
	}
	fmt.Printf("POST %s %s\n", d.Path(dialect.Query{}), body)

	stream := sse.NewDecoder(strings.NewReader(`data: {"word":"HELLO "}

data: {"word":"WORLD"}

data: {"ended":"done"}

`))
	p := d.NewParser()
	p.Reset()
	var delta dialect.Delta
	for {
		event, err := stream.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(err)
		}
		if err := p.Event(event, &delta); err != nil {
			panic(err)
		}
		fmt.Printf("text %q, finish %q\n", delta.Text, delta.Finish)
	}
	fmt.Println("End:", p.End())
	// Output:
	// POST /v0/shout {"limit":5,"prompt":"hi","stream":true}
	// text "HELLO ", finish ""
	// text "WORLD", finish ""
	// text "", finish "done"
	// End: <nil>
}

// ByName finds the dialects of this package.
func ExampleByName() {
	d, err := dialect.ByName("openai-chat")
	if err != nil {
		panic(err)
	}
	p := d.NewParser()
	var delta dialect.Delta
	event := sse.Event{Type: []byte("message"), Data: []byte(`{"choices":[{"delta":{"content":"Hi"},"finish_reason":null}]}`)}
	if err := p.Event(event, &delta); err != nil {
		panic(err)
	}
	fmt.Printf("%s %q\n", d.Path(dialect.Query{}), delta.Text)
	// Output: /v1/chat/completions "Hi"
}
