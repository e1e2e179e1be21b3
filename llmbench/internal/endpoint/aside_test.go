package endpoint

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestAside(t *testing.T) {
	var a Aside
	assert.Equal(t, a.String(), "")
	a.Add(0, "completions of warm-ups", "a:1")
	a.Add(2, "GET /metrics", "a:1")
	a.Add(807, "POST /tokenize", "a:1")
	a.Add(2, "POST /tokenize", "a:1")
	a.Add(1, "GET /v1/models", "a:1")
	assert.Equal(t, a.String(), "POST /tokenize 809, GET /metrics 2, GET /v1/models 1")
	a.Add(2, "GET /metrics", "b:2")
	assert.Equal(t, a.String(), "POST /tokenize at a:1 809, GET /metrics at a:1 2, GET /metrics at b:2 2, GET /v1/models at a:1 1")
	for i := range 20 {
		a.Add(1, "GET /"+string(rune('a'+i)), "a:1")
	}
	assert.Assert(t, strings.HasSuffix(a.String(), ", others 12"), a.String())
}
