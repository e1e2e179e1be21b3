package benchline

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// UTF8 returns a reader of the text in r, as UTF-8 without a byte order mark. The text may be UTF-16, as PowerShell
// writes it, with or without a byte order mark, if its first two characters are ASCII. Other text is left as it is.
func UTF8(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	start, _ := in.Peek(4)
	t := unicode.BOMOverride(transform.Nop)
	if len(start) == 4 {
		zero := [4]bool{start[0] == 0, start[1] == 0, start[2] == 0, start[3] == 0}
		switch zero {
		case [4]bool{false, true, false, true}:
			t = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()
		case [4]bool{true, false, true, false}:
			t = unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder()
		}
	}
	return transform.NewReader(in, t)
}

// mark is the byte order mark in UTF-8. Files that were joined have it in the middle too.
var mark = []byte("\uFEFF")

// Text reads a file in Go benchmark format to its end, as [UTF8] does. It omits each byte order mark. The result may be
// memory of r, if r is a [bytes.Buffer].
func Text(r io.Reader) (text []byte, err error) {
	if b, ok := r.(*bytes.Buffer); ok && utf8.Valid(b.Bytes()) && bytes.IndexByte(b.Bytes(), 0) < 0 { // UTF-16 has zero bytes
		text = b.Next(b.Len())
	} else if text, err = io.ReadAll(UTF8(r)); err != nil {
		return text, err
	}
	if bytes.Contains(text, mark) {
		text = bytes.ReplaceAll(text, mark, nil)
	}
	return text, nil
}
