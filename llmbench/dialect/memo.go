package dialect

import "bytes"

// A memo remembers the last document that had only text: the bytes before the text and the bytes after it.
// Most servers send hundreds of documents that differ only in their text. If the next document has the same
// bytes around a string without quotes, escapes and control characters, then that string is its text, and
// all other members are the same. The memo's result is therefore either exact, or there is none.
type memo struct {
	head, tail []byte // head is empty if the memo is empty
}

func (m *memo) forget() { m.head = m.head[:0] }

// learn remembers document, whose text is document[from:to].
func (m *memo) learn(document []byte, from, to int) {
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
