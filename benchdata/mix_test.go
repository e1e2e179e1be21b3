package benchdata

import (
	"errors"
	"net/http"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// fixed is a workload of given requests.
type fixed []llmbench.Request

func (f fixed) Requests(n int) ([]llmbench.Request, error) {
	if n < 1 {
		return nil, errors.New("none")
	}
	return f[:min(n, len(f))], nil
}

// TestMix checks the numbers of requests by weight, that the texts keep their order, and that the same seed
// gives the same result.
func TestMix(t *testing.T) {
	all := make(fixed, 100)
	for i := range all {
		all[i] = llmbench.Request{Prompt: string(rune('a' + i%26)), MaxTokens: i + 1, Model: "own", Header: http.Header{"x-priority": {"1"}, "X-Own": {"2"}}}
	}
	shares := []Share{{Weight: 3, Model: "base"}, {Weight: 1, Model: "sql", Header: http.Header{"X-Priority": {"9"}}}, {Weight: 0.5}}
	for _, tt := range []struct {
		n    int
		want map[string]int
	}{
		// The weights are two thirds, two ninths and one ninth of the sum.
		{90, map[string]int{"base": 60, "sql": 20, "own": 10}},
		{5, map[string]int{"base": 3, "sql": 1, "own": 1}},       // 3.33, 1.11 and 0.56: the last has the largest remainder
		{1, map[string]int{"base": 1}},                           // 0.67
		{1000, map[string]int{"base": 67, "sql": 22, "own": 11}}, // the workload has 100
	} {
		got, err := Mix{Of: all, Shares: shares, Seed: 1}.Requests(tt.n)
		assert.NilError(t, err)
		count := map[string]int{}
		for i, r := range got {
			count[r.Model]++
			assert.Equal(t, r.MaxTokens, i+1)
			want := http.Header{"x-priority": {"1"}, "X-Own": {"2"}}
			if r.Model == "sql" {
				want = http.Header{"X-Priority": {"9"}, "X-Own": {"2"}}
			}
			assert.DeepEqual(t, r.Header, want)
		}
		assert.DeepEqual(t, count, tt.want)
		again, err := Mix{Of: all, Shares: shares, Seed: 1}.Requests(tt.n)
		assert.NilError(t, err)
		for i := range again {
			assert.Equal(t, again[i].Model, got[i].Model)
		}
	}
	assert.Equal(t, all[0].Model, "own", "the workload's own requests must not change")
	one, err := Mix{Of: all, Shares: shares, Seed: 1}.Requests(90)
	assert.NilError(t, err)
	other, err := Mix{Of: all, Shares: shares, Seed: 2}.Requests(90)
	assert.NilError(t, err)
	differ := 0
	for i := range one {
		if one[i].Model != other[i].Model {
			differ++
		}
	}
	assert.Assert(t, differ > 10, "%d", differ)
	for _, bad := range []Mix{{Shares: shares}, {Of: all}, {Of: all, Shares: []Share{{Model: "a"}}}, {Of: all, Shares: []Share{{Weight: -1}}}} {
		_, err := bad.Requests(1)
		assert.ErrorContains(t, err, "mix: ")
	}
	_, err = Mix{Of: all, Shares: shares}.Requests(0)
	assert.ErrorContains(t, err, "none")
}
