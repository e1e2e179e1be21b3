package tokenizer

import (
	"fmt"
	"strings"

	"github.com/dlclark/regexp2/v2"
	"github.com/dlclark/regexp2/v2/syntax"
)

// A pattern is the regular expression of a Split step. A search cannot fail, because newPattern
// rejects every pattern whose search could fail.
//
// regexp2 searches by backtracking. A pattern such as (a*a*)*b takes exponential time on a few
// dozen letters, because it repeats a group that can match the same characters in more than one
// way. newPattern rejects such patterns. For all other patterns the time is at worst polynomial
// in the length of the text; the degree depends on the pattern. The time is linear for the
// patterns of GPT-2, Llama 3, Qwen 2, DeepSeek V3 and GPT-OSS, because they repeat only single
// characters.
type pattern struct{ re *regexp2.Regexp }

// newPattern compiles a pattern in Oniguruma's syntax, which tokenizer.json files use. It
// supports the part of this syntax that regexp2 supports.
func newPattern(text string) (pattern, error) {
	if nestsClasses(text) {
		return pattern{}, fmt.Errorf("pattern %q has a class in a class or an intersection (&&), neither is supported", text)
	}
	tree, err := syntax.Parse(text, syntax.ParseOptions{})
	if err != nil {
		return pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	if exponential(tree.Root, true) {
		return pattern{}, fmt.Errorf("pattern %q repeats a group that can match in more than one way, which could take exponential time", text)
	}
	// Set no limit of time or memory: exceeding a limit would be an error in the middle of a
	// text.
	re, err := regexp2.Compile(text, regexp2.OptionMaxBacktrackingStackSize(-1))
	if err != nil {
		return pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	return pattern{re}, nil
}

// find returns the matches in text from left to right. Each match is a pair of byte offsets:
// its beginning and its end.
func (p pattern) find(text string) [][]int {
	found, err := p.re.FindAllStringIndex(text, -1)
	if err != nil { // a bug of regexp2: without limits, a search returns no errors
		panic(fmt.Sprintf("tokenizer: pattern %q: %v", p.re, err))
	}
	return found
}

// nestsClasses reports whether pattern has a character class that contains another class or an
// intersection, such as [a[bc]] or [a&&b]. regexp2 would read the inner [ and && as literal
// characters.
func nestsClasses(pattern string) bool {
	class := false // whether i is inside a class
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case !class && c == '[':
			class = true
			if strings.HasPrefix(pattern[i+1:], "^") {
				i++
			}
			if strings.HasPrefix(pattern[i+1:], "]") { // a ] that comes first is a literal
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

// exponential reports whether n repeats a group that can match in more than one way, so that a
// search could take exponential time. last says that the pattern ends with n. A repeated group
// at the end is harmless: when the group does not match once more, the whole pattern has
// matched, and the search does not try other ways.
func exponential(n *syntax.RegexNode, last bool) bool {
	if isLoop(n) {
		if n.N > 1 && !(last && n.M <= 1) && !oneWay(n.Children[0]) {
			return true
		}
		last = false
	}
	switch n.T {
	case syntax.NtAtomic, syntax.NtPosLook, syntax.NtNegLook:
		last = true // once such a node has matched, the search does not try other ways
	case syntax.NtBackRefCond, syntax.NtExprCond:
		last = false // may contain anything
	}
	for i, c := range n.Children {
		end := n.T != syntax.NtConcatenate || i == len(n.Children)-1
		if exponential(c, last && end) {
			return true
		}
	}
	return false
}

func isLoop(n *syntax.RegexNode) bool { return n.T == syntax.NtLoop || n.T == syntax.NtLazyloop }

// oneWay reports whether n can match at a given offset in only one way, so that backtracking
// has nothing else to try. It returns false for unknown types of nodes.
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
