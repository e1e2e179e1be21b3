package llmbench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"gotest.tools/v3/assert"
)

// A lagging server answers each request with the answer to the request before, and does not say whose answer it is.
type lagging struct {
	mu     sync.Mutex
	before int // length of the answer to the request before
	by     int // 1 if the fault is on
}

func (l *lagging) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		MaxTokens int `json:"max_tokens"`
	}
	json.NewDecoder(r.Body).Decode(&q)
	l.mu.Lock()
	n := q.MaxTokens
	if l.by == 1 && l.before > 0 {
		n = l.before
	}
	l.before = q.MaxTokens
	l.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, strings.Repeat(`data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n", n))
	fmt.Fprintf(w, `data: {"choices":[{"delta":{},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":%d}}`+"\n\ndata: [DONE]\n\n", n)
}

// TestAnswersOfOthers checks that answers to the wrong requests are noticed in the warm-up, although all requests of
// the load have the same length.
func TestAnswersOfOthers(t *testing.T) {
	for _, c := range []struct{ by, out, concurrency int }{{0, 32, 4}, {1, 32, 1}, {1, 32, 4}, {1, 8, 1}} {
		synctest.Test(t, func(t *testing.T) {
			target, stop := inMemory(t, &lagging{by: c.by})
			defer stop()
			target.Simulated = true
			_, err := Pass(t.Context(), "", target, Load{Requests: words(8, c.out), Warmup: words(8, c.out), Concurrency: c.concurrency})
			if c.by == 0 {
				assert.NilError(t, err)
				return
			}
			assert.ErrorContains(t, err, "warm-up: the answers are mixed up: ")
		})
	}
}

// TestVaried checks which requests of a warm-up ask for less.
func TestVaried(t *testing.T) {
	var got []int
	for _, n := range []int{128, 17, 18, 16, 8, 3, 2, 1} {
		all := varied([]Request{{}, {MaxTokens: n}})
		got = append(got, all[1].MaxTokens)
	}
	assert.DeepEqual(t, got, []int{126, 17, 16, 16, 6, 1, 2, 1})
	assert.Equal(t, varied([]Request{{MaxTokens: 9}})[0].MaxTokens, 9)
}
