// Package prefix finds out whether prompts were sent before, and whether a server answers such prompts
// sooner than new ones because it keeps the beginnings of prompts in a prefix cache.
//
// Caches compare prompts from the beginning, in blocks of 16 tokens or more
// (https://docs.vllm.ai/en/latest/design/prefix_caching/). So this package only compares beginnings.
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
	// shortest is the minimum length of a prompt in bytes: a shorter prompt does not fill a block of
	// tokens. An English token has about four bytes.
	shortest = 64
	// compared is the maximum length in bytes of the beginning that is compared.
	compared = 256
	// most is the maximum number of openings that are remembered. Further openings are compared with these,
	// but not remembered.
	most = 1 << 20
)

// An Opening is a hash of the beginning of a prompt. It is 0 if the prompt is too short for a cache.
type Opening uint64

var seed = maphash.MakeSeed()

// Of returns the opening of a prompt that consists of the given texts.
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

// Sent remembers the openings of the prompts that a process has sent, by server. The zero value has none. A
// Sent is safe for concurrent use.
type Sent struct {
	mu  sync.Mutex
	all map[key]struct{}
}

type key struct {
	server  string
	opening Opening
}

// Add adds prompts that are sent to a server. It returns how many of them begin like an earlier prompt.
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

// Shuffle returns text with its words in a random order, or its characters if it has few words. The result
// has the same length as text, nearly as many tokens, and another beginning.
func Shuffle(text string, r *rand.Rand) string {
	separator := " "
	if strings.Count(text, separator) < 8 {
		separator = ""
	}
	parts := strings.Split(text, separator)
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, separator)
}

// A Pair has two times to first token: of a prompt that was sent before, and of a new prompt of the same
// length. The two were sent one after the other.
type Pair struct{ Repeated, New time.Duration }

// Pairs is the recommended number of pairs for a verdict. It is the largest number for which a verdict with
// 95 % confidence tolerates two pairs that contradict it. So single delays do not decide, but few requests
// are enough.
const Pairs = 11

// A Verdict is the result of comparing pairs.
type Verdict struct {
	Warm, Cold bool    // Warm: prompts that were sent before are answered sooner; Cold: they are not; neither: unknown
	Ratio      float64 // median of Repeated / New; 0 without pairs
	Pairs      int
}

const (
	warmBelow = 0.95
	coldAbove = 0.9
)

// Judge compares pairs by the ratio Repeated / New, whose median would be 1 without a cache. The verdict is
// warm if the upper confidence bound of the median is below 0.95, and cold if the lower confidence bound is
// above 0.9. Each bound has 95 % confidence, by order statistics ([sample.BoundRank]). This is a sign
// test, which assumes nothing about the shape of the distribution. The verdict is neither if there are
// fewer than five pairs, or if the median is too uncertain.
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
