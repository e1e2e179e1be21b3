package check

import (
	"cmp"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Choice returns a check that the text chooses the letter want, from A to D. The last statement of a choice
// decides, such as "Answer: B", "the correct option is (B)", `\boxed{B}`, "B is correct" or a last line
// "**B**". Without such a statement, the letter at the beginning of the text decides, as in "B" or "(B)
// 12". A text chooses no letter if it ends with several letters ("B or C"), or if it takes its only letter
// back ("B is wrong"). Choice panics if want is not A, B, C or D.
//
// The forms "Answer: B" and "the answer is (B)" come from simple-evals
// (https://github.com/openai/simple-evals/blob/main/common.py) and MMLU-Pro
// (https://github.com/TIGER-AI-Lab/MMLU-Pro/blob/main/evaluate_from_local.py). Models use other forms, too.
// For these, the two evaluations count a correct answer as wrong, or find a letter in the wrong place;
// Choice recognises them.
func Choice(want string) Func {
	if len(want) != 1 || want < "A" || want > "D" {
		panic(fmt.Sprintf("check.Choice: %q: want A, B, C or D", want))
	}
	return func(a Answer) error {
		switch found := chosen(a.Text); found {
		case want:
			return nil
		case "":
			return fmt.Errorf("want the choice %s, and the answer chooses none of A to D: %s", want, show(a.Text))
		default:
			return fmt.Errorf("want the choice %s, and the answer chooses %s", want, found)
		}
	}
}

const (
	// letter matches a letter from A to D that is not part of a word. Quotes or brackets may surround it.
	letter = `["'(\[{<]*([A-D])["')\]}>]*(?:[^\pL\pN'’]|$)`
	// ended is like letter, but punctuation or the end of a line must follow.
	ended = `["'(\[]*([A-D])["')\]]*(?:[.,;!?]|\s*(?:\n|$))`
	// noun matches a noun that may precede the letter, as in "the option B".
	noun = `(?:(?:the\s+)?(?:options?|choices?|letter|answers?)\s+)?`
	// is matches the verb or sign between a word for the answer and the letter, as in "the answer is B".
	is = `(?:\s+(?:to|for|here)\b[^.:\n]{0,60}?)?(?:\s+(?:correcte?|correcta|richtige?))?` +
		`\s*(?:(?:is|are|would\s+be|must\s+be|should\s+be|will\s+be|has\s+to\s+be|remains|ist|est|es|是|为|应该?是|应为|=|-|->|→|:)\s*)+`
	// surely matches adverbs that may precede the letter, such as "therefore".
	surely = `(?:(?:therefore|thus|then|clearly|also|obviously|definitely|indeed|simply|just|probably|most\s+likely|likely|either|both)[\s,]+)*`
	// called matches the text between a letter and what the text says about it, as in "B is clearly wrong".
	called = `[\s:.)-]*(?:(?:is|would\s+be|must\s+be)\s+)?` + surely
)

// forms lists the forms of a statement about a letter. The letter is the only group of each expression.
var forms = []struct {
	words string         // the first word of the statement, in lower case, is one of these
	rest  *regexp.Regexp // matches the text after that word
	what  int
}{
	{answers, after(is + surely + noun + `(?-i:` + letter + `)`), chooses},
	{answers, after(is + surely + noun + `\(([A-D])\)`), chooses}, // a lower-case letter, too
	{answers, after(is + `not\s+` + noun + `(?-i:` + letter + `)`), denies},
	{"answer", after(`\s*:\s*[("'\[]*([A-D])["')\].]*\s*(?:\n|$)`), chooses}, // a lower-case letter, too
	{"answer", after(`\s*\n\s*(?-i:` + letter + `)`), chooses},               // a letter under a heading "Answer"
	{"boxed", after(`\s*\{\s*` + letter), chooses},
	{"i i'd i'll", after(`\s+(?:(?:would|will)\s+)?(?:choose|pick|select|say|answer|go\s+with)\s+` + noun + `(?-i:` + letter + `)`), chooses},
	{"so thus therefore hence but rather probably likely leaves leaving choose select", after(`(?:\s+us\s+with)?[,:]?\s+` + noun + `(?-i:` + ended + `)`), chooses},
	{"it that this", after(`(?:'s|\s+is|\s+must\s+be)\s+` + noun + `(?-i:` + ended + `)`), chooses},
	{"it's that's", after(`\s+` + noun + `(?-i:` + ended + `)`), chooses},
	{"could might may can", after(`\s+(?:(?:also|well|possibly|still)\s+)*be\s+` + noun + `(?-i:` + letter + `)`), doubts},
	{"or maybe perhaps", after(`\s+(?:(?:maybe|perhaps|possibly|even)\s+)*` + noun + `(?-i:` + ended + `)`), doubts},
}

// answers lists words for the answer.
const answers = "answer option choice solution guess pick letter antwort réponse respuesta"

// right and wrong match a judgement after a letter, as in "B is correct". chinese matches a letter after a
// Chinese word for the answer.
var (
	right   = after(called + `(?:the\s+)?(?:only\s+|best\s+|most\s+)?(?:correct|right|true|answer|best|accurate|one\s+that|option\s+that|choice\s+that)\b`)
	wrong   = after(called + `(?:not\b|wrong|incorrect|false|out\b)`)
	chinese = regexp.MustCompile(`(?:答案|选项|故选|应选|选择)(?:是|为|应该?是|应为|:|\s)*([A-D])`)
)

func after(expr string) *regexp.Regexp { return regexp.MustCompile(`^(?i:` + expr + `)`) }

const (
	chooses = iota // the letter is the answer
	isRight        // the letter is called correct; other letters may be called correct, too
	denies         // the letter is not the answer
	doubts         // the letter is one of several answers
)

var (
	// plainly removes markup, and writes full-width punctuation in ASCII.
	plainly = strings.NewReplacer("*", "", "_", "", "`", "", "$", "", `\(`, "", `\)`, "", `\[`, "", `\]`, "",
		`\textbf{`, "{", `\text{`, "{", `\mathrm{`, "{", `\mathbf{`, "{", "：", ":", "（", "(", "）", ")", "。", ".", "，", ",", "’", "'", "“", `"`, "”", `"`)
	// more matches the text after a letter that adds another letter: "B or C", "B, C", "B/C", "B if x > 0
	// and C".
	more = regexp.MustCompile(`^(?:["')\]}]*(?:\s*,|\s+if\b[^.\n]{0,60})?\s*(?:/|&|\bor\b|\band\b|\band/or\b|或|和)\s*(?:(?:also|maybe|perhaps|possibly|even|option|choice)\s+)*` + letter +
		`|["')\]}]*\s*,\s*["'(\[]*[A-D]["')\]]*(?:\s*[,.]|\s+(?:and|or)\b|\s*$))`)
	// retracted matches a word that takes an earlier choice back, such as "wait".
	retracted = regexp.MustCompile(`(?i)\b(?:wait|actually|correction|mistake|second\s+thought|reconsider|however|no)\b`)
	// aside matches the text after a match of more if the added letter only begins a new clause, as in "B,
	// and C is a common mistake".
	aside = regexp.MustCompile(`^\s*(?:is|was|looks|seems|would)\s+(?:also\b)?`)
	// first matches a letter at the beginning of the text. Its second group is the rest of the line.
	first = regexp.MustCompile(`^\s*(?:(?:Option|Choice)\s+)?["'(\[{]*([A-D])(?:\s*$|\s*["')\]}.:,;-]+([^\n]*)|\s*\n)`)
	// unlikeText matches a rest of the line that says something about the letter. Such a rest is not the
	// text of the option.
	unlikeText = regexp.MustCompile(`^\s*(?:is|isn't|was|are|would|could|can|can't|cannot|may|might|seems|looks|has|does|doesn't|describes|refers|and|or|not|incorrect|wrong|false)\b`)
	// option matches the beginning of a line that lists one of several options.
	option = regexp.MustCompile(`^[\s(-]*([A-D])[).:]`)
	// last matches a last line that consists of a letter.
	last = regexp.MustCompile(`^\s*["'(\[]*([A-D])["')\].]*\s*$`)
	// lone matches a first line that consists of a letter.
	lone = regexp.MustCompile(`^\s*["'(\[]*([A-D])["')\].]*\s*\n`)
)

// A statement is what a text says about a letter.
type statement struct {
	at, end int
	letter  string
	what    int
}

// chosen returns the letter that a text chooses, or "".
func chosen(text string) string {
	text = plainly.Replace(visible(text))
	options := map[string]bool{}
	for line := range strings.Lines(text) {
		if m := option.FindStringSubmatch(line); m != nil {
			options[m[1]] = true
		}
	}
	if m := lone.FindStringSubmatch(text); m != nil && len(options) > 2 {
		return m[1] // a base model, which after its answer goes on with a question of its own
	}
	all := stated(text)
	letter, found := decided(all, text)
	if found {
		return letter
	}
	m := first.FindStringSubmatch(text)
	if m == nil || len(options) > 1 || unlikeText.MatchString(m[2]) || several(text[strings.Index(text, m[1])+1:]) {
		return ""
	}
	denied := slices.ContainsFunc(all, func(s statement) bool { return s.what == denies && s.letter == m[1] })
	if denied {
		return ""
	}
	return m[1]
}

// stated returns the statements about letters in a text, in the order in which their letters occur.
func stated(text string) (all []statement) {
	add := func(at, from int, m []int, what int) {
		s := statement{at: at, end: from + m[3], letter: strings.ToUpper(text[from+m[2] : from+m[3]]), what: what}
		if !strings.HasPrefix(strings.TrimLeft(text[s.end:], `"')]}`), "?") { // "Is it A?" is a question
			all = append(all, s)
		}
	}
	for at, end := range words(text) {
		word := text[at:end]
		if len(word) == 1 && word >= "A" && word <= "D" {
			switch {
			case right.MatchString(text[end:]):
				add(at, at, []int{0, 1, 0, 1}, isRight)
			case wrong.MatchString(text[end:]):
				add(at, at, []int{0, 1, 0, 1}, denies)
			}
			continue
		}
		for _, i := range formsOf[strings.ToLower(word)] {
			if m := forms[i].rest.FindStringSubmatchIndex(text[end:]); m != nil {
				add(at, end, m, forms[i].what)
			}
		}
	}
	for _, m := range chinese.FindAllStringSubmatchIndex(text, -1) {
		add(m[0], 0, m, chooses)
	}
	if at := strings.LastIndexByte(strings.TrimSpace(text), '\n') + 1; at > 0 {
		at += len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
		if m := last.FindStringSubmatchIndex(text[at:]); m != nil {
			add(at, at, m, chooses)
		}
	}
	slices.SortStableFunc(all, func(a, b statement) int { return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(b.what, a.what)) })
	return all
}

// formsOf maps the first word of a statement to the indexes of its forms.
var formsOf = func() map[string][]int {
	of := map[string][]int{}
	for i, f := range forms {
		for _, word := range strings.Fields(f.words) {
			of[word] = append(of[word], i)
		}
	}
	return of
}()

// words returns the start and the end of each word of a text. An apostrophe within a word is part of the
// word.
func words(text string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		begin := -1
		for i, r := range text {
			switch inWord := unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' && begin >= 0; {
			case inWord && begin < 0:
				begin = i
			case !inWord && begin >= 0:
				if !yield(begin, i) {
					return
				}
				begin = -1
			}
		}
		if begin >= 0 {
			yield(begin, len(text))
		}
	}
}

// decided returns the letter that the statements of a text choose in the end, or "" if several letters
// remain open. The result found is false if no statement chooses a letter or leaves several open.
func decided(all []statement, text string) (letter string, found bool) {
	end := 0     // end of the last choice, or of the last remark after it; 0 if there is none
	called := "" // the letter that was called correct since the last choice
	open := func() { letter, called, found, end = "", "", true, 0 }
	for _, s := range all {
		switch {
		case s.what != denies && several(text[s.end:]) || otherwise(text[:s.at]):
			open()
		case s.what == chooses:
			letter, called, found, end = s.letter, "", true, s.end
		case s.what == denies && s.letter == letter, s.what == doubts && s.letter != letter:
			open()
		case s.what != isRight || s.letter == letter:
		case end > 0 && !retracted.MatchString(text[end:s.at]): // a remark after the choice
			end = s.at
		case called != "":
			open()
		default:
			letter, called, found, end = s.letter, s.letter, true, 0
		}
	}
	return letter, found
}

// several reports whether the text after a letter adds another letter, so that the answer names several.
func several(behind string) bool {
	at := more.FindStringIndex(behind)
	if at == nil {
		return false
	}
	clause := aside.FindString(behind[min(at[1], len(behind)):])
	if clause == "" { // the match of more may have consumed the space before the verb
		clause = aside.FindString(behind[max(at[1]-1, 0):])
	}
	return clause == "" || strings.HasSuffix(clause, "also")
}

// otherwise reports whether the last sentence of text, which may be incomplete, contains "otherwise" and so
// names a second case.
func otherwise(text string) bool {
	text = text[max(len(text)-maxBefore, 0):]
	sentence := text[strings.LastIndexAny(text, ".\n")+1:]
	return strings.Contains(strings.ToLower(sentence), "otherwise")
}
