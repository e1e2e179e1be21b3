package judge

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// unknownEnds has the successful answers whose finish reason does not show that they are complete.
type unknownEnds struct {
	reasons map[string]int // number of answers by finish reason, quoted
	open    bool           // the request of such an answer did not ask for an exact number of tokens
}

// findUnknownEnds finds the answers that ended with an unknown finish reason. If a request asked for an exact
// number of tokens, the answer has them; otherwise the request has failed.
func findUnknownEnds(samples iter.Seq[*sample.Sample]) unknownEnds {
	u := unknownEnds{reasons: map[string]int{}}
	for s := range samples {
		if s.Outcome != sample.OK || !s.UnknownFinish {
			continue
		}
		reason := "none"
		if s.Finish != "" {
			reason = strconv.Quote(s.Finish)
		}
		countName(u.reasons, reason)
		u.open = u.open || !s.FixedOutput
	}
	return u
}

// describe returns a text about the answers, or "" if there are none. The result doubt says that answers may be
// cut. The argument requests is the number of all requests.
func (u unknownEnds) describe(requests int) (text string, doubt bool) {
	n := 0
	for _, count := range u.reasons {
		n += count
	}
	if n == 0 {
		return "", false
	}
	text = fmt.Sprintf("%d of %d answers ended with a finish reason that the API does not document: %s", n, requests, tally(u.reasons))
	if u.open {
		return text + ": these answers may be cut, because the requests did not ask for an exact number of tokens; see the server's log", true
	}
	return text + "; they have all tokens that were asked for", false
}
