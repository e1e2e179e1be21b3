package benchdata

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A fitter writes texts of an exact number of tokens. It asks the tokenizer
// about whole texts only, since a part need not count the same by itself, and
// it asks seldom: about three times for a text of any length.
type fitter struct {
	tok     llmbench.Tokenizer
	slack   int     // a text this many tokens off is good when none is exact
	perWord float64 // about how many tokens a word is
}

// tolerant is a tokenizer that cannot count to every number.
type tolerant interface {
	// Tolerance returns how many tokens a text may be away from the length
	// that was wanted.
	Tolerance() int
}

// Limits of the search: the first is far more than a tokenizer that grows
// with the text needs, the second finds a pair of words of the right length
// even for a tokenizer that counts letters.
const (
	maxLengths = 100
	maxEndings = 400

	maxWordsPerToken = 16 // a tokenizer that wants more is broken
)

func newFitter(tok llmbench.Tokenizer) *fitter {
	f := &fitter{tok: tok}
	if t, ok := tok.(tolerant); ok {
		f.slack = t.Tolerance()
	}
	sample := textOf("", wordList)
	f.perWord = max(float64(tok.Count(sample.first(len(wordList))))/float64(len(wordList)), 1.0/maxWordsPerToken)
	return f
}

// text returns a text that begins with head and the opening words, goes on in
// random words, and is target tokens by the tokenizer. A target smaller than
// the opening makes the text begin otherwise.
func (f *fitter) text(head string, opening []string, target int, random *rand.Rand) (string, error) {
	text, err := f.search(head, opening, target, random)
	if wrong := tokenizerError(f.tok); wrong != nil {
		return "", wrong
	}
	return text, err
}

func (f *fitter) search(head string, opening []string, target int, random *rand.Rand) (string, error) {
	t := textOf(head, opening)
	draw := func() string { return wordList[random.IntN(len(wordList))] }

	// Close in on the number of words: low words are too few, high too many.
	low, lowTokens := 0, f.tok.Count(head)
	high, highTokens := math.MaxInt, 0
	words := low + int(float64(target-lowTokens)/f.perWord)
	for try := 0; high-low > 1; try++ {
		if try == maxLengths || low > maxWordsPerToken*(target+1) {
			return "", fmt.Errorf("no text of %d tokens found: the tokenizer says %d for %d words", target, lowTokens, low)
		}
		words = min(max(words, low+1), high-1)
		for t.words() < words {
			t.add(draw())
		}
		tokens := f.tok.Count(t.first(words))
		if tokens == target {
			return t.first(words), nil
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
			return t.first(high), nil
		case below <= f.slack && low > 0:
			return t.first(low), nil
		}
	}
	return f.ending(t, low, min(low, len(opening)), target, draw)
}

// ending puts other words in the place of the last ones of the first low
// words of t, until the text is target tokens. It leaves the first keep words
// as they are, unless that cannot be.
func (f *fitter) ending(t *text, low, keep, target int, draw func() string) (string, error) {
	closest := 0
	for try := range maxEndings {
		if try == maxEndings/2 {
			keep = 0
		}
		back := try % 4 // words taken away; then as many or one more are added
		kept := max(low-back, keep)
		added := low - kept + 1
		if try%8 >= 4 && added > 1 {
			added--
		}
		end := t.copyFirst(kept)
		for range added {
			end.add(draw())
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

// text is words with one space between them, but none at the begin of a line, of which any first few can be
// had without joining them anew.
type text struct {
	buf  []byte
	ends []int // ends[k] is where the text of k words ends
}

func textOf(head string, words []string) *text {
	t := &text{buf: []byte(head), ends: []int{len(head)}}
	for _, w := range words {
		t.add(w)
	}
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

func (t *text) copyFirst(words int) *text { return textOf(t.first(words), nil) }
