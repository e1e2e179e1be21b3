package wire

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// items are the inputs of a request for vectors or scores.
type items struct {
	query     string
	texts     []string // the inputs; token ids become a text of numbers
	tokens    int      // in all inputs; the query counts once for each document
	base64    bool
	length    int  // of the vectors; 0 for scores
	top       int  // maximum number of results of a ranking
	unsorted  bool // scores come in the order of the documents
	documents bool // the results of a ranking contain the documents
	fewer     bool // the last item is missing, because of a fault
	shift     int  // not 0 if the items are wrong, because of a fault
}

// vectorLength is the length of a vector, unless a request asks for a shorter one.
const vectorLength = 384

// vectors returns the vector of each text. A vector depends only on its text. It has the length 1, and
// random directions are nearly perpendicular, so that different texts are not similar.
func (q *items) vectors() [][]float32 {
	all := make([][]float32, len(q.texts))
	for i, text := range q.texts {
		all[i] = vector(text, q.length, q.shift)
	}
	if q.fewer {
		all = all[:len(all)-1]
	}
	return all
}

// vector returns the first n elements of the vector of a text, scaled to the length 1. A shift other than 0
// gives the vector of another text.
func vector(text string, n, shift int) []float32 {
	random := rand.New(rand.NewPCG(textHash(text), uint64(shift)))
	v := make([]float32, n)
	sum := 0.0
	for i := range v {
		x := random.NormFloat64()
		v[i] = float32(x)
		sum += x * x
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

func textHash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// vectorBase64 returns a vector as base64 of 32-bit little-endian numbers.
func vectorBase64(v []float32) string {
	var raw []byte
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// A score is the relevance of a document.
type score struct {
	index int
	score float64
}

// scores returns the scores of the documents, the highest first unless q.unsorted is set. A score is mainly
// the share of the query's words that the document has. The rest, less than 0.1, depends on the document's
// text.
func (q *items) scores() []score {
	words := strings.Fields(q.query)
	all := make([]score, len(q.texts))
	for i, text := range q.texts {
		own := strings.Fields(text)
		found := 0
		for _, w := range words {
			if slices.Contains(own, w) {
				found++
			}
		}
		share := float64(found) / float64(max(len(words), 1))
		all[i] = score{i, 0.9*share + 0.1*float64(textHash(text)>>40)/(1<<24)}
		if n := len(all); q.shift != 0 && n > 1 {
			all[i].index = (i + 1 + q.shift%(n-1)) % n // never i
		}
	}
	slices.SortStableFunc(all, func(a, b score) int {
		if q.unsorted {
			return a.index - b.index
		}
		return cmp.Compare(b.score, a.score)
	})
	if q.top > 0 {
		all = all[:min(q.top, len(all))]
	}
	if q.fewer {
		all = all[:len(all)-1]
	}
	return all
}
