package benchdata

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed words.txt
var wordsText string

// wordList holds the words of random prompts: one thousand different, common
// English words of three to six lower-case letters. Most of them are one or two
// tokens for a subword tokenizer.
var wordList = strings.Fields(wordsText)

// WordList returns the words of random prompts. The caller may change the list.
func WordList() []string { return slices.Clone(wordList) }
