package benchdata

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// mostOrder is the highest order of a Source. At this order the words of the sonnets are nearly certain.
const mostOrder = 3

// A Source is a Markov source: it draws the words of a text one after another, each by the words before it. The words follow
// each other as in the sonnets of this package. The order of the source determines how predictable a text is. All
// methods are safe for concurrent use.
type Source struct {
	// after[k] has for each k words that follow each other in the corpus the words that come next, each as often as it does.
	// The first word of the corpus comes after the last one.
	after []map[string][]string
	// share is the probability with which a word is drawn by the longest context, and not by one word less.
	share float64
}

// NewSource returns a source of an order from 0 to 3. A source of a whole order k draws each word by the k words before it. It
// is one of the words that come after them in the sonnets, with the same frequencies. At order 0 only the frequencies of
// the words count. A source of an order between two whole ones, such as 0.3, draws 3 of 10 words as a source of the higher order
// does, at random, and the others as a source of the lower one.
func NewSource(order float64) (*Source, error) {
	if !(order >= 0 && order <= mostOrder) {
		return nil, fmt.Errorf("order is %v: want a number from 0 to %d", order, mostOrder)
	}
	longest := int(math.Ceil(order))
	s := &Source{after: make([]map[string][]string, longest+1), share: 1 - (float64(longest) - order)}
	corpus := strings.Fields(sonnetsText)
	circle := append(corpus, corpus[:longest]...)
	for k := range s.after {
		s.after[k] = map[string][]string{}
		for i := range len(circle) - longest {
			context := strings.Join(circle[i:i+k], " ")
			s.after[k][context] = append(s.after[k][context], circle[i+k])
		}
	}
	return s, nil
}

// next draws the word after a text, which has one space or line end between two words. If the last words of the text do not
// follow each other in the corpus, fewer of them determine the next word.
func (s *Source) next(text []byte, random *rand.Rand) string {
	k := len(s.after) - 1
	if random.Float64() >= s.share {
		k--
	}
	for ; ; k-- {
		if after := s.after[k][string(lastWords(text, k))]; len(after) > 0 {
			return after[random.IntN(len(after))]
		}
	}
}

// lastWords returns the last n words of a text, or the whole text if it has fewer.
func lastWords(text []byte, n int) []byte {
	begin := len(text) + 1
	for range n {
		if begin = 1 + bytes.LastIndexAny(text[:max(begin-1, 0)], " \n"); begin == 0 {
			return text
		}
	}
	return text[min(begin, len(text)):]
}

// Entropy returns the entropy of the source in bits per word, which is 0 if each word is certain. A source of a thousand words
// with equal probabilities, as in [Prompts], has an entropy of 9.97.
//
// The entropy is the mean, over all contexts, of the entropy of the next word (Claude Shannon, A Mathematical Theory of
// Communication, section 7, https://doi.org/10.1002/j.1538-7305.1948.tb01338.x). A context has the same frequency in the
// texts of the source as in the corpus, because the corpus is a circle.
func (s *Source) Entropy() float64 {
	bits, corpus := 0.0, 0
	for context, after := range s.after[len(s.after)-1] {
		p := map[string]float64{} // of each word that may come next
		for _, word := range after {
			p[word] += s.share / float64(len(after))
		}
		if s.share < 1 {
			_, fewer, _ := strings.Cut(context, " ")
			others := s.after[len(s.after)-2][fewer]
			for _, word := range others {
				p[word] += (1 - s.share) / float64(len(others))
			}
		}
		for _, p := range p {
			bits -= p * math.Log2(p) * float64(len(after))
		}
		corpus += len(after)
	}
	return bits / float64(corpus)
}
