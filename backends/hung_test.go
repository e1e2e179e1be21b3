package backends

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// TestMetricsWithoutAnswer checks that a server whose metrics give no answer costs a benchmark ten seconds, and not twice as
// many for the metrics behind a router.
func TestMetricsWithoutAnswer(t *testing.T) {
	defer missing.Delete("http://hung")
	synctest.Test(t, func(t *testing.T) {
		ln := memnet.Listen()
		srv := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })}
		var wg sync.WaitGroup
		wg.Go(func() { srv.Serve(ln) })
		defer func() { srv.Close(); wg.Wait() }()
		began := time.Now()
		s, err := URL{}.observe(t.Context(), llmbench.Target{URL: "http://hung", Model: "m", Dial: ln.Dial})
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(s.why, "no answer in 10s"), s.why)
		assert.Equal(t, time.Since(began), 10*time.Second)
	})
}
