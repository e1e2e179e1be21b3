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

// Choice wants a letter from A to D. What the text concludes counts: the last statement such as
// "Answer: B", "the correct option is (B)", `\boxed{B}`, "B is correct" or a last line "**B**". If the
// text has no such statement, the letter counts with which the text begins, as in "B" or "(B) 12". A
// text that ends with several letters ("B or C"), or that takes its only letter back ("B is wrong"),
// chooses none. Choice panics if want is another letter.
//
// The forms "Answer: B" and "the answer is (B)" come from simple-evals
// (https://github.com/openai/simple-evals/blob/main/common.py) and MMLU-Pro
// (https://github.com/TIGER-AI-Lab/MMLU-Pro/blob/main/evaluate_from_local.py). The further forms are
// habits of models that these two count as wrong, or find in the wrong place.
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
	// letter matches a letter from A to D, with marks around it, that is no part of a word.
	letter = `["'(\[{<]*([A-D])["')\]}>]*(?:[^\pL\pN'’]|$)`
	// ended is letter before punctuation or the end of a line.
	ended = `["'(\[]*([A-D])["')\]]*(?:[.,;!?]|\s*(?:\n|$))`
	// noun matches words for the letter before the letter.
	noun = `(?:(?:the\s+)?(?:options?|choices?|letter|answers?)\s+)?`
	// is matches what stands between a word for the answer and the letter.
	is = `(?:\s+(?:to|for|here)\b[^.:\n]{0,60}?)?(?:\s+(?:correcte?|correcta|richtige?))?` +
		`\s*(?:(?:is|are|would\s+be|must\s+be|should\s+be|will\s+be|has\s+to\s+be|remains|ist|est|es|是|为|应该?是|应为|=|-|->|→|:)\s*)+`
	// surely matches adverbs.
	surely = `(?:(?:therefore|thus|then|clearly|also|obviously|definitely|indeed|simply|just|probably|most\s+likely|likely|either|both)[\s,]+)*`
	// called matches what stands between a letter and what it is called.
	called = `[\s:.)-]*(?:(?:is|would\s+be|must\s+be)\s+)?` + surely
)

// forms are the forms of a statement about a letter. The letter is the only group.
var forms = []struct {
	words string         // the first word of a statement, in small letters, is one of these
	rest  *regexp.Regexp // the text behind the word
	what  int
}{
	{answers, after(is + surely + noun + `(?-i:` + letter + `)`), chooses},
	{answers, after(is + surely + noun + `\(([A-D])\)`), chooses}, // a small letter, too
	{answers, after(is + `not\s+` + noun + `(?-i:` + letter + `)`), denies},
	{"answer", after(`\s*:\s*[("'\[]*([A-D])["')\].]*\s*(?:\n|$)`), chooses}, // a small letter, too
	{"answer", after(`\s*\n\s*(?-i:` + letter + `)`), chooses},               // under a heading
	{"boxed", after(`\s*\{\s*` + letter), chooses},
	{"i i'd i'll", after(`\s+(?:(?:would|will)\s+)?(?:choose|pick|select|say|answer|go\s+with)\s+` + noun + `(?-i:` + letter + `)`), chooses},
	{"so thus therefore hence but rather probably likely leaves leaving choose select", after(`(?:\s+us\s+with)?[,:]?\s+` + noun + `(?-i:` + ended + `)`), chooses},
	{"it that this", after(`(?:'s|\s+is|\s+must\s+be)\s+` + noun + `(?-i:` + ended + `)`), chooses},
	{"it's that's", after(`\s+` + noun + `(?-i:` + ended + `)`), chooses},
	{"could might may can", after(`\s+(?:(?:also|well|possibly|still)\s+)*be\s+` + noun + `(?-i:` + letter + `)`), doubts},
	{"or maybe perhaps", after(`\s+(?:(?:maybe|perhaps|possibly|even)\s+)*` + noun + `(?-i:` + ended + `)`), doubts},
}

// answers are words for the answer.
const answers = "answer option choice solution guess pick letter antwort réponse respuesta"

// These match what a letter is called, behind the letter, and a letter behind a word of Chinese.
var (
	right   = after(called + `(?:the\s+)?(?:only\s+|best\s+|most\s+)?(?:correct|right|true|answer|best|accurate|one\s+that|option\s+that|choice\s+that)\b`)
	wrong   = after(called + `(?:not\b|wrong|incorrect|false|out\b)`)
	chinese = regexp.MustCompile(`(?:答案|选项|故选|应选|选择)(?:是|为|应该?是|应为|:|\s)*([A-D])`)
)

func after(expr string) *regexp.Regexp { return regexp.MustCompile(`^(?i:` + expr + `)`) }

const (
	chooses = iota // the letter is the answer
	isRight        // the letter is called right, maybe beside others
	denies         // the letter is not the answer
	doubts         // the letter is one of several answers
)

var (
	// plainly removes markup, and writes full-width punctuation in ASCII.
	plainly = strings.NewReplacer("*", "", "_", "", "`", "", "$", "", `\(`, "", `\)`, "", `\[`, "", `\]`, "",
		`\textbf{`, "{", `\text{`, "{", `\mathrm{`, "{", `\mathbf{`, "{", "：", ":", "（", "(", "）", ")", "。", ".", "，", ",", "’", "'", "“", `"`, "”", `"`)
	// more matches what makes a letter one of several: "B or C", "B, C", "B/C", "B if x > 0 and C".
	more = regexp.MustCompile(`^(?:["')\]}]*(?:\s*,|\s+if\b[^.\n]{0,60})?\s*(?:/|&|\bor\b|\band\b|\band/or\b|或|和)\s*(?:(?:also|maybe|perhaps|possibly|even|option|choice)\s+)*` + letter +
		`|["')\]}]*\s*,\s*["'(\[]*[A-D]["')\]]*(?:\s*[,.]|\s+(?:and|or)\b|\s*$))`)
	// retracted matches what takes an earlier choice back.
	retracted = regexp.MustCompile(`(?i)\b(?:wait|actually|correction|mistake|second\s+thought|reconsider|however|no)\b`)
	// aside matches what follows more if its letter is the subject of a clause: "B, and C is a common mistake".
	aside = regexp.MustCompile(`^\s*(?:is|was|looks|seems|would)\s+(?:also\b)?`)
	// first matches a letter at the beginning; the rest of the line is the second group.
	first = regexp.MustCompile(`^\s*(?:(?:Option|Choice)\s+)?["'(\[{]*([A-D])(?:\s*$|\s*["')\]}.:,;-]+([^\n]*)|\s*\n)`)
	// unlikeText matches a rest of the line that speaks about the letter, and is no text of the option.
	unlikeText = regexp.MustCompile(`^\s*(?:is|isn't|was|are|would|could|can|can't|cannot|may|might|seems|looks|has|does|doesn't|describes|refers|and|or|not|incorrect|wrong|false)\b`)
	// option matches the beginning of a line for one of several options.
	option = regexp.MustCompile(`^[\s(-]*([A-D])[).:]`)
	// last matches a last line that is a letter.
	last = regexp.MustCompile(`^\s*["'(\[]*([A-D])["')\].]*\s*$`)
	// lone matches a first line that is a letter.
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
		return m[1] // of a base model, which goes on with a question of its own
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

// stated returns the statements of a text, in the order of their letters.
func stated(text string) (all []statement) {
	add := func(at, from int, m []int, what int) {
		s := statement{at: at, end: from + m[3], letter: strings.ToUpper(text[from+m[2] : from+m[3]]), what: what}
		if !strings.HasPrefix(strings.TrimLeft(text[s.end:], `"')]}`), "?") { // "Is it A?" states nothing
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

// formsOf has the indexes of the forms that begin with a word.
var formsOf = func() map[string][]int {
	of := map[string][]int{}
	for i, f := range forms {
		for _, word := range strings.Fields(f.words) {
			of[word] = append(of[word], i)
		}
	}
	return of
}()

// words returns where the words of a text begin and end. An apostrophe is a part of its word.
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

// decided returns what the statements of a text come to: a letter, or "" if they leave several open.
// Found is false if no statement chooses or leaves open.
func decided(all []statement, text string) (letter string, found bool) {
	end := 0     // of the last choice; 0 if there is none
	called := "" // the letter that was called right since the last choice
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

// several reports whether the text behind a letter makes it one of several letters.
func several(behind string) bool {
	at := more.FindStringIndex(behind)
	if at == nil {
		return false
	}
	clause := aside.FindString(behind[min(at[1], len(behind)):])
	if clause == "" { // the match may have taken the space before the verb
		clause = aside.FindString(behind[max(at[1]-1, 0):])
	}
	return clause == "" || strings.HasSuffix(clause, "also")
}

// otherwise reports whether the sentence that text breaks off in names a second case.
func otherwise(text string) bool {
	text = text[max(len(text)-maxBefore, 0):]
	sentence := text[strings.LastIndexAny(text, ".\n")+1:]
	return strings.Contains(strings.ToLower(sentence), "otherwise")
}
