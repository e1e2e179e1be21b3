package shard

import (
	"bytes"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// FuzzFrame checks that any bytes are either an error, or a frame that is encoded as the same bytes.
func FuzzFrame(f *testing.F) {
	f.Add([]byte{})
	f.Add(appendFrame(nil, frame{kindBeat, nil}))
	f.Add(appendFrame(nil, message{"a", []byte("b")}.frame()))
	f.Add([]byte{byte(kindHello), 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readFrame(bytes.NewReader(data), maxGreeting)
		if err != nil {
			return
		}
		assert.Assert(t, bytes.HasPrefix(data, appendFrame(nil, got)))
		assert.Assert(t, len(got.data) <= maxGreeting)
		m, err := parseMessage(got.data)
		if err != nil {
			return
		}
		again, err := parseMessage(m.frame().data)
		assert.NilError(t, err)
		assert.Equal(t, again.step, m.step)
		assert.Assert(t, m.step != "" && bytes.Equal(again.data, m.data))
	})
}

func TestFrameErrors(t *testing.T) {
	for _, test := range []struct {
		data []byte
		want string
	}{
		{nil, "EOF"},
		{[]byte{1, 0}, "unexpected EOF"},
		{[]byte{0, 0, 0, 0, 0}, "a frame of kind 0: want 1 to 11"},
		{[]byte{12, 0, 0, 0, 0}, "a frame of kind 12: want 1 to 11"},
		{[]byte{1, 1, 0, 0, 0}, "a frame of 16777216 bytes: want at most 65536"},
		{[]byte{1, 0, 0, 0, 2, 'x'}, "unexpected EOF"},
		{[]byte{1, 0, 0, 0, 2}, "unexpected EOF"},
	} {
		_, err := readFrame(bytes.NewReader(test.data), maxGreeting)
		assert.Error(t, err, test.want)
	}
	for _, data := range [][]byte{nil, {0}, {2, 'x'}, {255}} {
		_, err := parseMessage(data)
		assert.Equal(t, err, errMessage)
	}
}

// TestLeastTrip checks that the offset comes from the shortest trip, and that the bound holds wherever in
// the trip the other clock was read.
func TestLeastTrip(t *testing.T) {
	const ahead = -3 * time.Second
	trips := []trip{{0, ahead + 900, 1000}, {5000, ahead + 5001, 5100}, {9000, ahead + 9500, 10000}}
	got := leastTrip(trips)
	assert.Equal(t, got.bound, 50*time.Nanosecond)
	assert.Assert(t, (got.ahead-ahead).Abs() <= got.bound, "%v", got)
}

// TestSpread checks that the result is the sum of the two largest errors, and that a clock that runs faster
// than shard 0's clock is included.
func TestSpread(t *testing.T) {
	first := []offset{{}, {10, 3}, {-10, 4}, {0, 5}}
	assert.Equal(t, spread(first, first), time.Duration(4+5))
	last := []offset{{}, {10, 3}, {90, 7}, {0, 5}}
	assert.Equal(t, spread(first, last), time.Duration(107+5))
	assert.Equal(t, spread(first[:2], last[:2]), time.Duration(3))
}
