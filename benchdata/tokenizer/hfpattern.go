package tokenizer

import (
	"fmt"
	"strings"

	"github.com/dlclark/regexp2/v2"
	"github.com/dlclark/regexp2/v2/syntax"
)

// A pattern is the regular expression of a Split. It cannot fail on a text:
// what could is refused when the pattern is read.
//
// regexp2 searches by backtracking, so a pattern such as (a*a*)*b would take
// for ever on a few dozen letters. What makes it so is a group that is
// repeated and that can match the same characters in more than one way, and
// that is what is refused. Without it the time is at worst a power of the
// length of the text, with an exponent that the pattern sets. It is the length
// itself for GPT-2, Llama 3, Qwen 2, DeepSeek V3 and GPT-OSS, whose repeats
// are of single characters, each up to one of the wrong class.
type pattern struct{ re *regexp2.Regexp }

// newPattern reads a pattern in Oniguruma's syntax, which tokenizer.json files
// are written in, as far as regexp2 knows it.
func newPattern(text string) (pattern, error) {
	if nestsClasses(text) {
		return pattern{}, fmt.Errorf("pattern %q has a class in a class or an intersection (&&), which is not supported", text)
	}
	tree, err := syntax.Parse(text, syntax.ParseOptions{})
	if err != nil {
		return pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	if explodes(tree.Root, true) {
		return pattern{}, fmt.Errorf("pattern %q repeats a group that can match in more than one way, which could take for ever", text)
	}
	// No limit of time or of memory: both would be errors in the middle of a text.
	re, err := regexp2.Compile(text, regexp2.OptionMaxBacktrackingStackSize(-1))
	if err != nil {
		return pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	return pattern{re}, nil
}

// find returns where text matches: begin and end in bytes, from left to right.
func (p pattern) find(text string) [][]int {
	found, err := p.re.FindAllStringIndex(text, -1)
	if err != nil { // a bug of regexp2: it has no other error without its limits
		panic(fmt.Sprintf("benchdata: pattern %q: %v", p.re, err))
	}
	return found
}

// nestsClasses reports whether pattern has a class in which another one begins
// or is intersected: [a[bc]], [a&&b]. To regexp2 those are plain characters.
func nestsClasses(pattern string) bool {
	class := false // whether i is in one
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case !class && c == '[':
			class = true
			if strings.HasPrefix(pattern[i+1:], "^") {
				i++
			}
			if strings.HasPrefix(pattern[i+1:], "]") { // the first is a plain one
				i++
			}
		case class && c == ']':
			class = false
		case class && (c == '[' || strings.HasPrefix(pattern[i:], "&&")):
			return true
		}
	}
	return false
}

// explodes reports whether a group in n is repeated that can match in more
// than one way. A group that is repeated last is harmless: as soon as it does
// not match once more all has matched, and no other way is tried.
func explodes(n *syntax.RegexNode, last bool) bool {
	if isLoop(n) {
		if n.N > 1 && !(last && n.M <= 1) && !oneWay(n.Children[0]) {
			return true
		}
		last = false
	}
	switch n.T {
	case syntax.NtAtomic, syntax.NtPosLook, syntax.NtNegLook:
		last = true // once it has matched, no other way is tried
	case syntax.NtBackRefCond, syntax.NtExprCond:
		last = false // not looked into
	}
	for i, c := range n.Children {
		end := n.T != syntax.NtConcatenate || i == len(n.Children)-1
		if explodes(c, last && end) {
			return true
		}
	}
	return false
}

func isLoop(n *syntax.RegexNode) bool { return n.T == syntax.NtLoop || n.T == syntax.NtLazyloop }

// oneWay reports whether n can match what stands at a place in one way only,
// so that there is nothing to try again. It says no where it does not know.
func oneWay(n *syntax.RegexNode) bool {
	switch n.T {
	case syntax.NtOne, syntax.NtNotone, syntax.NtSet, syntax.NtMulti, syntax.NtRef,
		syntax.NtBol, syntax.NtEol, syntax.NtBoundary, syntax.NtNonboundary,
		syntax.NtBeginning, syntax.NtStart, syntax.NtEndZ, syntax.NtEnd,
		syntax.NtNothing, syntax.NtEmpty, syntax.NtUpdateBumpalong,
		syntax.NtPosLook, syntax.NtNegLook, syntax.NtAtomic,
		syntax.NtOneloopatomic, syntax.NtNotoneloopatomic, syntax.NtSetloopatomic:
		return true
	case syntax.NtOneloop, syntax.NtNotoneloop, syntax.NtSetloop,
		syntax.NtOnelazy, syntax.NtNotonelazy, syntax.NtSetlazy:
		return n.M == n.N
	case syntax.NtLoop, syntax.NtLazyloop, syntax.NtConcatenate, syntax.NtCapture, syntax.NtGroup:
		if isLoop(n) && n.M != n.N {
			return false
		}
		for _, c := range n.Children {
			if !oneWay(c) {
				return false
			}
		}
		return true
	}
	return false
}
