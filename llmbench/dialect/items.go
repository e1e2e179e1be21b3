package dialect

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// An ItemsDialect is a [Dialect] whose queries have inputs, and whose answers have an item for each input.
// Its parsers are ItemsParsers.
type ItemsDialect interface {
	Dialect
	// Ranks reports whether the items are scores. A query then also has a prompt, for which the inputs are
	// ranked. Otherwise the items are vectors, and a query has no prompt.
	Ranks() bool
}

// An ItemsParser is the [Parser] of a dialect whose answers have an item for each input of the query: a
// vector or a score. Such answers are not streamed. The caller calls Expect after Reset.
type ItemsParser interface {
	Parser
	// Expect sets the number of inputs that the query of the next answer has. Body returns an error if an
	// answer has an item too many, too few or twice.
	Expect(inputs int)
}

// An itemsForm says what the answers of a dialect look like, and what they must be like.
type itemsForm struct {
	list       string // the member that holds the items
	bare       bool   // the answer is the list itself
	vector     string // the member of an item that is a vector; "" if the item itself is the vector
	score      string // the member of an item that is a score; "" if items are vectors
	base64     bool   // vectors are base64
	dimensions int    // the length that vectors must have; 0 means any length
	top        int    // the maximum number of items; 0 means no maximum
	sorted     bool   // the first item must have the highest score
}

// An item is an item of an answer.
type item struct {
	index    int // -1 if the item has none
	from, to int // the vector in floats
	score    float64
	valued   bool // the item has a vector or a score
}

// itemsParser is the [ItemsParser] of all dialects.
type itemsParser struct {
	baseParser
	form   itemsForm
	inputs int // number of inputs of the query

	listed  bool // the list has come
	items   []item
	floats  []float32 // all vectors, one after the other
	bytes   []byte    // a vector that is being decoded
	wrapped []byte    // an answer that is the list itself, as a member of an object
	err     error     // what is wrong with the answer
}

func newItemsParser(dialect string, form itemsForm) *itemsParser {
	p := &itemsParser{form: form}
	p.init(dialect, "", nil, steps{func() {}, p.member, func() {}})
	if form.bare {
		p.form.list = "items"
	}
	return p
}

// Expect sets the number of inputs of the query.
func (p *itemsParser) Expect(inputs int) { p.inputs = inputs }

// errNoStream is the error of an event of an answer that should not be a stream.
var errNoStream = errors.New("a stream: want one JSON document")

// Event returns an error, because the answers are not streamed.
func (p *itemsParser) Event(_ sse.Event, d *Delta) error {
	d.reset()
	return fmt.Errorf("%s: %w", p.dialect, errNoStream)
}

// End returns an error, because the answers are not streamed.
func (p *itemsParser) End() error { return fmt.Errorf("%s: %w", p.dialect, errNoStream) }

// Body parses an answer into d. The vectors in d are valid until the next call.
func (p *itemsParser) Body(body []byte, d *Delta) error {
	p.listed, p.items, p.floats, p.err = false, p.items[:0], p.floats[:0], nil
	if p.form.bare && bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) { // otherwise the body is an error
		p.wrapped = append(append(append(p.wrapped[:0], `{"items":`...), body...), '}')
		body = p.wrapped
	}
	if err := p.baseParser.Body(body, d); err != nil || d.Fault != "" {
		return err
	}
	if p.err == nil {
		p.err = p.check()
	}
	if p.err != nil {
		return fmt.Errorf("%s: %w", p.dialect, p.err)
	}
	if p.form.score != "" {
		for _, it := range p.items {
			d.Scores = append(d.Scores, Score{it.index, it.score})
		}
		return nil
	}
	d.Vectors = make([][]float32, len(p.items))
	for _, it := range p.items {
		d.Vectors[it.index] = p.floats[it.from:it.to:it.to]
	}
	return nil
}

// fail records what is wrong with the answer. Only the first error counts.
func (p *itemsParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *itemsParser) member(name []byte) {
	u, t := &p.d.Usage, &p.d.Timings
	switch string(name) {
	case p.form.list:
		if p.listed {
			p.fail("two lists of items")
		}
		if p.listed = p.w.Kind() == '['; !p.listed {
			p.otherMember(name)
			return
		}
		p.w.Array(p.item)
	case "usage":
		p.object(p.usageMember)
	case "meta": // Cohere
		p.object(p.metaMember)
	case "prompt_eval_count": // Ollama
		u.PromptTokens = p.w.Count()
		t.PromptTokens = u.PromptTokens
	case "load_duration":
		t.Load = p.w.Duration(time.Nanosecond)
	case "total_duration":
		t.Total = p.w.Duration(time.Nanosecond)
	default:
		p.otherMember(name)
	}
}

// usageMember reads a member of the usage object, or of the tokens in Cohere's meta object. Some servers
// report only the total of the tokens, which are the prompt's, because there is no output.
func (p *itemsParser) usageMember(name []byte) {
	u := &p.d.Usage
	switch string(name) {
	case "prompt_tokens", "input_tokens":
		if n := p.w.Count(); n > 0 {
			u.PromptTokens = n
		}
	case "total_tokens":
		if n := p.w.Count(); u.PromptTokens == 0 {
			u.PromptTokens = n
		}
	case "prompt_tokens_details":
		p.object(p.cachedTokensMember)
	}
}

func (p *itemsParser) metaMember(name []byte) {
	if string(name) == "tokens" {
		p.object(p.usageMember)
	}
}

// item reads an item of the list.
func (p *itemsParser) item() {
	p.items = append(p.items, item{index: -1, from: len(p.floats)})
	if p.form.vector == "" && p.form.score == "" {
		p.last().index = len(p.items) - 1
		p.vector()
		return
	}
	if p.w.Kind() != '{' {
		p.fail("item %d is %.40q: want an object", len(p.items)-1, p.w.Raw())
		return
	}
	p.w.Object(p.itemMember)
}

// last returns the current item.
func (p *itemsParser) last() *item { return &p.items[len(p.items)-1] }

func (p *itemsParser) itemMember(name []byte) {
	it := p.last()
	switch {
	case string(name) == "index":
		raw := p.w.Raw()
		n, err := strconv.Atoi(string(raw))
		if err != nil || n < 0 {
			p.fail("item %d has the index %.40q: want a whole number, at least 0", len(p.items)-1, raw)
			return
		}
		it.index = n
	case p.form.score == "" && string(name) == p.form.vector:
		p.vector()
	case p.form.score != "" && string(name) == p.form.score:
		it.score = p.number(p.w.Raw(), p.form.score, 64)
		it.valued = true
	}
}

// number returns a number of the given size in bits. The argument what says what the number is.
func (p *itemsParser) number(raw []byte, what string, bits int) float64 {
	v, err := strconv.ParseFloat(string(raw), bits)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		p.fail("item %d has the %s %.40q: want a finite number", len(p.items)-1, what, raw)
	}
	return v
}

// vector reads the next value as the vector of the current item.
func (p *itemsParser) vector() {
	it := p.last()
	it.valued = true
	it.from = len(p.floats)
	switch kind := p.w.Kind(); {
	case p.form.base64 && kind == '"':
		p.base64Vector()
	case !p.form.base64 && kind == '[':
		p.numbers(p.w.Raw())
	default:
		want := "an array of numbers"
		if p.form.base64 {
			want = "base64"
		}
		p.fail("item %d has the vector %.40q: want %s", len(p.items)-1, p.w.Raw(), want)
	}
	it.to = len(p.floats)
}

// numbers adds the elements of an array to the current vector. The array is valid JSON, or nil after an error.
// If it has other elements than numbers, a part between two commas may be no value, and is an error, too.
func (p *itemsParser) numbers(array []byte) {
	if len(array) < 2 || len(bytes.TrimSpace(array[1:len(array)-1])) == 0 {
		return
	}
	for part := range bytes.SplitSeq(array[1:len(array)-1], []byte(",")) {
		p.floats = append(p.floats, float32(p.number(bytes.TrimSpace(part), "element", 32)))
	}
}

// base64Vector reads the next value, a string, as 32-bit little-endian numbers in base64.
func (p *itemsParser) base64Vector() {
	text := p.w.Text(nil)
	decoded, err := base64.StdEncoding.AppendDecode(p.bytes[:0], text)
	p.bytes = decoded
	if err != nil || len(decoded)%4 != 0 {
		p.fail("item %d: %d bytes of base64 are no vector of 32-bit numbers: %.40q", len(p.items)-1, len(text), text)
		return
	}
	for ; len(decoded) > 0; decoded = decoded[4:] {
		v := math.Float32frombits(binary.LittleEndian.Uint32(decoded))
		if wide := float64(v); math.IsInf(wide, 0) || math.IsNaN(wide) {
			p.fail("item %d has the element %v: want finite numbers of 32 bits", len(p.items)-1, v)
		}
		p.floats = append(p.floats, v)
	}
}

// check returns an error if the items are not what the query asked for.
func (p *itemsParser) check() error {
	what := "vectors"
	if p.form.score != "" {
		what = "scores"
	}
	want := p.inputs
	if p.form.top > 0 {
		want = min(want, p.form.top)
	}
	switch {
	case !p.listed:
		return fmt.Errorf("no list %q", p.form.list)
	case len(p.items) != want:
		return fmt.Errorf("%d %s for %d inputs: want %d", len(p.items), what, p.inputs, want)
	}
	seen := make([]bool, p.inputs)
	for i, it := range p.items {
		switch {
		case !it.valued:
			return fmt.Errorf("item %d has no %s", i, cmp.Or(p.form.score, p.form.vector))
		case it.index < 0:
			return fmt.Errorf("item %d has no index", i)
		case it.index >= p.inputs:
			return fmt.Errorf("item %d has the index %d: want less than %d, the number of inputs", i, it.index, p.inputs)
		case seen[it.index]:
			return fmt.Errorf("item %d has the index %d again: want each index once", i, it.index)
		case p.form.sorted && i > 0 && it.score > p.items[i-1].score:
			return fmt.Errorf("item %d has the score %v, and the item before it %v: want the highest score first", i, it.score, p.items[i-1].score)
		}
		seen[it.index] = true
		if p.form.score == "" {
			if err := p.checkVector(i, it); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkVector returns an error if the vector of item i has another length than it should have, or only
// zeros. A vector of zeros has no direction, so that it is not similar to anything.
func (p *itemsParser) checkVector(i int, it item) error {
	n := it.to - it.from
	first := p.items[0].to - p.items[0].from
	switch {
	case p.form.dimensions > 0 && n != p.form.dimensions:
		return fmt.Errorf("item %d has a vector of %d dimensions: want %d, as asked for", i, n, p.form.dimensions)
	case n != first:
		return fmt.Errorf("item %d has a vector of %d dimensions, and the first item one of %d: want the same number", i, n, first)
	case n == 0:
		return fmt.Errorf("item %d has an empty vector", i)
	case !slices.ContainsFunc(p.floats[it.from:it.to], func(v float32) bool { return v != 0 }):
		return fmt.Errorf("item %d has a vector of %d zeros", i, n)
	}
	return nil
}
