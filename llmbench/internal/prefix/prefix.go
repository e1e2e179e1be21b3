// Package prefix tells whether prompts were sent before, and whether a server answers such prompts
// sooner than new ones, because it keeps the beginnings of prompts in a prefix cache.
//
// Caches compare prompts from their beginning, in blocks of 16 tokens or more
// (https://docs.vllm.ai/en/latest/design/prefix_caching/). So only beginnings count here.
package prefix

import (
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const (
	// shortest is how many bytes a text needs so that a block of tokens is found again. An English
	// token has about four.
	shortest = 64
	// compared is how many bytes of a text its opening has at most.
	compared = 256
	// most is the number of openings that are remembered. Further ones are compared with these.
	most = 1 << 20
)

// An Opening stands for the beginning of a prompt. 0 stands for a prompt which is too short for a
// cache.
type Opening uint64

var seed = maphash.MakeSeed()

// Of returns the opening of the texts of a prompt, in their order.
func Of(texts ...string) Opening {
	var h maphash.Hash
	h.SetSeed(seed)
	n := 0
	for _, t := range texts {
		t = t[:min(len(t), compared-n)]
		n += len(t)
		h.WriteString(t)
		h.WriteByte(0)
	}
	if n < shortest {
		return 0
	}
	return Opening(max(1, h.Sum64()))
}

// Sent are the openings of the prompts that a process has sent, by server. Its zero value has none. It is safe
// for concurrent use.
type Sent struct {
	mu  sync.Mutex
	all map[key]struct{}
}

type key struct {
	server  string
	opening Opening
}

// Add adds prompts that are sent to a server, and returns how many of them begin like an earlier one.
func (s *Sent) Add(server string, openings []Opening) (repeated int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[key]struct{}{}
	}
	for _, o := range openings {
		if o == 0 {
			continue
		}
		k := key{server, o}
		if _, found := s.all[k]; found {
			repeated++
		} else if len(s.all) < most {
			s.all[k] = struct{}{}
		}
	}
	return repeated
}

// Shuffle returns the words of text in a random order, or its characters if it has few words. The result has
// the length of text, nearly as many tokens, and another beginning.
func Shuffle(text string, r *rand.Rand) string {
	separator := " "
	if strings.Count(text, separator) < 8 {
		separator = ""
	}
	parts := strings.Split(text, separator)
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, separator)
}

// A Pair is the times to the first token of a prompt that was sent before, and of a new one of the same
// length, which were sent one after the other.
type Pair struct{ Repeated, New time.Duration }

// Pairs is how many pairs a verdict should have: the most pairs for which a verdict with 95 % confidence
// tolerates two contradictions. So single delays do not decide, and few requests are enough.
const Pairs = 11

// A Verdict says what pairs tell.
type Verdict struct {
	Warm, Cold bool    // prompts that were sent before are answered sooner, or not; neither: the pairs cannot tell
	Ratio      float64 // median of Repeated / New; 0 without pairs
	Pairs      int
}

const (
	warmBelow = 0.95
	coldAbove = 0.9
)

// Judge compares pairs by the ratio Repeated / New, whose median would be 1 without a cache. The prompts
// that were sent before are warm if the upper confidence bound of the median is below 0.95, and cold if
// the lower one is above 0.9, each with 95 % confidence by order statistics ([sample.BoundRank]). That
// is a sign test, which assumes no shape of the distribution. With fewer than five pairs, or if the
// median is too uncertain, Judge cannot tell.
func Judge(pairs []Pair) Verdict {
	var ratios []float64
	for _, p := range pairs {
		if p.New > 0 {
			ratios = append(ratios, float64(p.Repeated)/float64(p.New))
		}
	}
	n := len(ratios)
	v := Verdict{Pairs: n}
	if n == 0 {
		return v
	}
	slices.Sort(ratios)
	v.Ratio = (ratios[(n-1)/2] + ratios[n/2]) / 2
	if k, known := sample.BoundRank(n, 0.5); known {
		v.Warm = ratios[k-1] < warmBelow
		v.Cold = !v.Warm && ratios[n-k] > coldAbove
	}
	return v
}
