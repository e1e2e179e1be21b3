package tinygguf

// paired holds the bytes from which the tokens of Options.Pairs are built: white space, digits,
// punctuation, letters, and characters of several bytes.
const paired = " \t\n\r" + "0159" + "'!.-_(" + "asStdTlL" +
	"\u0085\u00a0éſ\u0301٣\u2028\u3000中😀"

// bytePairs returns all pairs of bytes in paired, in GPT-2's representation, except pairs that can be
// neighbours in a word of the corpus. It also returns a digit and a punctuation mark, each followed by the
// first byte of any multi-byte character, because the class of the character decides whether a tokenizer
// splits there.
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
