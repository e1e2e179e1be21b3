package mockserver

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// An endless stream continues at the server's rate. Its slot becomes free when the client
// hangs up.
func TestEndless(t *testing.T) {
	for _, tt := range []struct {
		per  time.Duration
		want int // number of tokens in a second
	}{
		{100 * time.Millisecond, 10},
		{0, 1000 + 4}, // five tokens at once, as requested, and then one per millisecond
	} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, Config{PerToken: tt.per, Slots: 1, Faults: []fault.Fault{{Kind: fault.Endless, Every: 2}}})
			r.must(textPath, `{"prompt":"a","max_tokens":1}`)
			start := time.Since(r.Epoch())
			ctx, cancel := context.WithTimeout(t.Context(), time.Second-time.Nanosecond)
			defer cancel()
			resp, err := r.post(ctx, textPath, `{"prompt":"a","max_tokens":5,"stream":true}`)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(string(body), "length") || strings.Count(string(body), "data: ") != tt.want {
				t.Errorf("%d events, %v, want %d", strings.Count(string(body), "data: "), err, tt.want)
			}
			r.must(textPath, `{"prompt":"a","max_tokens":1}`)
			log := r.Log()
			if e := log[1]; e.OutputTokens != tt.want || !e.Aborted || e.Fault != fault.Endless {
				t.Errorf("Log()[1] has %d tokens, aborted %v, fault %q, want %d, true", e.OutputTokens, e.Aborted, e.Fault, tt.want)
			}
			if got := log[2].Admitted - start; got != time.Second-time.Nanosecond {
				t.Errorf("the next request was admitted after %v, want %v, when the client hung up", got, time.Second-time.Nanosecond)
			}
		})
	}
}
