package measure

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"gotest.tools/v3/assert"
)

// TestFingerprints checks that the identity of samples reveals nothing about the value of a variable to anybody
// without the folder's key, and that only the owner can read the key.
func TestFingerprints(t *testing.T) {
	t.Setenv("LLMBENCH_API_KEY", "hunter2")
	var seen []string
	for range 2 {
		f := folder{path: t.TempDir()}
		for range 2 { // the second time, the folder already has a key
			id, err := (&rounds{folder: f}).identity()
			assert.NilError(t, err)
			seen = append(seen, id["LLMBENCH_API_KEY"])
		}
		info, err := os.Stat(f.join(keyName))
		assert.NilError(t, err)
		assert.Equal(t, info.Mode().Perm(), os.FileMode(0o600))
	}
	assert.Assert(t, seen[0] == seen[1] && seen[2] == seen[3] && seen[0] != seen[2], "%q", seen)
	assert.Assert(t, !slices.Contains(seen, fmt.Sprintf("%x", sha256.Sum256([]byte("hunter2")))), "%q", seen)
}

// TestSeed checks that the seed determines the order of the sides, and that the order differs between rounds
// and between seeds.
func TestSeed(t *testing.T) {
	order := func(seed uint64, n int) []bool { return (&rounds{seed: seed}).secondFirst(n) }
	assert.DeepEqual(t, order(1, 8), order(1, 20)[:8])
	seen := map[string]int{}
	first := 0
	for seed := range uint64(2000) {
		seen[fmt.Sprint(order(seed, 8))]++
		for _, second := range order(seed, 8) {
			if second {
				first++
			}
		}
	}
	assert.Equal(t, len(seen), 256, "all orders of eight rounds")
	assert.Assert(t, 7500 < first && first < 8500, "the second side is first in %d of 16000 rounds", first)

	f := folder{path: t.TempDir()}
	seed, err := f.seed()
	assert.NilError(t, err)
	assert.Assert(t, seed > 0)
	assert.NilError(t, f.claim(identity{seedName: "12"}))
	seed, err = f.seed()
	assert.NilError(t, err)
	assert.Equal(t, seed, uint64(12))
	assert.NilError(t, command.WriteFile(f.join(identityName), []byte(`{"-seed": "x"}`)))
	_, err = f.seed()
	assert.ErrorContains(t, err, `-seed is "x": want a number above 0; delete the folder`)
}
