package benchdata

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Mix divides the requests of a workload among several models, LoRA adapters or tenants, by weight. Each
// share gets the number of requests that its weight asks for, rounded by the method of the largest
// remainder (https://en.wikipedia.org/wiki/Largest_remainder_method). The requests of the shares are in
// random order.
type Mix struct {
	// Of is the workload. Its requests keep their texts, lengths and order.
	Of Workload
	// Shares are the models. There must be at least one.
	Shares []Share
	// Seed determines which request belongs to which share.
	Seed uint64
}

// A Share is one of the models, adapters or tenants of a [Mix].
type Share struct {
	// Weight is the relative number of requests; above 0.
	Weight float64
	// Model is the name of the model or adapter; "" leaves the request's own.
	Model string
	// Header has further fields of the request's header, such as a priority. They replace the request's own
	// fields of the same names.
	Header http.Header
}

// Requests returns n requests, or fewer if the workload has fewer.
func (m Mix) Requests(n int) ([]llmbench.Request, error) {
	if m.Of == nil {
		return nil, errors.New("mix: no workload: want one in the field Of")
	}
	sum := 0.0
	for _, s := range m.Shares {
		if !(s.Weight > 0) || math.IsInf(s.Weight, 0) {
			return nil, fmt.Errorf("mix: weight %v of the model %q: want a number above 0", s.Weight, s.Model)
		}
		sum += s.Weight
	}
	if len(m.Shares) == 0 {
		return nil, errors.New("mix: no shares: want at least one")
	}
	requests, err := m.Of.Requests(n)
	if err != nil {
		return nil, err
	}
	requests = slices.Clone(requests) // the workload may keep its own
	of := m.divide(len(requests), sum)
	for i, share := range of {
		r, s := &requests[i], m.Shares[share]
		if s.Model != "" {
			r.Model = s.Model
		}
		if len(s.Header) > 0 {
			header := http.Header{}
			for _, h := range []http.Header{r.Header, s.Header} {
				for name, values := range h {
					header[http.CanonicalHeaderKey(name)] = values
				}
			}
			r.Header = header
		}
	}
	return requests, nil
}

// divide returns the index of the share of each of n requests. The argument sum is the sum of the weights.
func (m Mix) divide(n int, sum float64) []int {
	counts, rest := make([]int, len(m.Shares)), make([]float64, len(m.Shares))
	left, order := n, make([]int, len(m.Shares))
	for i, s := range m.Shares {
		whole, remainder := math.Modf(float64(n) * (s.Weight / sum))
		counts[i], rest[i], order[i] = int(whole), remainder, i
		left -= counts[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for k := range left {
		counts[order[k%len(order)]]++
	}
	var of []int
	for i, count := range counts {
		of = append(of, slices.Repeat([]int{i}, count)...)
	}
	random := rand.New(rand.NewPCG(m.Seed, 0x6d6978))
	random.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of
}
