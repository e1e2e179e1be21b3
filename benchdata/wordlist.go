package benchdata

import (
	_ "embed"
	"strings"
)

//go:embed words.txt
var wordsText string

// wordList holds the words that random prompts are made of: one thousand
// different, common English words of three to six lower-case letters, so that
// a subword tokenizer has most of them as one or two tokens.
var wordList = strings.Fields(wordsText)
