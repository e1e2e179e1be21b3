package mockserver

import "strings"

// vocabulary is the output of every request: token i is word i modulo the
// length, with the space before it. The words are plain ASCII that JSON need not
// escape, and no two are alike.
var vocabulary = [...]string{
	" the", " quick", " brown", " fox", " jumps", " over", " a", " lazy", " dog", " while",
	" seven", " wizards", " mix", " very", " bad", " potions", " in", " quiet", " evenings", " again",
}

// appendWords appends the text of tokens from up to, not including, to.
func appendWords(b []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		b = append(b, vocabulary[i%len(vocabulary)]...)
	}
	return b
}

// countWords returns the number of words in a text, which is its tokens.
func countWords(text string) int {
	n := 0
	for range strings.FieldsSeq(text) {
		n++
	}
	return n
}

// cutAtStop returns how many of n tokens are left when the output is cut where
// it would contain one of the stop strings, and which one that was. The cut
// takes whole tokens: the one in which the stop string begins goes too. No stop
// string counts that begins before token from.
func cutAtStop(stops []string, from, n int) (left int, matched string) {
	if len(stops) == 0 || from >= n {
		return n, ""
	}
	longest := 0
	for _, s := range stops {
		longest = max(longest, len(s))
	}
	// The text repeats itself, so what does not begin in the first round never does.
	to := min(n, from+len(vocabulary)+longest)
	text := string(appendWords(nil, from, to))
	at := len(text)
	for _, s := range stops {
		if i := strings.Index(text, s); i >= 0 && i < at {
			at, matched = i, s
		}
	}
	if matched == "" {
		return n, ""
	}
	for left = from; ; left++ {
		at -= len(vocabulary[left%len(vocabulary)])
		if at < 0 {
			return left, matched
		}
	}
}
