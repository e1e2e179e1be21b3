package tinygguf

// paired is what the tokens of Options.Pairs are made of: the bytes of white
// space, digits, punctuation, letters, and characters of several bytes.
const paired = " \t\n\r" + "0159" + "'!.-_(" + "asStdTlL" +
	"\u0085\u00a0éſ\u0301٣\u2028\u3000中😀"

// bytePairs returns each two bytes of paired as GPT-2 prints them, except
// those that can stand together in a word of the corpus; and a digit or a mark
// with the first byte of any character, since the character's class decides
// whether it is split from them.
func bytePairs() [][2]string {
	var pairs [][2]string
	var seen [256][256]bool
	runes := byteRunes()
	add := func(a, b byte) {
		inWord := isLetter(b) && (isLetter(a) || a == ' ')
		if !inWord && !seen[a][b] {
			seen[a][b] = true
			pairs = append(pairs, [2]string{string(runes[a]), string(runes[b])})
		}
	}
	for _, a := range []byte(paired) {
		for _, b := range []byte(paired) {
			add(a, b)
		}
	}
	for first := byte(0xc2); first <= 0xf4; first++ {
		add('1', first)
		add('!', first)
	}
	return pairs
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
