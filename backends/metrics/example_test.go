package metrics_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// This example reads the metrics of a server that this module does not know. If Observe is in the
// target, llmbench.Run calls Before and After around each pass.
func ExampleSource_Observe() {
	var queries, hits atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE my_cache_queries_total counter\nmy_cache_queries_total %d\n", queries.Load())
		fmt.Fprintf(w, "# TYPE my_cache_hits_total counter\nmy_cache_hits_total %d\n", hits.Load())
	}))
	defer server.Close()
	observer := metrics.Source{
		Addresses: []metrics.Address{{Target: llmbench.Target{URL: server.URL}}},
		Names: metrics.Names{
			Path:         "/metrics",
			CacheQueries: metrics.Alternatives{"my_cache_queries_total"},
			CacheHits:    metrics.Alternatives{"my_cache_hits_total"},
		},
	}.Observe()
	ctx := context.Background()
	if err := observer.Before(ctx); err != nil {
		log.Fatal(err)
	}
	queries.Store(1000) // during the pass
	hits.Store(250)
	figures, err := observer.After(ctx)
	fmt.Println(figures, err)
	// Output: map[srv-prefix-hit-%:25] <nil>
}
