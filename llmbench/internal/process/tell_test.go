package process

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestExpectation(t *testing.T) {
	const load = "BenchmarkServe/backend=url/concurrency=1"
	for _, c := range []struct {
		requests int
		one      time.Duration
		loads    int
		count    int
		want     string
	}{
		{16, 16_600 * time.Millisecond, 2, 1, "Serve concurrency=1: 16 requests, about 17s; all 2 loads take about 33s, or longer where requests wait"},
		{1, 90 * time.Second, 1, 1, "Serve concurrency=1: 1 request, about 1m30s"},
		{16, 3 * time.Second, 0, 0, "Serve concurrency=1: 16 requests, about 3s"},
		{16, 400 * time.Millisecond, 8, 1, "Serve concurrency=1: 16 requests, about 1s; all 8 loads take about 3s, or longer where requests wait"},
		{16, 2 * time.Second, 4, 6, "Serve concurrency=1: 16 requests, about 2s; all 4 loads, 6 times each, take about 48s, or longer where requests wait"},
		{16, 2 * time.Second, 1, 6, "Serve concurrency=1: 16 requests, about 2s; all 6 samples take about 12s"},
		{16, 2900 * time.Millisecond, 1, 1, ""},
	} {
		assert.Equal(t, expectation(load, c.requests, c.one, c.loads, c.count), c.want)
	}
}
