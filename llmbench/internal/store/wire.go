package store

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Append appends an encoded sample to data. Another process of the same version can read it with Read.
func Append(data []byte, s *sample.Sample) []byte {
	c := writers.Get().(*codec)
	defer writers.Put(c)
	one := c.encode(s)
	return append(binary.AppendUvarint(data, uint64(len(one))), one...)
}

// writers are codecs whose memory Append reuses.
var writers = sync.Pool{New: func() any { return new(codec) }}

var errCut = errors.New("samples of another process: not as they were sent")

// Read calls f with each sample in data, until f returns an error. Append must have encoded the samples.
// Each sample is a new one that f may keep.
func Read(data []byte, f func(*sample.Sample) error) error {
	read := codec{reading: true, words: map[string]string{}}
	for len(data) > 0 {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > uint64(len(data)-size) {
			return errCut
		}
		end := size + int(n)
		one := new(sample.Sample)
		if read.decode(data[size:end], one) != nil {
			return errCut
		}
		if err := f(one); err != nil {
			return err
		}
		data = data[end:]
	}
	return nil
}
