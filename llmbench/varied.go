package llmbench

import "slices"

const (
	// shortened is by how many tokens every second request of the warm-up asks for less. Some servers count
	// one token too many, so the difference is larger.
	shortened = 2
	// leastLimit is the smallest limit that every API allows.
	leastLimit = 16
)

// varied returns the requests of a warm-up with different lengths: every second one asks for a few tokens less.
// A server or gateway that gives answers to the wrong requests then gives some that are too long, which
// judge.MixedUp finds. Otherwise nothing would show such a fault if all requests of a load have the same length
// and the server does not repeat their IDs.
func varied(requests []Request) []Request {
	all := slices.Clone(requests)
	for i := range all {
		r := &all[i]
		if i%2 == 0 || len(r.Then) > 0 || r.Tools != nil || r.Schema != nil || r.Check != nil {
			continue
		}
		if less := r.MaxTokens - shortened; less >= leastLimit || r.MaxTokens < leastLimit && less > 0 {
			r.MaxTokens = less
		}
	}
	return all
}
