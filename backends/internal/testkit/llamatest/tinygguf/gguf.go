package tinygguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// GGUF version 3, little endian. The format is specified in
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md:
//
//	header    "GGUF"  u32 version  u64 number of tensors  u64 number of pairs
//	pair      string key  u32 type  value
//	string    u64 length  bytes
//	array     u32 type of the elements  u64 length  elements
//	tensor    string name  u32 number of dimensions  u64 dimensions  u32 type  u64 offset
//	data      from the next multiple of the alignment; offsets are relative to
//	          that, and are multiples of the alignment as well
//
// The first dimension is the contiguous one: a matrix of r rows and c columns has the dimensions c, r.
const (
	magic     = "GGUF"
	version   = 3
	alignment = 32 // the default of general.alignment
)

// The types of a pair's value (gguf_metadata_value_type).
const (
	kindUint32  uint32 = 4
	kindInt32   uint32 = 5
	kindFloat32 uint32 = 6
	kindBool    uint32 = 7
	kindString  uint32 = 8
	kindArray   uint32 = 9
)

// A pair is one metadata entry. Its value is a uint32, float32, bool, string,
// []string or []int32.
type pair struct {
	key   string
	value any
}

// A tensor is one named array of weights. The weights are computed when they are written, one tensor at a
// time, so that a model of 1 GB needs only the memory of its largest matrix.
type tensor struct {
	name    string
	dims    []int
	typ     Type
	weights func() []float32
}

func (t tensor) size() int {
	n := 1
	for _, d := range t.dims {
		n *= d
	}
	return t.typ.size(n)
}

// padding returns the zeros between n bytes and the next multiple of the alignment.
func padding(n int) []byte { return make([]byte, (alignment-n%alignment)%alignment) }

// A header is the part of the file before the weights.
type header struct{ bytes.Buffer }

func (h *header) u32(v uint32) { h.Write(binary.LittleEndian.AppendUint32(nil, v)) }
func (h *header) u64(v int)    { h.Write(binary.LittleEndian.AppendUint64(nil, uint64(v))) }

func (h *header) str(s string) {
	h.u64(len(s))
	h.WriteString(s)
}

func (h *header) pair(p pair) error {
	h.str(p.key)
	switch v := p.value.(type) {
	case uint32:
		h.u32(kindUint32)
		h.u32(v)
	case float32:
		h.u32(kindFloat32)
		return binary.Write(h, binary.LittleEndian, v)
	case bool:
		h.u32(kindBool)
		return binary.Write(h, binary.LittleEndian, v)
	case string:
		h.u32(kindString)
		h.str(v)
	case []string:
		h.u32(kindArray)
		h.u32(kindString)
		h.u64(len(v))
		for _, s := range v {
			h.str(s)
		}
	case []int32:
		h.u32(kindArray)
		h.u32(kindInt32)
		h.u64(len(v))
		return binary.Write(h, binary.LittleEndian, v)
	default:
		return fmt.Errorf("tinygguf: %s: a value of type %T cannot be written", p.key, p.value)
	}
	return nil
}

// writeGGUF writes a whole file.
func writeGGUF(w io.Writer, pairs []pair, tensors []tensor) error {
	var h header
	h.WriteString(magic)
	h.u32(version)
	h.u64(len(tensors))
	h.u64(len(pairs))
	for _, p := range pairs {
		if err := h.pair(p); err != nil {
			return err
		}
	}
	offset := 0
	for _, t := range tensors {
		h.str(t.name)
		h.u32(uint32(len(t.dims)))
		for _, d := range t.dims {
			h.u64(d)
		}
		h.u32(ids[t.typ].tensor)
		h.u64(offset)
		offset += t.size() + len(padding(t.size()))
	}
	h.Write(padding(h.Len()))
	if _, err := w.Write(h.Bytes()); err != nil {
		return fmt.Errorf("tinygguf: header: %w", err)
	}
	for _, t := range tensors {
		if _, err := w.Write(append(t.typ.encode(t.weights()), padding(t.size())...)); err != nil {
			return fmt.Errorf("tinygguf: %s: %w", t.name, err)
		}
	}
	return nil
}
