// Package document reads JSON, YAML and CSV text in bounded memory. JSON may hold what Python writes:
// NaN, Infinity, and several values one after another.
package document

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The limits of what is kept of a document. Longer arrays are counted, and their further elements are
// not kept, because a result file has the figures of each request beside the summary that readers want.
const (
	maxItems  = 1000    // elements kept of an array that is in no array
	maxNested = 64      // elements kept of an array in an array
	maxNodes  = 500_000 // values of a document
	maxDepth  = 40      // deeper values are not kept
	maxText   = 1 << 10 // bytes kept of a string
	maxString = 8 << 20 // bytes of a string in the text
	maxTable  = 8 << 20 // bytes of a YAML or CSV text
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

// A Node is a value of a document. The methods may be called for a nil Node, which a document lacks.
type Node struct {
	kind   kind
	truth  bool
	number float64
	text   string // of a string, the first kilobyte; of a number, as written
	names  []string
	fields map[string]*Node
	items  []*Node
	length int // number of elements of an array, also of elements that were not kept
	filled int // number of elements that are neither null, nor false, nor an empty string
}

// Object reports whether n is an object.
func (n *Node) Object() bool { return n != nil && n.kind == object }

// Items returns the elements of an array that were kept: the first 1000, or of an array in an array the first 64.
func (n *Node) Items() []*Node {
	if n == nil {
		return nil
	}
	return n.items
}

// Len returns the number of elements of an array, also of elements that were not kept.
func (n *Node) Len() int {
	if n == nil {
		return 0
	}
	return n.length
}

// Filled returns the number of elements of an array that are neither null, nor false, nor an empty string.
func (n *Node) Filled() int {
	if n == nil {
		return 0
	}
	return n.filled
}

// Names returns the names of an object's fields in the order of the document.
func (n *Node) Names() []string {
	if n == nil {
		return nil
	}
	return n.names
}

// Get returns the value at a path such as "metrics.latency.p99.9", or nil. A name may have dots of
// its own: the longest name that the object has counts.
func (n *Node) Get(path string) *Node {
	if n == nil {
		return nil
	}
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

// Has reports whether n has a value at each path that is not null.
func (n *Node) Has(paths ...string) bool {
	for _, p := range paths {
		if v := n.Get(p); v == nil || v.kind == null {
			return false
		}
	}
	return true
}

// Number returns the value of a number, or of a string that holds one, as CSV files and the string
// "inf" have. The result may be infinite or NaN. It returns false for any other value.
func (n *Node) Number() (float64, bool) {
	if n == nil {
		return 0, false
	}
	switch n.kind {
	case number:
		return n.number, true
	case text:
		return ParseNumber(n.text)
	}
	return 0, false
}

// ParseNumber returns the number that a text holds, which may be infinite or NaN.
func ParseNumber(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

// True reports whether n is true.
func (n *Node) True() bool { return n != nil && n.kind == boolean && n.truth }

// False reports whether n is false.
func (n *Node) False() bool { return n != nil && n.kind == boolean && !n.truth }

// Text returns a scalar as text, "" for null, and of a long string its first kilobyte.
func (n *Node) Text() string {
	if n == nil {
		return ""
	}
	switch n.kind {
	case boolean:
		return strconv.FormatBool(n.truth)
	case number:
		return strconv.FormatFloat(n.number, 'g', -1, 64)
	case text:
		return n.text
	}
	return ""
}

// add adds an element to an array, of which at most keep are kept.
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

// set sets a field of an object. It returns an error if the object has the field.
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

// keepIn returns how many elements are kept of an array that is in so many arrays.
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

// Set sets a field of an object to a value, unless the object has the field.
func (n *Node) Set(name string, v *Node) {
	if n.fields[name] == nil {
		n.set(name, v)
	}
}

// NewText returns a string, of which the first kilobyte is kept.
func NewText(s string) *Node { return &Node{kind: text, text: cut(s)} }
