package benchdata

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed words.txt
var wordsText string

// wordList has the words of random prompts: one thousand different, common English words of
// three to six lower-case letters. With a subword tokenizer, most of the words have one or two
// tokens.
var wordList = strings.Fields(wordsText)

// WordList returns the words of random prompts. The caller may change the list.
func WordList() []string { return slices.Clone(wordList) }
