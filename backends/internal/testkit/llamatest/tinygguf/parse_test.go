package tinygguf

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A file is the content of a GGUF file. Its parser follows the specification of the format, and
// shares no code with the writer.
type file struct {
	pairs   map[string]any    // scalars and strings by key; the length of an array is at "KEY.length"
	tensors map[string]string // "[dims] type n"
}

// parse reads a whole file. It returns an error if tensors overlap, are not aligned, or do not fill
// the file to its end.
func parse(data []byte) (f file, err error) {
	p := &parser{rest: data}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("after %d of %d bytes: %v", len(data)-len(p.rest), len(data), r)
		}
	}()
	f = file{map[string]any{}, map[string]string{}}
	if m := string(p.take(4)); m != "GGUF" {
		return f, fmt.Errorf("magic %q", m)
	}
	if v := p.u32(); v != 3 {
		return f, fmt.Errorf("version %d", v)
	}
	tensors, pairs := p.u64(), p.u64()
	for range pairs {
		key := p.str()
		switch kind := p.u32(); kind {
		case 4:
			f.pairs[key] = p.u32()
		case 6:
			f.pairs[key] = math.Float32frombits(p.u32())
		case 7:
			f.pairs[key] = p.take(1)[0] != 0
		case 8:
			f.pairs[key] = p.str()
		case 9:
			elements, n := p.u32(), p.u64()
			f.pairs[key+".length"] = n
			for range n {
				switch elements {
				case 5:
					p.u32()
				case 8:
					p.str()
				default:
					return f, fmt.Errorf("%s: array of type %d", key, elements)
				}
			}
		default:
			return f, fmt.Errorf("%s: type %d", key, kind)
		}
	}
	end := 0
	for range tensors {
		name := p.str()
		dims, n := []int{}, 1
		for range p.u32() {
			dims = append(dims, p.u64())
			n *= dims[len(dims)-1]
		}
		typ, offset := p.u32(), p.u64()
		if offset != end {
			return f, fmt.Errorf("%s: offset %d, the tensor before it ends at %d", name, offset, end)
		}
		f.tensors[name] = fmt.Sprintf("%v type %d", dims, typ)
		switch typ {
		case 0: // f32
			end += 4 * n
		case 1: // f16
			end += 2 * n
		case 8: // q8_0: blocks of 32
			end += n / 32 * 34
		default:
			return f, fmt.Errorf("%s: type %d", name, typ)
		}
		end = (end + 31) / 32 * 32
	}
	p.take((32 - (len(data)-len(p.rest))%32) % 32)
	if len(p.rest) != end {
		return f, fmt.Errorf("%d bytes of weights, the tensors need %d", len(p.rest), end)
	}
	return f, nil
}

type parser struct{ rest []byte }

func (p *parser) take(n int) []byte {
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return slices.Clip(b)
}
func (p *parser) u32() uint32 { return binary.LittleEndian.Uint32(p.take(4)) }
func (p *parser) u64() int    { return int(binary.LittleEndian.Uint64(p.take(8))) }
func (p *parser) str() string { return string(p.take(p.u64())) }
