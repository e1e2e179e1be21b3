package ssetest

// A program builds a body from instructions. When the fuzzing engine changes a byte of
// a program, a whole line, line end or character of the body changes. Every sequence
// of bytes is a valid program.
type program struct {
	code []byte
	out  []byte
	end  int // index of the current line end; len(lineEnds) means mixed
	max  int // maximum length of the body in bytes
}

// values are field values. A program can also use its own bytes as a value.
var values = []string{
	"", " ", "a", " a ", "[DONE]", `{"a":"b\n"}`, `{"choices":[{"delta":{"content":"é"}}]}`,
	"1", "0250", "+1", "99999999999999999999", "x\x00y", "\x00", "message", "a:b", ": ", "data: a", "\ufeff",
	"é日😀", "\u2028", "\u0085", "\t", "\v\f", "\xff", "\xc0\x8a", "\xed\xa0\x80", "\xf0\x9f\x98", "\xe2\x82",
}

// names are names of known and unknown fields, and names that are similar to known ones.
var names = []string{
	"data", "data", "data", "event", "id", "retry", "", "foo", "Data", "data ", " data", "dat", "datax",
	"data\x00", "\ufeffdata", "error", "日", "\xff",
}

var lineEnds = []string{"\n", "\r\n", "\r"}

// bodyOf runs a program and returns the resulting body, of at most max bytes.
func bodyOf(code []byte, max int) []byte {
	p := program{code: code, max: max}
	for len(p.code) > 0 && len(p.out) < p.max {
		p.step()
	}
	return p.out[:min(len(p.out), p.max)]
}

// next consumes one byte of the program. At the end it returns 0.
func (p *program) next() int {
	if len(p.code) == 0 {
		return 0
	}
	c := p.code[0]
	p.code = p.code[1:]
	return int(c)
}

// take consumes up to n bytes of the program.
func (p *program) take(n int) []byte {
	n = min(n, len(p.code))
	b := p.code[:n]
	p.code = p.code[n:]
	return b
}

func (p *program) text(s string) { p.out = append(p.out, s...) }

// lineEnd writes the current line end. In mixed mode, the line end depends on the current length of the
// body.
func (p *program) lineEnd() {
	i := p.end
	if i == len(lineEnds) {
		i = len(p.out) % len(lineEnds)
	}
	p.text(lineEnds[i])
}

// value writes an element of values, or some bytes of the program.
func (p *program) value() {
	if i := p.next(); i < 2*len(values) {
		p.text(values[i%len(values)])
	} else {
		p.out = append(p.out, p.take(i%16)...)
	}
}

// field writes a line with a field.
func (p *program) field(name string) {
	p.text(name)
	switch p.next() % 8 {
	case 0:
	case 1:
		p.text(":")
	case 2:
		p.text(":")
		p.value()
	case 3:
		p.text(":  ")
		p.value()
	default:
		p.text(": ")
		p.value()
	}
	p.lineEnd()
}

// step runs one instruction.
func (p *program) step() {
	switch p.next() % 24 {
	case 0, 1, 2, 3:
		p.field("data")
	case 4:
		p.field("event")
	case 5:
		p.field("id")
	case 6:
		p.field("retry")
	case 7:
		p.field(names[p.next()%len(names)])
	case 8, 9, 10: // dispatch
		p.lineEnd()
	case 11, 12: // a whole event in the usual form
		p.text("data: ")
		p.value()
		p.lineEnd()
		p.lineEnd()
	case 13: // a comment
		p.text(":")
		p.value()
		p.lineEnd()
	case 14: // change the current line end
		p.end = p.next() % (len(lineEnds) + 1)
	case 15: // a line end of any kind
		p.text(lineEnds[p.next()%len(lineEnds)])
	case 16: // any bytes
		p.out = append(p.out, p.take(p.next()%32)...)
	case 17:
		p.text("\ufeff")
	case 18: // a run of 16 B to 64 KiB, near a power of two
		n := 16 << (p.next() % 13)
		n += p.next()%5 - 2
		c := byte(p.next())
		n = min(n, p.max-len(p.out))
		for range n {
			p.out = append(p.out, c)
		}
	case 19: // truncate the body so far
		p.out = p.out[:max(0, len(p.out)-1-p.next()%8)]
	case 20: // repeat the last bytes
		last := p.out[max(0, len(p.out)-1-p.next()):]
		for range min(p.next()%64, (p.max-len(p.out))/max(1, len(last))) {
			p.out = append(p.out, last...)
		}
	case 21: // a value without a field
		p.value()
	case 22: // an event with many lines
		n := p.next()
		for range n {
			p.text("data:")
			p.lineEnd()
		}
		p.lineEnd()
	case 23: // part of a character, sometimes followed by the rest
		s := "\U0001F600"
		cut := p.next() % len(s)
		p.text(s[:cut])
		if cut%2 == 0 {
			p.text(s[cut:])
		}
	}
}
