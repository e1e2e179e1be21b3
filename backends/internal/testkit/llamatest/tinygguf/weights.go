package tinygguf

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A Type is an encoding of the weights of a matrix.
type Type string

// The encodings that can be written, by llama.cpp's names.
const (
	F32  Type = "f32"
	F16  Type = "f16"
	Q8_0 Type = "q8_0" // blocks of 32 weights: an F16 scale and 32 signed bytes
)

// ids maps a type to its ggml_type (in a tensor's description) and to its
// llama_ftype (general.file_type, "the majority of the tensors").
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
var ids = map[Type]struct{ tensor, file uint32 }{F32: {0, 0}, F16: {1, 1}, Q8_0: {8, 7}}

func (t Type) check() error {
	if _, ok := ids[t]; !ok {
		return fmt.Errorf("tinygguf: Type %q is not %q, %q or %q", t, F32, F16, Q8_0)
	}
	return nil
}

// block is the number of weights in a block of Q8_0. A row consists of whole blocks.
const block = 32

// size returns the number of bytes of n weights.
func (t Type) size(n int) int {
	switch t {
	case F32:
		return 4 * n
	case Q8_0:
		return n / block * (2 + block)
	}
	return 2 * n
}

// encode returns the weights in the byte order of the file, little endian.
func (t Type) encode(weights []float32) []byte {
	b := make([]byte, 0, t.size(len(weights)))
	switch t {
	case F32:
		for _, w := range weights {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(w))
		}
	case F16:
		for _, w := range weights {
			b = binary.LittleEndian.AppendUint16(b, float16(w))
		}
	case Q8_0:
		for i := 0; i < len(weights); i += block {
			b = appendQ8(b, weights[i:i+block])
		}
	}
	return b
}

// appendQ8 appends one block of Q8_0: the scale, which maps the largest magnitude to 127, and then each
// weight as a multiple of the scale.
// https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h (block_q8_0)
func appendQ8(b []byte, weights []float32) []byte {
	var largest float64
	for _, w := range weights {
		largest = max(largest, math.Abs(float64(w)))
	}
	scale := largest / 127
	b = binary.LittleEndian.AppendUint16(b, float16(float32(scale)))
	for _, w := range weights {
		var q int8
		if scale > 0 {
			q = int8(math.RoundToEven(float64(w) / scale))
		}
		b = append(b, byte(q))
	}
	return b
}

// float16 rounds f to the nearest IEEE 754 binary16, with ties to even. A NaN becomes an
// infinity.
func float16(f float32) uint16 {
	bits := math.Float32bits(f)
	sign := uint16(bits>>16) & 0x8000
	exp := int32(bits>>23&0xff) - 127 + 15
	mant := bits & 0x7fffff
	switch {
	case exp >= 31:
		return sign | 0x7c00
	case exp < -10:
		return sign
	case exp <= 0: // subnormal: the implicit leading bit becomes explicit
		return sign | uint16(roundShift(mant|0x800000, uint32(14-exp)))
	}
	// A mantissa that rounds up to 2 carries into the exponent, which is correct.
	return sign | uint16(uint32(exp)<<10+roundShift(mant, 13))
}

// roundShift returns m / 2^n rounded to the nearest integer, with ties to even.
func roundShift(m, n uint32) uint32 {
	q, rest, half := m>>n, m&(1<<n-1), uint32(1)<<(n-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	return q
}
