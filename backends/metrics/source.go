package metrics

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A Source is a server whose metrics are read.
type Source struct {
	Names  Names
	Target llmbench.Target // the server, with the URL of the port that serves the metrics
	// Reset, if not nil, empties the server's prefix cache. It is called before
	// each pass. An error that wraps [errors.ErrUnsupported] is only logged:
	// this version of the server cannot do it.
	Reset func(context.Context) error
	Logf  func(format string, args ...any) // nil logs nothing
}

// A snapshot holds the values of a server's metrics at one instant, or the
// differences of two snapshots. A metric that the server does not have is nil.
type snapshot struct {
	cacheHits, cacheQueries, preemptions, queueSum, queueCount *float64
	requests, promptTokens, outputTokens                       *float64
	cacheHitRate, kvUsage, openRequests                        *float64
}

// counters returns the fields of which differences are taken.
func (s *snapshot) counters() []**float64 {
	return []**float64{&s.cacheHits, &s.cacheQueries, &s.preemptions, &s.queueSum, &s.queueCount, &s.requests, &s.promptTokens, &s.outputTokens}
}

// valueOr0 returns *v, or 0 if v is nil.
func valueOr0(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// scrape reads the server's metrics.
func (s Source) scrape(ctx context.Context) (snap snapshot, err error) {
	if s.Names.Path == "" {
		return snap, nil
	}
	body, err := probe.Fetch(ctx, s.Target, http.MethodGet, s.Names.Path, "")
	if err != nil {
		return snap, err
	}
	all, err := parse(body)
	if err != nil {
		return snap, fmt.Errorf("%s: %w", s.Names.Path, err)
	}
	n := s.Names
	snap.cacheHits, _ = all.sum(n.CacheHits)
	snap.cacheQueries, _ = all.sum(n.CacheQueries)
	snap.preemptions, _ = all.sum(n.Preemptions)
	snap.queueSum, snap.queueCount = all.sum(n.QueueTime)
	snap.requests, _ = all.sum(n.Requests)
	snap.promptTokens, _ = all.sum(n.PromptTokens)
	snap.outputTokens, _ = all.sum(n.OutputTokens)
	snap.cacheHitRate = all.mean(n.CacheHitRate)
	snap.kvUsage = all.mean(n.KVUsage)
	snap.openRequests = all.mean(n.OpenRequests)
	return snap, nil
}
