package llmbench

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

func TestLabel(t *testing.T) {
	assert.Equal(t, label("BenchmarkServe/backend=mock/model=m/concurrency=4", 0, ""), "Serve concurrency=4")
	assert.Equal(t, label("BenchmarkServe", 2, "1064 tok/s"), "Serve pass 2, last 1064 tok/s")
}

// TestShowProgress draws a bar of 40 requests, of which ten end a second.
func TestShowProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		quit := make(chan struct{})
		time.AfterFunc(3100*time.Millisecond, func() { close(quit) })
		var screen bytes.Buffer
		showProgress(&screen, "BenchmarkA/concurrency=8 pass 2", 40, func() int { return int(time.Since(began) / (100 * time.Millisecond)) }, quit)
		drawn := strings.Split(screen.String(), "\r")
		var last string
		for _, line := range drawn {
			if strings.TrimSpace(line) != "" {
				last = line
			}
		}
		for _, want := range []string{"BenchmarkA/concurrency=8 pass 2", "30/40", " req/s", "[3s:"} {
			assert.Check(t, strings.Contains(last, want), "%q has no %q", last, want)
		}
		assert.Equal(t, strings.TrimSpace(drawn[len(drawn)-1]), "", "the bar stays")
		assert.Assert(t, !strings.Contains(screen.String(), "\n"))
	})
}
