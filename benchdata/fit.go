package benchdata

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A fitter makes texts with an exact number of tokens. It always counts the tokens of whole
// texts, because the counts of parts need not add up to the count of the whole. A text of
// any length takes about three calls of the tokenizer.
type fitter struct {
	tok     llmbench.Tokenizer
	source  *Source // of the words; nil means random words
	slack   int     // largest accepted difference in tokens if no text has the exact length
	perWord float64 // estimated tokens per word
}

// A tolerant is a tokenizer that never counts certain numbers of tokens, such as odd numbers.
type tolerant interface {
	// Tolerance returns the largest accepted difference, in tokens, between the length of a
	// text and the wanted length.
	Tolerance() int
}

// Limits of the search.
const (
	maxLengths       = 100 // tries to find the number of words; few are needed if longer texts have more tokens
	maxTexts         = 100 // tries to find a text of a source; few are needed unless words have many tokens
	maxEndings       = 400 // tries to find the last words; enough even for a tokenizer that counts letters
	maxWordsPerToken = 16  // a tokenizer that counts less than one token for this many words is broken
)

// newFitter returns a fitter that counts tokens with tok.
func newFitter(tok llmbench.Tokenizer) *fitter {
	f := &fitter{tok: tok}
	if t, ok := tok.(tolerant); ok {
		f.slack = t.Tolerance()
	}
	sample := textOf("", wordList)
	f.perWord = max(float64(tok.Count(sample.first(len(wordList))))/float64(len(wordList)), 1.0/maxWordsPerToken)
	return f
}

// text returns a text of target tokens. The text consists of head, the opening words and
// words of the source. If target is too small for the opening words, other words may replace them.
func (f *fitter) text(head string, opening []string, target int, random *rand.Rand) (string, error) {
	text, err := f.search(head, opening, target, random)
	if tokErr := tokenizerError(f.tok); tokErr != nil {
		return "", tokErr
	}
	return text, err
}

// search is like text but does not check the tokenizer's error.
func (f *fitter) search(head string, opening []string, target int, random *rand.Rand) (string, error) {
	for try := 1; ; try++ {
		t := textOf(head, opening)
		words, fits, err := f.lengthen(t, target, random)
		switch {
		case err != nil:
			return "", err
		case fits:
			return t.first(words), nil
		case f.source == nil || try == maxTexts: // words of a source are replaced last, because others would not follow the words before them
			return f.ending(t, words, min(words, len(opening)), target, random)
		}
	}
}

// lengthen adds words to t, and searches for the number of its words that has target tokens. It returns this number and
// true, or the largest number with fewer tokens and false.
func (f *fitter) lengthen(t *text, target int, random *rand.Rand) (words int, fits bool, err error) {
	// Search for the number of words: low words are too few, high words are too many.
	low, lowTokens := 0, f.tok.Count(t.first(0))
	high, highTokens := math.MaxInt, 0
	words = low + int(float64(target-lowTokens)/f.perWord)
	for try := 0; high-low > 1; try++ {
		if try == maxLengths || low > maxWordsPerToken*(target+1) {
			return 0, false, fmt.Errorf("no text of %d tokens found: the tokenizer counts %d for %d words", target, lowTokens, low)
		}
		words = min(max(words, low+1), high-1)
		for t.words() < words {
			t.add(f.word(t, random))
		}
		tokens := f.tok.Count(t.first(words))
		if tokens == target {
			return words, true, nil
		}
		if tokens < target {
			low, lowTokens = words, tokens
		} else {
			high, highTokens = words, tokens
		}
		switch {
		case high == math.MaxInt:
			words = low + int(math.Ceil(float64(target-lowTokens)/f.perWord))
		case try < 8:
			share := float64(target-lowTokens) / float64(highTokens-lowTokens)
			words = low + int(share*float64(high-low))
		default:
			words = low + (high-low)/2
		}
	}
	if f.slack > 0 {
		switch below, above := target-lowTokens, highTokens-target; {
		case above <= below && above <= f.slack:
			return high, true, nil
		case below <= f.slack && low > 0:
			return low, true, nil
		}
	}
	return low, false, nil
}

// word draws the word after t.
func (f *fitter) word(t *text, random *rand.Rand) string {
	if f.source != nil {
		return f.source.next(t.buf[t.begin:], random)
	}
	return wordList[random.IntN(len(wordList))]
}

// ending takes the first low words of t and replaces the last of them by other words, until
// the text has target tokens. It keeps the first keep words. If half of the tries have
// failed, it may replace these too.
func (f *fitter) ending(t *text, low, keep, target int, random *rand.Rand) (string, error) {
	closest := 0
	for try := range maxEndings {
		if try == maxEndings/2 {
			keep = 0
		}
		back := try % 4 // number of words to remove; the same number, or one more, is added
		kept := max(low-back, keep)
		added := low - kept + 1
		if try%8 >= 4 && added > 1 {
			added--
		}
		end := textOf(t.first(kept), nil)
		for range added {
			end.add(f.word(end, random))
		}
		tokens := f.tok.Count(end.all())
		if tokens == target {
			return end.all(), nil
		}
		if try == 0 || abs(tokens-target) < abs(closest-target) {
			closest = tokens
		}
	}
	return "", fmt.Errorf("no text of %d tokens found in %d tries, the closest is %d", target, maxEndings, closest)
}

func abs(x int) int { return max(x, -x) }

// A text is a list of words with one space between them. At the beginning of a line there is
// no space.
type text struct {
	buf   []byte
	ends  []int // ends[k] is the length in bytes of head and the first k words
	begin int   // length in bytes of head and the opening words, which have no influence on the words after them
}

func textOf(head string, words []string) *text {
	t := &text{buf: []byte(head), ends: []int{len(head)}}
	for _, w := range words {
		t.add(w)
	}
	t.begin = len(t.buf)
	return t
}

func (t *text) words() int { return len(t.ends) - 1 }

func (t *text) add(word string) {
	if n := len(t.buf); n > 0 && t.buf[n-1] != '\n' {
		t.buf = append(t.buf, ' ')
	}
	t.buf = append(t.buf, word...)
	t.ends = append(t.ends, len(t.buf))
}

func (t *text) first(words int) string { return string(t.buf[:t.ends[words]]) }

func (t *text) all() string { return string(t.buf) }
