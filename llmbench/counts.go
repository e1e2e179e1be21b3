package llmbench

import (
	"context"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
)

// A Counter is an [Observer] that also returns the server's own counts of requests and tokens. [Run]
// compares them with the client's counts.
type Counter interface {
	Observer
	// Counts returns what the server has counted since the last call of Before. It may be called several
	// times for a pass, because a server may count an answer a moment after the client has read the end of
	// the answer. An error is logged, and nothing is compared.
	Counts(ctx context.Context) (Counts, error)
}

// Counts are the numbers that a server counted in a pass. A number that is unknown is -1.
type Counts struct {
	Requests     int // number of requests that have ended
	PromptTokens int
	OutputTokens int
	// Complete means two things: the server counts each request of the pass, with the tokens that its
	// answer reports, and the counts contain no earlier request. If such a server has counted less than its
	// answers report, the benchmark fails. Without Complete the difference is only logged, because the
	// counters may belong to one of several server processes.
	Complete bool
	// Alone means that the server has no other clients. If Complete and Alone are set and the server has
	// counted more than its answers report, the benchmark fails. Otherwise the difference is only logged.
	Alone bool
}

// countsDelay is the maximum time that a server may take to count what it has answered.
const countsDelay = 2 * time.Second

// checkCounts compares the server's counts with the client's counts in a pass. While the server has counted
// less than its answers report, checkCounts asks again, for up to delay. It returns the counts that it
// compared.
func checkCounts(ctx context.Context, c Counter, own judge.Own, delay time.Duration) (judge.Counts, judge.Difference, error) {
	deadline := time.Now().Add(delay)
	for wait := time.Millisecond; ; wait *= 2 {
		counts, err := c.Counts(ctx)
		if err != nil {
			return judge.Unknown, judge.Difference{}, err
		}
		server := judge.Counts(counts)
		d := own.Compare(server)
		if !d.Fewer || time.Now().Add(wait).After(deadline) {
			return server, d, nil
		}
		if err := send.Sleep(ctx, wait); err != nil {
			return server, judge.Difference{}, err
		}
	}
}

// tokenizedAnswers is the number of answers of each pass whose text is tokenized even though the server
// reports usage. The number is limited because tokenizing takes CPU time from the client.
const tokenizedAnswers = 64
