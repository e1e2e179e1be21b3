package store

import (
	"errors"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestWire checks that samples are read as they were appended, that an error ends the reading, and that
// truncated data is an error.
func TestWire(t *testing.T) {
	want := filled(t, 9)
	var data []byte
	for i := range want {
		data = Append(data, &want[i])
	}
	var got []sample.Sample
	keep := func(s *sample.Sample) error { got = append(got, *s); return nil }
	assert.NilError(t, Read(data, keep))
	assert.DeepEqual(t, got, want, sameError)
	enough := errors.New("enough")
	assert.Equal(t, Read(data, func(*sample.Sample) error { return enough }), enough)
	assert.Equal(t, Read(data[:len(data)-1], keep), errCut)
	assert.Equal(t, Read([]byte{0xff}, keep), errCut)
}

// FuzzRead checks that any bytes are either an error, or samples whose encoded form reads as the same
// samples.
func FuzzRead(f *testing.F) {
	f.Add([]byte{})
	f.Add(Append(Append(nil, &sample.Sample{ID: "a"}), &sample.Sample{ID: "b", Shard: 3}))
	f.Fuzz(func(t *testing.T, data []byte) {
		var all, again []byte
		if Read(data, func(s *sample.Sample) error { all = Append(all, s); return nil }) != nil {
			return
		}
		assert.NilError(t, Read(all, func(s *sample.Sample) error { again = Append(again, s); return nil }))
		assert.DeepEqual(t, again, all)
	})
}
