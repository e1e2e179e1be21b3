package router

import (
	"maps"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

// TestChoices checks successive choices of the policies that look at the number of requests or ignore it.
func TestChoices(t *testing.T) {
	for _, tt := range []struct {
		policy Policy
		open   [][]int
		want   []int
	}{
		{&RoundRobin{}, [][]int{{0, 0, 0}, {1, 0, 0}, {9, 9, 0}, {0, 0, 0}, {0, 9, 0}}, []int{0, 1, 2, 0, 1}},
		{&LeastQueue{}, [][]int{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {2, 1, 1}, {2, 1, 1}, {2, 1, 1}, {0, 1, 1}, {3, 3, 1}}, []int{0, 1, 2, 1, 2, 1, 0, 2}},
		{&RoundRobin{}, [][]int{{0, 0, 0}, {0, 0, 0}, {0}, {0, 0}}, []int{0, 1, 0, 1}}, // replicas that come and go
		{&LeastQueue{}, [][]int{{0, 0, 0}, {0, 0, 0}, {0}, {0, 0}}, []int{0, 1, 0, 1}},
	} {
		var got []int
		for _, open := range tt.open {
			got = append(got, tt.policy.Choose(nil, open))
		}
		assert.DeepEqual(t, got, tt.want)
	}
}

// TestPrefixHash checks that prompts with the same beginning get the same replica, that many beginnings are
// spread evenly, and that only the prefixes of a replica that is removed move.
func TestPrefixHash(t *testing.T) {
	p := &PrefixHash{Blocks: 2}
	open := make([]int, 8)
	counts := make([]int, 8)
	for i := range uint64(8000) {
		at := p.Choose([]uint64{i, i + 1e6, 7}, open)
		counts[at]++
		assert.Equal(t, p.Choose([]uint64{99, i + 1e6, 8, 9}, open), at, "the name of block 2 stands for both blocks")
		if fewer := p.Choose([]uint64{i, i + 1e6}, open[:7]); at != 7 {
			assert.Equal(t, fewer, at)
		}
	}
	// Of 8,000 independent choices, the standard deviation of a count is 30.
	assert.Assert(t, slices.Min(counts) > 850 && slices.Max(counts) < 1150, "%v", counts)
	assert.Equal(t, p.Choose(nil, open), p.Choose(nil, open))
	assert.Equal(t, p.Choose([]uint64{5}, open), p.Choose([]uint64{5}, open))
}

func TestPolicies(t *testing.T) {
	assert.DeepEqual(t, slices.Sorted(maps.Keys(Policies())), []string{"least-queue", "prefix-hash", "round-robin"})
	assert.Assert(t, Policies()["round-robin"] != Policies()["round-robin"], "a policy must not be shared")
}

// TestPrompt checks which text decides about a request's replica.
func TestPrompt(t *testing.T) {
	for body, want := range map[string]string{
		`{"prompt":"a b"}`:                 "a b",
		`{"messages":[{"content":"a b"}]}`: "a b\n",
		`{"messages":[{"role":"system","content":"s"},{"content":[{"type":"text","text":"a"},{"text":"b"}]},{"content":null}]}`: "s\nab\n\n",
		`{"prompt":[1,2]}`: "",
		`{"prompt":`:       "",
		``:                 "",
		`[]`:               "",
	} {
		assert.Equal(t, prompt([]byte(body)), want, body)
	}
	long := make([]byte, 3*blockBytes+5)
	one, other := blocks(string(long)), blocks(string(long[:2*blockBytes])+"x")
	assert.Equal(t, len(one), 3)
	assert.DeepEqual(t, other, one[:2])
	assert.Equal(t, len(blocks("")), 1)
	assert.Assert(t, blocks("a")[0] != blocks("b")[0])
}

func FuzzPrompt(f *testing.F) {
	f.Add([]byte(`{"messages":[{"content":[{"text":"a"}]}],"prompt":"b"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		text := prompt(body)
		if n := len(blocks(text)); n != max(1, len(text)/blockBytes) {
			t.Errorf("%d blocks of %d bytes", n, len(text))
		}
	})
}
