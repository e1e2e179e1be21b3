package scenarios

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A logEntry is what the log of a simulated server says about a request. Its times are on the server's clock;
// mockserver.Entry describes them.
type logEntry struct {
	ID       string          `json:"id"`
	Accepted time.Duration   `json:"accepted_ns"`
	Received time.Duration   `json:"received_ns"`
	Tokens   []time.Duration `json:"tokens_ns"` // equal times are one write
	End      time.Duration   `json:"end_ns"`
	Status   int             `json:"status"`
	Aborted  bool            `json:"aborted"`
}

// reached returns when the request reached the server. If the log does not say when the kernel received the request, it is
// when the server began to handle it: the server's wait for a CPU is then a part of what a gateway seems to add.
func (e logEntry) reached() time.Duration { return cmp.Or(e.Received, e.Accepted) }

// firstToken returns the time from when the request reached the server to the first token.
func (e logEntry) firstToken() time.Duration { return e.Tokens[0] - e.reached() }

// A serverLog holds the entries of answers that are complete, by the X-Request-Id of their requests. If a gateway sent a
// request several times, the entry is of the last complete answer.
type serverLog map[string]logEntry

// askLog sends a request for the log of a simulated server.
func askLog(ctx context.Context, t llmbench.Target, method string) (*http.Response, error) {
	base, client, err := t.Client()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, base+"/mock/log", nil)
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

// emptyLog removes what the log of a simulated server has, so that reading it takes less time.
func emptyLog(ctx context.Context, t llmbench.Target) error {
	resp, err := askLog(ctx, t, http.MethodDelete)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// readLog reads the log of a simulated server. It returns nil without an error if the server has none, as real servers.
func readLog(ctx context.Context, t llmbench.Target) (serverLog, error) {
	resp, err := askLog(ctx, t, http.MethodGet)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Mock-Epoch-Unix-Ns") == "" {
		return nil, nil
	}
	log := serverLog{}
	d := json.NewDecoder(resp.Body)
	if _, err := d.Token(); err != nil { // the beginning of the array
		return nil, fmt.Errorf("log of the simulated server: %w", err)
	}
	for d.More() {
		var e logEntry
		if err := d.Decode(&e); err != nil {
			return nil, fmt.Errorf("log of the simulated server: %w", err)
		}
		if e.Status == http.StatusOK && !e.Aborted && len(e.Tokens) > 0 {
			e.Tokens = slices.Compact(e.Tokens)
			log[e.ID] = e
		}
	}
	return log, nil
}

// covers reports whether the log has an entry for each successful request of samples.
func (l serverLog) covers(samples iter.Seq[*sample.Sample]) bool {
	for s := range samples {
		if _, known := l[s.ID]; !known && s.Outcome == sample.OK {
			return false
		}
	}
	return true
}
