// Package store keeps the samples of a measurement of any length in bounded memory. It keeps them encoded.
// Samples that exceed the bound are in a file.
package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Bound is the maximum number of bytes of samples that a measurement keeps in memory.
const Bound = 64 << 20

// The limits of the block size, which is the number of bytes that are written to the file at once. A small
// bound has small blocks.
const (
	leastBlock = 4 << 10
	mostBlock  = 256 << 10
)

// A Store is a sequence of samples. Samples can be added, and ranged over any number of times. Several
// ranges may run at the same time, but not at the same time as Add.
type Store struct {
	bound int
	dir   string // folder of the file
	block int    // size of a block

	blocks []*block // blocks in memory; all but the last are full
	spare  *block   // an empty block, or nil
	size   Mark     // end of all samples
	filed  Mark     // end of the data in the file; the rest is in blocks
	file   *os.File // nil until it is needed, and after Close
	name   string   // name of a file that must be removed

	write codec

	mu  sync.Mutex
	err error // guarded by mu; error of a range
}

// A Mark is a position between two samples of a Store. The zero Mark is the beginning.
type Mark int64

// New returns an empty Store that keeps up to bound bytes in memory. The file is in dir, or in
// the system's folder for temporary files if dir is "".
func New(bound int, dir string) *Store {
	return &Store{bound: bound, dir: dir, block: min(max(bound, leastBlock), mostBlock)}
}

// Add adds a copy of a sample. It keeps only the text of the sample's error. If Add returns an error, the
// Store must no longer be used.
func (s *Store) Add(one *sample.Sample) error {
	data := s.write.encode(one)
	s.append(binary.AppendUvarint(nil, uint64(len(data))))
	s.append(data)
	// After the bound has been exceeded once, full blocks are written to the file. An Add writes at most
	// two blocks, because the next samples have to wait for the write.
	for n := 0; n < 2 && len(s.blocks) > 1 && (s.file != nil || int(s.size-s.filed) > s.bound); n++ {
		if err := s.spill(); err != nil {
			return err
		}
	}
	return nil
}

// append appends encoded bytes to the blocks.
func (s *Store) append(data []byte) {
	s.size += Mark(len(data))
	for len(data) > 0 {
		last := len(s.blocks) - 1
		if last < 0 || len(s.blocks[last].data) == s.block {
			if s.spare == nil {
				s.spare = newBlock(s.block)
			}
			s.blocks = append(s.blocks, s.spare)
			s.spare = nil
			last++
		}
		b := s.blocks[last]
		n := min(len(data), s.block-len(b.data))
		b.data = append(b.data, data[:n]...)
		data = data[n:]
	}
}

// spill writes the first block to the file.
func (s *Store) spill() error {
	b := s.blocks[0]
	if err := s.writeFile(b.data); err != nil {
		return fmt.Errorf("samples beyond %d bytes: %w", s.bound, err)
	}
	s.filed += Mark(len(b.data))
	b.data = b.data[:0]
	s.spare, s.blocks[0] = b, nil
	s.blocks = s.blocks[1:]
	return nil
}

// writeFile writes data to the end of the file, which it creates if necessary.
func (s *Store) writeFile(data []byte) error {
	if s.file == nil {
		file, err := os.CreateTemp(s.dir, "llmbench-samples-*.tmp")
		if err != nil {
			return err
		}
		s.setFile(file)
	}
	_, err := s.file.Write(data)
	return err
}

// setFile makes file the file of s. If the system allows it, setFile removes the name of the file, so that
// the file disappears with the process.
func (s *Store) setFile(file *os.File) {
	s.file = file
	if os.Remove(file.Name()) != nil { // not every system can remove an open file
		s.name = file.Name()
	}
}

// End returns the position after the last sample.
func (s *Store) End() Mark { return s.size }

// Between ranges over the samples between two positions, in the order in which they were added. Each sample
// is a new one that the caller may keep. A range ends early if the file cannot be read; Err then returns
// the reason.
func (s *Store) Between(from, to Mark) iter.Seq[*sample.Sample] {
	return func(yield func(*sample.Sample) bool) {
		defer runtime.KeepAlive(s) // keeps the blocks that are read reachable
		if from < s.filed && s.file == nil {
			s.fail(os.ErrClosed)
			return
		}
		in := bufio.NewReaderSize(s.reader(from, to), 64<<10)
		read := codec{reading: true, words: map[string]string{}}
		var data []byte
		for {
			n, err := binary.ReadUvarint(in)
			if err == io.EOF {
				return
			}
			if err == nil && n > uint64(to-from) {
				err = errForeign
			}
			if err == nil {
				data = append(data[:0], make([]byte, n)...)
				_, err = io.ReadFull(in, data)
			}
			one := new(sample.Sample)
			if err == nil {
				err = read.decode(data, one)
			}
			if err != nil {
				s.fail(err)
				return
			}
			if !yield(one) {
				return
			}
		}
	}
}

// fail sets the error that Err returns.
func (s *Store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = fmt.Errorf("samples that were kept in a file: %w", err)
}

// reader returns a reader of the bytes between two positions.
func (s *Store) reader(from, to Mark) io.Reader {
	var parts []io.Reader
	if from < s.filed {
		end := min(to, s.filed)
		parts = append(parts, io.NewSectionReader(s.file, int64(from), int64(end-from)))
	}
	at := s.filed
	for _, b := range s.blocks {
		end := at + Mark(len(b.data))
		if lo, hi := max(from, at), min(to, end); lo < hi {
			parts = append(parts, bytes.NewReader(b.data[lo-at:hi-at]))
		}
		at = end
	}
	return io.MultiReader(parts...)
}

// Err returns the reason why a range ended early, or nil.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close removes the file. The samples in the file can no longer be read. Close may be called more than
// once.
func (s *Store) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.name != "" {
		err = errors.Join(err, os.Remove(s.name))
	}
	s.file = nil
	return err
}
