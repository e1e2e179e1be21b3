package llmbench

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Counter is an [Observer] that also returns what the server counted.
type Counter interface {
	Observer
	// Counts returns what the server has counted since the last call of Before. It may be
	// called several times for a pass, because a server may count an answer a moment after
	// the client has read its end. An error is logged, and nothing is compared.
	Counts(ctx context.Context) (Counts, error)
}

// Counts are what a server counted in a pass. A number that is unknown is -1.
type Counts struct {
	Requests     int // that have ended
	PromptTokens int
	OutputTokens int
	// Exact means that the server counts tokens as its answers state them, and that it has
	// no other clients. Then its counts must be equal to the client's, and counts that
	// differ fail the benchmark. Otherwise they are logged.
	Exact bool
}

// countsDelay is how long a server may take to count what it has answered.
const countsDelay = 2 * time.Second

// checkCounts compares the counts of a server with the samples of a pass. It asks again, for
// up to countsDelay, until they agree. It returns a description of the difference, or "", and
// whether the server's counts are exact.
//
// The client counts successful requests only, so that the server's counts must not be lower.
// They must not be higher either if the server's are exact and each request succeeded, was
// sent once and has usage.
func checkCounts(ctx context.Context, c Counter, samples iter.Seq[*sample.Sample]) (difference string, exact bool, err error) {
	own := countOwn(samples)
	deadline := time.Now().Add(countsDelay)
	for wait := time.Millisecond; ; wait *= 2 {
		server, err := c.Counts(ctx)
		if err != nil {
			return "", false, err
		}
		if difference = own.compare(server); difference == "" || time.Now().Add(wait).After(deadline) {
			return difference, server.Exact, nil
		}
		if err := sleep(ctx, wait); err != nil {
			return "", false, err
		}
	}
}

// ownCounts are what the client counted in a pass.
type ownCounts struct {
	requests, prompt, output int  // successful requests and their tokens
	once                     bool // each request succeeded and was sent once
	usage, prompts           bool // each successful request has output tokens, prompt tokens stated by the server
}

func countOwn(samples iter.Seq[*sample.Sample]) ownCounts {
	c := ownCounts{once: true, usage: true, prompts: true}
	for s := range samples {
		if s.Outcome != sample.OK || s.Resent > 0 {
			c.once = false
		}
		if s.Outcome != sample.OK {
			continue
		}
		c.requests++
		c.prompts = c.prompts && s.PromptTokens > 0
		c.prompt += s.PromptTokens
		if s.TokenSource == sample.FromUsage {
			c.output += s.OutputTokens
		} else {
			c.usage = false
		}
	}
	return c
}

// compare describes how the counts of a server differ from those of the client. It returns ""
// if they agree.
func (own ownCounts) compare(server Counts) string {
	exact := server.Exact && own.once
	for _, c := range []struct {
		what           string
		server, client int
		exact          bool
	}{
		{"requests", server.Requests, own.requests, exact},
		{"prompt tokens", server.PromptTokens, own.prompt, exact && own.prompts},
		{"output tokens", server.OutputTokens, own.output, exact && own.usage},
	} {
		switch {
		case c.server < 0:
		case c.server < c.client:
			return fmt.Sprintf("the server counted %d %s, and the client %d of successful requests", c.server, c.what, c.client)
		case c.exact && c.server > c.client:
			return fmt.Sprintf("the server counted %d %s, and the client %d", c.server, c.what, c.client)
		}
	}
	return ""
}
