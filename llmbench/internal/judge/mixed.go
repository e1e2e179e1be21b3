package judge

import (
	"fmt"
	"iter"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const (
	// overrun is the number of tokens above the limit that a right answer may have: some servers count the
	// token that ends the answer.
	overrun = 1
	// manyMixed is the smallest share of mixed-up answers that MixedUp reports, among the answers that can show it.
	manyMixed = 0.1
)

// MixedUp returns a text if answers have the length that other requests asked for, and more than their own request
// allowed, while other answers are too short in the same way: the server, or something before it, has then given
// answers to the wrong requests. It returns "" if nothing shows that. Only requests that allow different lengths can
// show it. If all answers have the same length, whatever was asked for, the server ignores the limit.
func MixedUp(samples iter.Seq[*sample.Sample]) string {
	asked := map[int]bool{}
	longest := 0
	for s := range samples {
		asked[s.MaxTokens] = true
		longest = max(longest, s.MaxTokens)
	}
	var first sample.Sample
	mixed, judged, short := 0, 0, false
	for s := range samples {
		short = short || s.OutputTokens < s.MaxTokens && asked[s.OutputTokens]
		if s.MaxTokens == 0 || s.OutputTokens == 0 || s.MaxTokens+overrun >= longest {
			continue
		}
		judged++
		if s.OutputTokens > s.MaxTokens+overrun && asked[s.OutputTokens] {
			if mixed++; mixed == 1 {
				first = *s
			}
		}
	}
	if mixed < 2 || !short || float64(mixed) < manyMixed*float64(judged) {
		return ""
	}
	return fmt.Sprintf("the answers are mixed up: %d of %d are longer than their request allows and as long as another request allows; the first is request %d %s, with %d output tokens of at most %d. Look for a gateway that gives answers to the wrong requests", mixed, judged, first.Request, first.ID, first.OutputTokens, first.MaxTokens)
}
