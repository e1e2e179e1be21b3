package env

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestOld sets each old variable alone, beside the variable that has its value now, and beside a value that contradicts
// it.
func TestOld(t *testing.T) {
	tested := map[string]bool{}
	for _, tt := range []struct {
		environ string // separated by spaces
		want    string // the variable's value now
		err     string
	}{
		{"LLMBENCH_STAGES=10:1m,10..50:2m", "LLMBENCH_RATE=10:1m,10..50:2m", ""},
		{"LLMBENCH_STAGES=10:1m LLMBENCH_RATE=10:1m", "LLMBENCH_RATE=10:1m", ""},
		{"LLMBENCH_STAGES=10:1m LLMBENCH_RATE=10", "", "LLMBENCH_RATE=10 and LLMBENCH_STAGES=10:1m: want LLMBENCH_RATE alone, because LLMBENCH_STAGES is now part of it"},
		{"LLMBENCH_STAGES=10", "", "LLMBENCH_STAGES=10: want stages like 10:1m,10..50:2m,50..5:1m:exp"},
		{"LLMBENCH_STAGES=10:1m,burstiness=2", "", "LLMBENCH_STAGES=10:1m,burstiness=2: want stages"},
		{"LLMBENCH_BURSTINESS=2 LLMBENCH_RATE=1,4", "LLMBENCH_RATE=1,4,burstiness=2", ""},
		{"LLMBENCH_BURSTINESS=2 LLMBENCH_RATE=1,burstiness=2", "LLMBENCH_RATE=1,burstiness=2", ""},
		{"LLMBENCH_BURSTINESS=2 LLMBENCH_STAGES=10:1m", "LLMBENCH_RATE=10:1m,burstiness=2", ""},
		{"LLMBENCH_BURSTINESS=2 LLMBENCH_RATE=1,burstiness=3", "", "LLMBENCH_RATE=1,burstiness=3 and LLMBENCH_BURSTINESS=2: want LLMBENCH_RATE alone"},
		{"LLMBENCH_BURSTINESS=2", "", "LLMBENCH_BURSTINESS=2: means nothing without LLMBENCH_RATE"},
		{"LLMBENCH_DIMENSIONS=8", "LLMBENCH_DATASET=random:dimensions=8", ""},
		{"LLMBENCH_DIMENSIONS=8 LLMBENCH_DATASET=random", "LLMBENCH_DATASET=random:dimensions=8", ""},
		{"LLMBENCH_DIMENSIONS=8 LLMBENCH_DATASET=random?prefix=3&batch=1,2", "LLMBENCH_DATASET=random:prefix=3,batch=1,2,dimensions=8", ""},
		{"LLMBENCH_DIMENSIONS=8 LLMBENCH_DATASET=random?dimensions=8&batch=1", "LLMBENCH_DATASET=random:dimensions=8,batch=1", ""},
		{"LLMBENCH_DIMENSIONS=8 LLMBENCH_DATASET=random-sglang", "", "LLMBENCH_DATASET=random-sglang and LLMBENCH_DIMENSIONS=8: want LLMBENCH_DATASET alone"},
		{"LLMBENCH_DIMENSIONS=8 LLMBENCH_DATASET=random:batch=1,2", "LLMBENCH_DATASET=random:batch=1,2,dimensions=8", ""},
		{"LLMBENCH_DIMENSIONS=8 LLMBENCH_DATASET=random:dimensions=8,batch=2", "LLMBENCH_DATASET=random:dimensions=8,batch=2", ""},
		{"LLMBENCH_DIMENSIONS=8 LLMBENCH_DATASET=random:dimensions=9", "", "LLMBENCH_DATASET=random:dimensions=9 and LLMBENCH_DIMENSIONS=8: want LLMBENCH_DATASET alone"},
		{"LLMBENCH_DIMENSIONS=8 LLMBENCH_DATASET=sharegpt:x", "", "LLMBENCH_DATASET=sharegpt:x and LLMBENCH_DIMENSIONS=8: want LLMBENCH_DATASET alone"},
		{"LLMBENCH_COSINE=0.5", "LLMBENCH_DATASET=random:cosine=0.5", ""},
		{"LLMBENCH_COSINE=0.5 LLMBENCH_DIMENSIONS=8", "LLMBENCH_DATASET=random:dimensions=8,cosine=0.5", ""},
		{"LLMBENCH_COSINE=0.5 LLMBENCH_DATASET=random:cosine=0.6", "", "LLMBENCH_DATASET=random:cosine=0.6 and LLMBENCH_COSINE=0.5: want LLMBENCH_DATASET alone"},
		{"LLMBENCH_MOCK_SPEED=4", "LLMBENCH_MOCK=speed=4", ""},
		{"LLMBENCH_MOCK_SPEED=4 LLMBENCH_MOCK=a.json", "LLMBENCH_MOCK=a.json,speed=4", ""},
		{"LLMBENCH_MOCK_SPEED=4 LLMBENCH_MOCK=speed=4", "LLMBENCH_MOCK=speed=4", ""},
		{"LLMBENCH_MOCK_SPEED=4 LLMBENCH_MOCK=speed=5", "", "LLMBENCH_MOCK=speed=5 and LLMBENCH_MOCK_SPEED=4: want LLMBENCH_MOCK alone"},
		{"LLMBENCH_SHARDS=4", "LLMBENCH_SHARD=/4", ""},
		{"LLMBENCH_SHARDS=4 LLMBENCH_SHARD=1/4", "LLMBENCH_SHARD=1/4", ""},
		{"LLMBENCH_SHARDS=4 LLMBENCH_SHARD=1/8", "", "LLMBENCH_SHARD=1/8 and LLMBENCH_SHARDS=4: want LLMBENCH_SHARD alone"},
		{"LLMBENCH_SHARDS= LLMBENCH_SHARD=1/8", "LLMBENCH_SHARD=1/8", ""},
	} {
		environ := strings.Fields(tt.environ)
		r := NewReader(environ)
		var hints []string
		for _, entry := range environ {
			name, value, _ := strings.Cut(entry, "=")
			tested[name] = true
			if into := Old()[name]; into != "" && value != "" {
				hints = append(hints, name+" is now part of "+into+": set "+tt.want)
			}
		}
		if tt.err != "" {
			assert.ErrorContains(t, r.Err(), tt.err)
			continue
		}
		assert.NilError(t, r.Err())
		name, value, _ := strings.Cut(tt.want, "=")
		assert.Equal(t, r.Value(name), value, tt.environ)
		assert.Equal(t, len(r.Hints()), len(hints))
		for _, hint := range hints {
			assert.Assert(t, strings.Contains(strings.Join(r.Hints(), "\n")+"\n", hint+"\n"), "%s: %q", hint, r.Hints())
		}
		again := NewReader([]string{tt.want})
		assert.NilError(t, again.Err())
		assert.Equal(t, len(again.Hints()), 0)
	}
	for name, into := range Old() {
		assert.Assert(t, tested[name], name)
		assert.Assert(t, known(into) && !known(name), name)
	}
}
