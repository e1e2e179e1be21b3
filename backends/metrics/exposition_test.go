package metrics

import (
	"math"
	"testing"

	"gotest.tools/v3/assert"
)

// FuzzParse checks that no text of a server gives a value that is not finite. It also checks that
// the differences between two texts can be computed.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"# TYPE a counter\na{x=\"1\"} 1\na{x=\"2\"} 2e3\nh_count 3\n",
		"# TYPE h histogram\nh_bucket{le=\"+Inf\"} 3\nh_sum 1.5\nh_count 3\n",
		"# TYPE s summary\ns{quantile=\"0.5\"} NaN\ns_sum NaN\ns_count 3\n",
		"a 1e308\na{x=\"1\"} 1e308\n", "b 1e308\na 1e308\n", "a -Inf", "process_start_time_seconds NaN\n", "<html>", "a{", "a 1 1\r\n",
	} {
		f.Add([]byte(text), []byte(text))
	}
	names := Names{Path: "/", CacheHits: Alternatives{"a"}, CacheMisses: Alternatives{"b"}, CacheQueries: Alternatives{"q", "h"}, CacheHitRate: Alternatives{"g"}, KVUsage: Alternatives{"a"},
		QueueTime: Alternatives{"h", "s"}, Requests: Alternatives{"a_total"}, OutputTokens: Alternatives{"h"}, Digits: 6}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		var read [2]snapshot
		for i, text := range [][]byte{before, after} {
			all, err := parse(text)
			if err != nil {
				return
			}
			all.add(families{})
			read[i] = names.snapshot(all)
			for _, v := range append(read[i].counters(), &read[i].cacheHitRate, &read[i].kvUsage) {
				assert.Assert(t, *v == nil || **v >= 0 && !math.IsInf(**v, 0), "%q", text)
			}
		}
		o := &Observer{source: Source{Names: names}, before: read[0], passes: 1, watchGauges: true}
		if o.add(read[1]) != nil {
			return
		}
		for name, v := range o.figures() {
			assert.Assert(t, v >= 0 && !math.IsInf(v, 0), "%s is %v after %q and %q", name, v, before, after)
		}
	})
}
