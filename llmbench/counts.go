package llmbench

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Counter is an [Observer] that counts what the server answered.
type Counter interface {
	Observer
	// Counts returns what the server says, by now, of the pass that Before was
	// last called for. It may be called again: a server may count an answer a
	// moment after its end was read. An error is logged, and nothing is
	// compared.
	Counts(ctx context.Context) (Counts, error)
}

// Counts are what a server says of the requests of a pass. What it does not say
// is -1.
type Counts struct {
	Requests     int // that have ended
	PromptTokens int
	OutputTokens int
	// Exact tells that the server counts as its answers state, and that nobody
	// else sends it requests: it has not counted more than the client either. Counts
	// that differ fail the benchmark then; else they are told.
	Exact bool
}

// countsDelay is how long a server may take to count what it has answered.
const countsDelay = 2 * time.Second

// checkCounts asks what the server counted in a pass until it agrees with the
// samples, at most for countsDelay, and returns how it does not. The client's
// counts are of successful requests, so that the server's must not be less; if all
// were successful, sent once, and with usage, those of an exact one must not be
// more. It returns, too, whether the server is exact.
func checkCounts(ctx context.Context, c Counter, samples []sample.Sample) (differs string, exact bool, err error) {
	deadline := time.Now().Add(countsDelay)
	for wait := time.Millisecond; ; wait *= 2 {
		server, err := c.Counts(ctx)
		if err != nil {
			return "", false, err
		}
		if differs = compareCounts(server, samples); differs == "" || time.Now().Add(wait).After(deadline) {
			return differs, server.Exact, nil
		}
		if err := sleep(ctx, wait); err != nil {
			return "", false, err
		}
	}
}

// compareCounts says how the counts of a server and of the client differ, or "".
func compareCounts(server Counts, samples []sample.Sample) string {
	var requests, prompt, output int
	exact, usage, prompts := server.Exact, true, true
	for i := range samples {
		s := &samples[i]
		if s.Outcome != sample.OK || s.Resent > 0 {
			exact = false
		}
		if s.Outcome != sample.OK {
			continue
		}
		requests++
		prompts = prompts && s.PromptTokens > 0
		prompt += s.PromptTokens
		if s.TokenSource == sample.FromUsage {
			output += s.OutputTokens
		} else {
			usage = false
		}
	}
	for _, c := range []struct {
		what           string
		server, client int
		exact          bool
	}{
		{"requests", server.Requests, requests, exact},
		{"prompt tokens", server.PromptTokens, prompt, exact && prompts},
		{"output tokens", server.OutputTokens, output, exact && usage},
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
