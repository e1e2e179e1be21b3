package tokenizer

import (
	"fmt"
	"strings"

	"github.com/dlclark/regexp2/v2"
	"github.com/dlclark/regexp2/v2/syntax"
)

// A pattern is the regular expression of a Split step. Searching a text cannot
// fail: newPattern rejects every pattern whose search could.
//
// regexp2 searches by backtracking. A pattern such as (a*a*)*b takes exponential
// time on a few dozen letters, because it repeats a group that can match the same
// characters in more than one way. newPattern rejects such patterns. For all
// others the time is at worst a power of the length of the text, with an exponent
// that depends on the pattern. The time is linear for the patterns of GPT-2,
// Llama 3, Qwen 2, DeepSeek V3 and GPT-OSS: they repeat single characters only.
type pattern struct{ re *regexp2.Regexp }

// newPattern compiles a pattern in Oniguruma's syntax, the syntax of
// tokenizer.json files, as far as regexp2 supports it.
func newPattern(text string) (pattern, error) {
	if nestsClasses(text) {
		return pattern{}, fmt.Errorf("pattern %q has a class in a class or an intersection (&&), which is not supported", text)
	}
	tree, err := syntax.Parse(text, syntax.ParseOptions{})
	if err != nil {
		return pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	if exponential(tree.Root, true) {
		return pattern{}, fmt.Errorf("pattern %q repeats a group that can match in more than one way, which could take exponential time", text)
	}
	// Exceeding a limit of time or memory would be an error in the middle of a text.
	re, err := regexp2.Compile(text, regexp2.OptionMaxBacktrackingStackSize(-1))
	if err != nil {
		return pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	return pattern{re}, nil
}

// find returns the matches in text from left to right, each as the offsets in
// bytes of its begin and end.
func (p pattern) find(text string) [][]int {
	found, err := p.re.FindAllStringIndex(text, -1)
	if err != nil { // only a bug of regexp2: without limits a search has no errors
		panic(fmt.Sprintf("tokenizer: pattern %q: %v", p.re, err))
	}
	return found
}

// nestsClasses reports whether pattern has a character class that contains another
// class or an intersection: [a[bc]], [a&&b]. regexp2 would read the inner [ and &&
// as literal characters.
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

// exponential reports whether n repeats a group that can match in more than one
// way, so that a search could take exponential time. last says that nothing comes
// after n. A repeated group that comes last is harmless: when the group does not
// match once more, the whole pattern has matched and no other way is tried.
func exponential(n *syntax.RegexNode, last bool) bool {
	if isLoop(n) {
		if n.N > 1 && !(last && n.M <= 1) && !oneWay(n.Children[0]) {
			return true
		}
		last = false
	}
	switch n.T {
	case syntax.NtAtomic, syntax.NtPosLook, syntax.NtNegLook:
		last = true // once these have matched, no other way is tried
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

// oneWay reports whether n can match at a given offset in one way only, so that
// backtracking has nothing else to try. It returns false for unknown nodes.
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
