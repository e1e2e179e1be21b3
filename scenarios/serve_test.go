package scenarios

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
)

// TestServeMix checks that a mix divides the requests among its models, by another draw in each pass, and that
// results name it.
func TestServeMix(t *testing.T) {
	o := Options{Dataset: "random", Input: 4, Output: 2, Mix: []benchdata.Share{{Model: "base", Weight: 3}, {Model: "sql", Weight: 1}}}
	s := server{options: o, counter: counter{tokens: tokenizer.Words{}}}
	draw := func(seed uint64) (models string) {
		requests, err := s.drawDataset(8, seed, 0)
		assert.NilError(t, err)
		count := map[string]int{}
		for _, r := range requests {
			count[r.Model]++
			models += r.Model + " "
		}
		assert.DeepEqual(t, count, map[string]int{"base": 6, "sql": 2})
		return models
	}
	assert.Equal(t, draw(1), draw(1))
	assert.Assert(t, draw(1) != draw(2))
	assert.Equal(t, configLines(o)["mix"], "base=3,sql=1")
	assert.DeepEqual(t, modelsOf(o.Mix), []string{"base", "sql"})
	o.Mix = nil
	_, has := configLines(o)["mix"]
	assert.Assert(t, !has)
}
