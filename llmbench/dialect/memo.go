package dialect

import (
	"bytes"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// A memo remembers the last document that had only text: the bytes before the text and the bytes after it.
// Most servers send hundreds of documents that differ only in their text. If the next document has the same
// bytes around a string without quotes, escapes and control characters, then that string is its text, and
// all other members are the same. The memo's result is therefore either exact, or there is none.
type memo struct {
	head, tail []byte // head is empty if the memo is empty
}

func (m *memo) forget() { m.head = m.head[:0] }

// maxMemo is the maximum length in bytes of a document that a memo remembers. Each parser has a memo.
const maxMemo = 64 << 10

// learn remembers document, whose text is document[from:to], unless the document is large.
func (m *memo) learn(document []byte, from, to int) {
	if len(document) > maxMemo {
		return
	}
	m.head = append(m.head[:0], document[:from]...)
	m.tail = append(m.tail[:0], document[to:]...)
}

// text returns the text of a document if the document differs from the remembered one only in its text.
func (m *memo) text(document []byte) (text []byte, ok bool) {
	from, to := len(m.head), len(document)-len(m.tail)
	if from == 0 || to <= from || !bytes.HasSuffix(document, m.tail) || !bytes.HasPrefix(document, m.head) {
		return nil, false
	}
	text = document[from:to]
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			return nil, false
		}
	}
	return text, true
}

// A memoParser is a baseParser with a memo. A document that the memo knows must not change the state of the
// dialect's parser: it is then still in the state after the document that the memo learned. TestMemoState checks all
// fields of the parser.
type memoParser struct {
	baseParser
	memo      memo
	textEvent []byte // the type of the events that have text
	choices   int    // Delta.Choices of a document with text
}

func (p *memoParser) Reset() {
	p.baseParser.Reset()
	p.memo.forget()
}

// Known looks the event up in the memo. Text after the finish reason changes the state of the parser.
func (p *memoParser) Known(e sse.Event, d *Delta) bool {
	if p.finished {
		return false
	}
	text, ok := p.memo.text(e.Data)
	if !ok || !bytes.Equal(e.Type, p.textEvent) {
		return false
	}
	d.reset()
	d.Text = append(d.Text, text...)
	d.Chunks, d.Choices = 1, p.choices
	return true
}

// Event asks the memo first.
func (p *memoParser) Event(e sse.Event, d *Delta) error {
	if p.Known(e, d) {
		return nil
	}
	err := p.baseParser.Event(e, d)
	if from, to := p.onlyText.from, p.onlyText.to; to > 0 && d.onlyText() && err == nil && bytes.Equal(e.Type, p.textEvent) {
		if n := len(e.Data); e.Data[n-1] == '}' && bytes.Equal(d.Text, e.Data[from:to]) {
			p.memo.learn(e.Data, from, to)
		}
	}
	return err
}
