package dialect

import "bytes"

// A memo knows the last document that was nothing but text: what stands before
// that text and what stands after it. Most servers send hundreds of documents
// that differ in it alone, and a string without quotes, escapes and control
// characters in its place leaves the rest of a document what it was. So the
// memo's answer is exact, or there is none.
type memo struct {
	head, tail []byte // head is empty when nothing is known
}

func (m *memo) forget() { m.head = m.head[:0] }

// learn takes the document whose text is document[from:to].
func (m *memo) learn(document []byte, from, to int) {
	m.head = append(m.head[:0], document[:from]...)
	m.tail = append(m.tail[:0], document[to:]...)
}

// text returns the text of document, if it differs in that alone from the one
// learnt.
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
