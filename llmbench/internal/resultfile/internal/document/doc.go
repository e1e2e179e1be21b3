// Package document reads JSON, YAML and CSV text in bounded memory. JSON may contain what Python writes:
// NaN, Infinity, and several values one after another.
package document

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The limits on what is kept of a document. If an array is longer, its further elements are counted but not
// kept: a result file may contain values for each request, but readers want only the summary.
const (
	maxItems  = 1000    // elements kept of an array that is not inside another array
	maxNested = 64      // elements kept of an array inside another array
	maxNodes  = 500_000 // maximum number of values in a document
	maxDepth  = 40      // values at a greater depth are not kept
	maxText   = 1 << 10 // bytes kept of a string
	maxString = 8 << 20 // maximum bytes of a string in the text
	maxTable  = 8 << 20 // maximum bytes of a YAML or CSV text
)

// A kind is the type of a Node.
type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	object
	array
)

// A Node is a value in a document. A nil Node stands for a value that the document does not have; its
// methods may be called.
type Node struct {
	kind   kind
	truth  bool
	number float64
	text   string // the first kilobyte of a string
	names  []string
	fields map[string]*Node
	items  []*Node
	length int // number of elements of an array, including those that were not kept
	filled int // number of elements that are neither null, false nor an empty string
}

// none is what a nil Node stands for.
var none Node

// orNone returns n, or none if n is nil.
func (n *Node) orNone() *Node {
	if n == nil {
		return &none
	}
	return n
}

// Object reports whether n is an object.
func (n *Node) Object() bool { return n.orNone().kind == object }

// Items returns the elements of an array that were kept: the first 1000, or the first 64 if the array is
// inside another array.
func (n *Node) Items() []*Node { return n.orNone().items }

// Len returns the number of elements of an array, including those that were not kept.
func (n *Node) Len() int { return n.orNone().length }

// Filled returns the number of elements of an array that are neither null, false nor an empty string.
func (n *Node) Filled() int { return n.orNone().filled }

// Names returns the names of an object's fields, in the order of the document.
func (n *Node) Names() []string { return n.orNone().names }

// Get returns the value at a path such as "metrics.latency.p99.9", or nil. If names contain dots, the
// longest name that the object has is used.
func (n *Node) Get(path string) *Node {
	n = n.orNone()
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		next := n.fields[path[:end]]
		if next == nil {
			continue
		}
		if end == len(path) {
			return next
		}
		if found := next.Get(path[end+1:]); found != nil {
			return found
		}
	}
	return nil
}

// Has reports whether n has a value other than null at each path.
func (n *Node) Has(paths ...string) bool {
	for _, p := range paths {
		if v := n.Get(p); v == nil || v.kind == null {
			return false
		}
	}
	return true
}

// Number returns the value of a number, or of a string that contains a number, as in CSV files. The result
// may be infinite or NaN. For any other value, Number returns false.
func (n *Node) Number() (float64, bool) {
	switch n = n.orNone(); n.kind {
	case number:
		return n.number, true
	case text:
		return ParseNumber(n.text)
	}
	return 0, false
}

// ParseNumber parses a number, which may be infinite or NaN.
func ParseNumber(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

// True reports whether n is true.
func (n *Node) True() bool { return n.orNone().kind == boolean && n.truth }

// False reports whether n is false.
func (n *Node) False() bool { return n.orNone().kind == boolean && !n.truth }

// Text returns a scalar as text: "" for null, and the first kilobyte of a long string.
func (n *Node) Text() string {
	switch n = n.orNone(); n.kind {
	case boolean:
		return strconv.FormatBool(n.truth)
	case number:
		return strconv.FormatFloat(n.number, 'g', -1, 64)
	case text:
		return n.text
	}
	return ""
}

// add adds an element to an array. At most keep elements are kept.
func (n *Node) add(item *Node, keep int) {
	n.length++
	empty := item.kind == null || item.kind == text && item.text == "" || item.False()
	if !empty {
		n.filled++
	}
	if len(n.items) < keep {
		n.items = append(n.items, item)
	}
}

// set sets a field of an object. It returns an error if the object already has the field.
func (n *Node) set(name string, v *Node) error {
	if n.fields[name] != nil {
		return fmt.Errorf("the key %.100q stands twice in an object", name)
	}
	if n.fields == nil {
		n.fields = map[string]*Node{}
	}
	n.fields[name] = v
	n.names = append(n.names, name)
	return nil
}

// keepIn returns how many elements of an array are kept, if the array is inside the given number of other
// arrays.
func keepIn(arrays int) int {
	if arrays == 0 {
		return maxItems
	}
	return maxNested
}

// cut returns at most maxText bytes of a string, as a copy.
func cut(s string) string {
	return strings.ToValidUTF8(strings.Clone(s[:min(len(s), maxText)]), "")
}

// NewObject returns an object without fields.
func NewObject() *Node { return &Node{kind: object} }

// Set sets a field of an object, unless the object already has the field.
func (n *Node) Set(name string, v *Node) {
	if n.fields[name] == nil {
		n.set(name, v)
	}
}

// NewText returns a string, of which only the first kilobyte is kept.
func NewText(s string) *Node { return &Node{kind: text, text: cut(s)} }
