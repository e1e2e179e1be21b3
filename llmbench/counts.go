package llmbench

import (
	"context"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
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
	// Complete means that the server counts each request of the pass, with the tokens that its
	// answer states, and none of before the pass. If it has counted less than it answered, the
	// benchmark fails. Without Complete that is logged: the counters may belong to one process of
	// several.
	Complete bool
	// Alone means that the server has no other clients. If it is also Complete and has counted more
	// than it answered, the benchmark fails. Otherwise that is logged.
	Alone bool
}

// countsDelay is how long a server may take to count what it has answered.
const countsDelay = 2 * time.Second

// checkCounts compares the counts of a server with the client's counts in a pass. While the server has
// counted less than it answered, checkCounts asks again, for up to delay. It returns the counts that it
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

// tokenizedAnswers is the number of answers of a pass whose text a tokenizer counts although the server
// states usage. Counting takes CPU time from the client.
const tokenizedAnswers = 64
