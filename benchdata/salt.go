package benchdata

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// saltedSeed returns the seed of the words of generated texts. Other random choices,
// such as lengths and orders, depend on seed alone. Without a salt it returns seed.
func saltedSeed(seed, salt uint64) uint64 {
	if salt == 0 {
		return seed
	}
	return rand.NewPCG(seed, salt).Uint64()
}

// A salter replaces the beginning of texts that come from a file. Caches compare
// prompts from their beginning (https://docs.vllm.ai/en/latest/design/prefix_caching/),
// so that the text after the beginning can stay.
//
// The new beginning depends on the salt and on the first characters of the text: equal
// texts stay equal, and texts with a longer common beginning still have one.
type salter struct {
	salt uint64
	fit  *fitter
	// byRune replaces characters in texts with spaces, too, so that the number of
	// characters stays the same.
	byRune bool
}

const (
	decidingRunes = 32 // characters of a text that determine its new beginning
	replacedRunes = 4  // letters that are replaced where there are no words
	mostSaltings  = 16 // tries to find a beginning with the same number of tokens
)

// A saltedText is a text with another beginning.
type saltedText struct {
	text  string
	added int // tokens more than before, seldom other than 0
}

// saltTexts replaces the beginning of the prompt, or of the first message, of each
// request. It returns requests unchanged if salt is 0.
func saltTexts(requests []llmbench.Request, salt uint64, tok llmbench.Tokenizer) ([]llmbench.Request, error) {
	if salt == 0 {
		return requests, nil
	}
	s := &salter{salt: salt, fit: newFitter(orWords(tok))}
	places := map[string]int{} // of texts; repeated ones are salted once
	var texts []string
	for i := range requests {
		text := *openingOf(&requests[i])
		if _, seen := places[text]; !seen {
			places[text] = len(texts)
			texts = append(texts, text)
		}
	}
	salted := make([]saltedText, len(texts))
	err := forEach(s.fit.tok, len(texts), func(i int) (err error) {
		salted[i], err = s.replace(texts[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range requests {
		r := &requests[i]
		r.Messages = slices.Clone(r.Messages) // which repeated requests have in common
		text := openingOf(r)
		replaced := salted[places[*text]]
		*text = replaced.text
		r.PromptTokens += replaced.added
	}
	return requests, nil
}

// openingOf returns the text that a prompt begins with.
func openingOf(r *llmbench.Request) *string {
	if len(r.Messages) > 0 {
		return &r.Messages[0].Content
	}
	return &r.Prompt
}

// replace returns text with another beginning of as many tokens, or the text with the
// closest number of tokens that it finds.
func (s *salter) replace(text string) (saltedText, error) {
	deciding := firstRunes(text, decidingRunes)
	hash := fnv.New64a()
	hash.Write([]byte(deciding))
	random := rand.New(rand.NewPCG(s.salt, hash.Sum64()))
	head, letters := s.opening(text, deciding)
	rest := text[len(head):]
	want, wantHead := s.fit.tok.Count(text), s.fit.tok.Count(head)
	closest := saltedText{text: text}
	for range mostSaltings {
		drawn := s.draw(head, letters, wantHead, random)
		if drawn == head {
			continue
		}
		added := s.fit.tok.Count(drawn+rest) - want
		if closest.text == text || abs(added) < abs(closest.added) {
			closest = saltedText{drawn + rest, added}
		}
		if added == 0 {
			break
		}
	}
	return closest, tokenizerError(s.fit.tok)
}

// opening returns the beginning of text that is replaced. In texts without spaces
// between words a few letters are replaced, and letters are those to draw from. In other
// texts it is two words, and there are no letters.
func (s *salter) opening(text, deciding string) (head string, letters []rune) {
	end := 0 // after the last letter that is replaced
	for i, r := range deciding {
		if !isLetter(r) {
			continue
		}
		if letters = append(letters, r); len(letters) <= replacedRunes {
			end = i + utf8.RuneLen(r)
		}
	}
	head = firstWords(text, openingWords)
	spaced := len(head) <= len(deciding) && !strings.ContainsFunc(head, hasNoSpaces)
	if spaced && !s.byRune || len(letters) == 0 {
		return head, nil
	}
	return text[:end], letters
}

// isLetter reports whether r is part of a word or a number.
func isLetter(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

// hasNoSpaces reports whether r belongs to a script without spaces between words.
func hasNoSpaces(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// firstRunes returns the first n characters of text, or all if there are fewer.
func firstRunes(text string, n int) string {
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return text[:end]
}

// firstWords returns the first n words of text, or all if there are fewer.
func firstWords(text string, n int) string {
	end := 0
	for word := range strings.FieldsSeq(text) {
		if n--; n < 0 {
			break
		}
		end += strings.Index(text[end:], word) + len(word)
	}
	return text[:end]
}

// draw draws a beginning in place of head: random words with that number of tokens, or
// head with other letters, if there are letters.
func (s *salter) draw(head string, letters []rune, tokens int, random *rand.Rand) string {
	if len(letters) > 0 {
		return strings.Map(func(r rune) rune {
			if isLetter(r) {
				r = letters[random.IntN(len(letters))]
			}
			return r
		}, head)
	}
	words := make([]string, openingWords)
	for i := range words {
		words[i] = wordList[random.IntN(len(wordList))]
	}
	if text, err := s.fit.text("", words, tokens, random); err == nil {
		return text
	}
	return strings.Join(words, " ")
}
