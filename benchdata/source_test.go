package benchdata

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

func mustSource(t testing.TB, order float64) *Source {
	t.Helper()
	s, err := NewSource(order)
	assert.NilError(t, err)
	return s
}

// circleCounts returns how often each sequence of at most four words occurs in the sonnets, whose first word comes after
// the last one.
func circleCounts() map[string]float64 {
	counts := map[string]float64{}
	words := strings.Fields(sonnetsText)
	circle := slices.Concat(words, words[:mostOrder+1])
	for i := range words {
		for k := range mostOrder + 2 {
			counts[strings.Join(circle[i:i+k], " ")]++
		}
	}
	return counts
}

// TestEntropy compares the entropy of sources with the entropy of 100,000 words that they draw: the mean of -log2 of each word's
// probability, and for whole orders, which have few different words after a context, also with the entropy of the frequencies of the
// drawn words.
func TestEntropy(t *testing.T) {
	counts := circleCounts()
	for _, tt := range []struct {
		order float64
		want  string
	}{{0, "9.18"}, {0.5, "6.55"}, {0.9, "3.21"}, {1, "2.06"}, {1.5, "1.50"}, {2, "0.10"}, {2.5, "0.08"}, {3, "0.00"}} {
		source := mustSource(t, tt.order)
		entropy := source.Entropy()
		assert.Equal(t, fmt.Sprintf("%.2f", entropy), tt.want, "order %g", tt.order)

		const words = 100_000
		k := int(math.Ceil(tt.order))
		random := seeded(1, 0)
		last := strings.Fields(sonnetsText)[:k]
		surprise, before, after := 0.0, map[string]float64{}, map[string]float64{} // how often each context, and each with the next word
		for range words {
			next := source.next([]byte(strings.Join(last, " ")), random)
			p := 0.0
			for from, share := range []float64{1 - (float64(k) - tt.order), float64(k) - tt.order} {
				if share > 0 {
					context := last[from:]
					p += share * counts[strings.Join(append(context[:len(context):len(context)], next), " ")] / counts[strings.Join(context, " ")]
				}
			}
			surprise -= math.Log2(p) / words
			before[strings.Join(last, " ")]++
			last = append(last[:k:k], next)
			after[strings.Join(last, " ")]++
			last = last[1:]
		}
		assert.Assert(t, math.Abs(surprise-entropy) < 0.02, "order %g: %.4f bits per word of the drawn words, %.4f of the source", tt.order, surprise, entropy)
		if tt.order != math.Floor(tt.order) {
			continue
		}
		frequencies := 0.0
		for sequence, n := range after {
			frequencies -= n / words * math.Log2(n/before[sequence[:max(strings.LastIndex(sequence, " "), 0)]])
		}
		assert.Assert(t, math.Abs(frequencies-entropy) < 0.02, "order %g: %.4f bits per word of the frequencies, %.4f of the source", tt.order, frequencies, entropy)
	}
}

// TestMarkovGolden compares texts of some orders with a golden file, because a seed gives the same texts on every machine.
func TestMarkovGolden(t *testing.T) {
	var b strings.Builder
	for _, spec := range []string{"markov:order=0", "markov:order=0.5", "markov", "markov:order=1.5", "markov:order=2,prefix=8", "markov:order=3,input=20..40"} {
		for _, salt := range []uint64{0, 1} {
			w, err := Open(withInput(spec), Options{Seed: 1, Salt: salt})
			assert.NilError(t, err)
			requests, err := w.Requests(2)
			assert.NilError(t, err)
			for _, r := range requests {
				fmt.Fprintf(&b, "%s salt %d: %d %d %q\n", spec, salt, r.PromptTokens, r.MaxTokens, r.Prompt)
			}
		}
	}
	golden.Assert(t, b.String(), "markov.golden")
}

func withInput(spec string) string {
	switch {
	case strings.Contains(spec, "input="):
		return spec
	case strings.Contains(spec, ":"):
		return spec + ",input=24"
	}
	return spec + ":input=24"
}

// TestMarkovIsExact checks that texts of a source have exactly the wanted number of tokens, although only few words can follow
// the words before them, and that no two texts begin alike.
func TestMarkovIsExact(t *testing.T) {
	t.Parallel()
	for name, tok := range exactTokenizers(t) {
		for _, order := range []float64{0, 0.5, 1, 2, 3} {
			for _, input := range []int{1, 2, 3, 5, 8, 16, 33, 128, 511} {
				if name == "letters" && input < 5 || strings.HasSuffix(name, "2") && input == 1 {
					continue // no word is that short
				}
				d := Drawn{Input: mustParse(t, fmt.Sprint(input)), Output: mustParse(t, "9"), Source: mustSource(t, order), Seed: uint64(input), Tokenizer: tok}
				requests, err := d.Requests(20)
				assert.NilError(t, err, "%s, order %g, input %d", name, order, input)
				first := map[string]bool{}
				for _, r := range requests {
					assert.Equal(t, orWords(tok).Count(r.Prompt), input, "%s, order %g: %q", name, order, r.Prompt)
					first[strings.Join(strings.Fields(r.Prompt)[:min(2, len(strings.Fields(r.Prompt)))], " ")] = true
				}
				assert.Assert(t, len(first) == len(requests) || input < 16, "%s, order %g, input %d: %d different beginnings", name, order, input, len(first))
			}
		}
	}
}

// TestMarkovErrors checks that errors name the data set and what is allowed.
func TestMarkovErrors(t *testing.T) {
	for _, order := range []float64{-0.1, 3.1, math.NaN(), math.Inf(1)} {
		_, err := NewSource(order)
		assert.Error(t, err, fmt.Sprintf("order is %v: want a number from 0 to 3", order))
	}
	for _, tt := range []struct{ spec, want string }{
		{"markov:order=4", `dataset "markov:order=4": parameter order=4: want a number from 0 to 3`},
		{"markov:order=", "parameter order=: want a number from 0 to 3"},
		{"markov:order=two", "parameter order=two: want a number from 0 to 3"},
		{"markov:words=2", "parameter words: want one of input, lengths, order, output, prefix"},
		{"markov:x", "markov reads no file"},
		{"markov:lengths=no.csv", "markov: open no.csv: no such file"},
	} {
		w, err := Open(tt.spec, Options{})
		if err == nil {
			_, err = w.Requests(1)
		}
		assert.ErrorContains(t, err, tt.want)
	}
	_, err := Drawn{Source: mustSource(t, 1), Input: mustParse(t, "5"), Output: mustParse(t, "5")}.Requests(0)
	assert.Error(t, err, "markov: 0 requests: want at least 1")
}
