package tinygguf

import (
	"math"
	"testing"
)

// TestFloat16 checks the values of
// https://en.wikipedia.org/wiki/Half-precision_floating-point_format#Half_precision_examples
// and the ties next to them.
func TestFloat16(t *testing.T) {
	for _, test := range []struct {
		in   float64
		want uint16
	}{
		{0, 0x0000}, {math.Copysign(0, -1), 0x8000}, {1, 0x3c00}, {-2, 0xc000},
		{1.0 / 3, 0x3555}, {65504, 0x7bff}, {65520, 0x7c00}, {1e9, 0x7c00}, {math.Inf(-1), 0xfc00},
		{0x1p-14, 0x0400}, {0x1p-24, 0x0001}, {0x1.ff8p-15, 0x03ff}, {0x1p-26, 0x0000},
		{0x1p-25, 0x0000}, {0x1.8p-24, 0x0002}, // ties between subnormals go to the even one
		{1 + 0x1p-11, 0x3c00}, {1 + 3*0x1p-11, 0x3c02}, // ties go to the even one
		{2 - 0x1p-11, 0x4000}, // rounds up into the next exponent
	} {
		if got := float16(float32(test.in)); got != test.want {
			t.Errorf("float16(%v) = %#04x, want %#04x", test.in, got, test.want)
		}
	}
}

func TestEncodeQ8(t *testing.T) {
	weights := make([]float32, block)
	weights[0], weights[1], weights[31] = 127, -64, 0.4
	b := Q8_0.encode(weights)
	if len(b) != Q8_0.size(block) || b[0] != 0x00 || b[1] != 0x3c {
		t.Fatalf("Q8_0.encode(one block) = % x, want %d bytes that start with the scale 00 3c", b, Q8_0.size(block))
	}
	if got := [3]int8{int8(b[2]), int8(b[3]), int8(b[33])}; got != [3]int8{127, -64, 0} {
		t.Errorf("weights 127, -64, 0.4 at scale 1 = %v, want [127 -64 0]", got)
	}
}
