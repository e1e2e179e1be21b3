package fault

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestEvery(t *testing.T) {
	faults := []Fault{{Kind: HTTP500, Every: 3}, {Kind: Empty, Every: 2}, {Kind: NoDone, Every: 5}}
	var got []string
	for n := range uint64(12) {
		got = append(got, string(For(faults, n+1, true, 1).Kind))
	}
	const want = " empty http-500 empty no-done http-500  empty http-500 empty  http-500"
	assert.Equal(t, strings.Join(got, " "), want)
}

// TestShare checks that a fault hits its share of the requests. The choice must depend on the seed and on
// the fault's index, and must be the same each time.
func TestShare(t *testing.T) {
	const n = 10_000
	faults := []Fault{{Kind: Reset, Share: 0.1, Seed: 1}, {Kind: Stall, Share: 0.1, Seed: 1}}
	hits := map[Kind]int{}
	moved := 0 // number of requests for which another seed gives another result
	for i := range uint64(n) {
		kind := For(faults, i+1, true, 1).Kind
		assert.Equal(t, For(faults, i+1, true, 1).Kind, kind)
		hits[kind]++
		if For([]Fault{{Kind: Reset, Share: 0.1, Seed: 2}}, i+1, true, 1).Kind != For(faults[:1], i+1, true, 1).Kind {
			moved++
		}
	}
	assert.Assert(t, hits[Reset] >= 900 && hits[Reset] <= 1100, "%d resets, want about 1000", hits[Reset])
	assert.Assert(t, hits[Stall] >= 800 && hits[Stall] <= 1000, "%d stalls, want about 900", hits[Stall])
	assert.Assert(t, moved > 0, "seeds 1 and 2 hit the same requests")
	assert.Equal(t, For([]Fault{{Kind: Reset, Share: 1}}, 7, true, 1).Kind, Reset)
}

func TestToken(t *testing.T) {
	for _, c := range []struct {
		fault   Fault
		n, want int
	}{
		{Fault{}, 5, -1},
		{Fault{Kind: HTTP500}, 5, -1},
		{Fault{Kind: Reset, At: 3}, 5, 3},
		{Fault{Kind: Reset, At: 9}, 5, 4},
		{Fault{Kind: Reset, At: 9}, 0, 0},
		{Fault{Kind: Empty, At: 3}, 5, 0},
	} {
		assert.Equal(t, c.fault.Token(c.n), c.want, "%+v in %d tokens", c.fault, c.n)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Fault{
		"reset":                             {Kind: Reset, Every: 1},
		"swap,above=32":                     {Kind: Swap, Every: 1, Above: 32},
		"reset,every=10,at=3":               {Kind: Reset, Every: 10, At: 3},
		" stall , share=0.25, seed=7":       {Kind: Stall, Share: 0.25, Seed: 7},
		"long-line,size=1048576":            {Kind: LongLine, Every: 1, Size: 1 << 20},
		"http-429,every=2147483647":         {Kind: HTTP429, Every: 2147483647},
		"fin,share=1,at=0,seed=18446744073": {Kind: FIN, Share: 1, Seed: 18446744073},
	} {
		got, err := Parse(text)
		assert.NilError(t, err)
		assert.Equal(t, got, want, "%s", text)
	}
	for text, want := range map[string]string{
		"":                        `fault "": kind: "": want one of http-400, `,
		"flood,every=2":           `kind: "flood": want one of http-400, `,
		"reset,every=0":           `every: 0: want 1 or more`,
		"reset,every=x":           `every: "x": want a number`,
		"reset,share=0":           `share: 0: want above 0 and up to 1`,
		"reset,share=NaN":         `share: NaN: want above 0 and up to 1`,
		"reset,every=2,share=0.5": `every: 2 and share: 0.5 are both set: want only one`,
		"swap,above=-1":           `above: -1: want 0 or more requests in flight`,
		"reset,at=-1":             `at: -1: want 0 or more`,
		"reset,size=-1":           `size: -1: want 0 (64 MiB) to 1073741824`,
		"reset,when=3":            `"when=3": want every, share, seed, above, at or size`,
		"http-400,at=3":           `at: 3, but http-400 does not occur at a token`,
		"wrong,size=3":            `size: 3, but only long-line has a size`,
	} {
		_, err := Parse(text)
		assert.ErrorContains(t, err, want)
	}
}

// A fault with Above hits only if more than that number of requests are in flight.
func TestAbove(t *testing.T) {
	faults := []Fault{{Kind: Wrong, Every: 2, Above: 8}, {Kind: Short, Every: 1, Above: 4}}
	for inFlight, want := range map[int][2]Kind{1: {}, 4: {}, 5: {Short, Short}, 8: {Short, Short}, 9: {Short, Wrong}} {
		for i, kind := range want {
			assert.Equal(t, For(faults, uint64(i+1), true, inFlight).Kind, kind, "%d in flight", inFlight)
		}
	}
}
