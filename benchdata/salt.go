package benchdata

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// saltedSeed returns the seed for the words of generated texts. It is seed if salt is 0. Other
// random choices, such as lengths and orders, must use seed itself.
func saltedSeed(seed, salt uint64) uint64 {
	if salt == 0 {
		return seed
	}
	return rand.NewPCG(seed, salt).Uint64()
}

// A salter replaces the beginning of texts from a file. The rest of a text need not change:
// caches compare prompts from the beginning
// (https://docs.vllm.ai/en/latest/design/prefix_caching/).
//
// The new beginning depends only on the salt and on the first characters of the text. So equal
// texts remain equal. Texts that have more than these characters in common still begin with
// the same text.
type salter struct {
	salt uint64
	tok  llmbench.Tokenizer
	// byRune replaces single characters even in texts with spaces, so that the number of
	// characters stays the same.
	byRune bool
}

const (
	decidingRunes = 32 // number of characters of a text that determine its new beginning
	replacedRunes = 4  // number of letters that are replaced in scripts without spaces between words
	mostSaltings  = 16 // tries to find a text with the same number of tokens
	mostDraws     = 16 // tries to find words with the same number of tokens as the replaced words
)

// A saltedText is a text whose beginning has been replaced.
type saltedText struct {
	text  string
	added int // how many more tokens it has than the original text, mostly 0
}

// saltTexts replaces the beginning of the prompt, or of the first message, of each
// request. It returns requests unchanged if salt is 0.
func saltTexts(requests []llmbench.Request, salt uint64, tok llmbench.Tokenizer) ([]llmbench.Request, error) {
	if salt == 0 {
		return requests, nil
	}
	s := &salter{salt: salt, tok: orWords(tok)}
	places := map[string]int{} // index of each text in texts; equal texts are salted once
	var texts []string
	for i := range requests {
		text := *openingOf(&requests[i])
		if _, seen := places[text]; !seen {
			places[text] = len(texts)
			texts = append(texts, text)
		}
	}
	salted := make([]saltedText, len(texts))
	err := forEach(s.tok, len(texts), func(i int) (err error) {
		salted[i], err = s.replace(texts[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range requests {
		r := &requests[i]
		r.Messages = slices.Clone(r.Messages) // because repeated requests share the slice
		text := openingOf(r)
		replaced := salted[places[*text]]
		*text = replaced.text
		r.PromptTokens += replaced.added
	}
	return requests, nil
}

// openingOf returns a pointer to the content of the first message, or to the prompt if r has no
// messages.
func openingOf(r *llmbench.Request) *string {
	if len(r.Messages) > 0 {
		return &r.Messages[0].Content
	}
	return &r.Prompt
}

// replace returns text with another beginning, with the same number of tokens if possible.
// Otherwise it returns the closest number of tokens that it finds.
func (s *salter) replace(text string) (saltedText, error) {
	deciding := firstRunes(text, decidingRunes)
	hash := fnv.New64a()
	hash.Write([]byte(deciding))
	random := rand.New(rand.NewPCG(s.salt, hash.Sum64()))
	draw := s.letters(deciding, random)
	if heads := s.heads(text, len(deciding)); draw == nil || len(heads) > 0 {
		draw = s.words(heads, random)
	}
	want := s.tok.Count(text)
	closest := saltedText{text: text}
	for range mostSaltings {
		head, drawn := draw()
		if head == drawn {
			continue
		}
		salted := saltedText{text: drawn + text[len(head):]}
		salted.added = s.tok.Count(salted.text) - want
		if closest.text == text || abs(salted.added) < abs(closest.added) {
			closest = salted
		}
		if salted.added == 0 {
			break
		}
	}
	return closest, tokenizerError(s.tok)
}

// A drawHead returns the part of a text to replace, head, and its random replacement, drawn.
type drawHead func() (head, drawn string)

// heads returns the beginnings of text that have one word, two words and so on, up to most
// bytes. It returns nil if the text has no spaces between words.
func (s *salter) heads(text string, most int) (all []string) {
	if s.byRune {
		return nil
	}
	end := 0
	for word := range strings.FieldsSeq(text) {
		end += strings.Index(text[end:], word) + len(word)
		switch few := len(all) < openingWords; {
		case few && (end > most || strings.ContainsFunc(word, hasNoSpaces)):
			return nil
		case end > most:
			return all
		}
		all = append(all, text[:end])
	}
	return all
}

// words returns a function that draws two random words and replaces one of the heads by them.
// It chooses the head with the same number of tokens, mostly the head of two words, or else the
// head with the closest number. If the text has only one word, the function draws one word.
func (s *salter) words(heads []string, random *rand.Rand) drawHead {
	tokens := make([]int, len(heads))
	for i, head := range heads {
		tokens[i] = s.tok.Count(head)
	}
	return func() (head, drawn string) {
		words := make([]string, min(openingWords, max(len(heads), 1)))
		best, least := "", math.MaxInt
		for range mostDraws {
			for i := range words {
				words[i] = wordList[random.IntN(len(wordList))]
			}
			candidate := strings.Join(words, " ")
			n := s.tok.Count(candidate)
			for i, head := range heads {
				if d := abs(tokens[i] - n); d < least {
					best, drawn, least = head, candidate, d
				}
			}
			if least == 0 {
				break
			}
		}
		return best, drawn
	}
}

// letters returns a function that replaces the first replacedRunes letters of a text. The new
// letters are drawn from all letters in deciding, which is the beginning of the text. letters
// returns nil if there are no letters.
func (s *salter) letters(deciding string, random *rand.Rand) drawHead {
	var letters []rune
	end := 0 // offset after the last letter to replace
	for i, r := range deciding {
		if !isLetter(r) {
			continue
		}
		if letters = append(letters, r); len(letters) <= replacedRunes {
			end = i + utf8.RuneLen(r)
		}
	}
	if len(letters) == 0 {
		return nil
	}
	head := deciding[:end]
	return func() (string, string) {
		return head, strings.Map(func(r rune) rune {
			if isLetter(r) {
				r = letters[random.IntN(len(letters))]
			}
			return r
		}, head)
	}
}

// isLetter reports whether r is part of a word or a number.
func isLetter(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

// hasNoSpaces reports whether r belongs to a script without spaces between words.
func hasNoSpaces(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// firstRunes returns the first n characters of text, or the whole text if it is shorter.
func firstRunes(text string, n int) string {
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return text[:end]
}
