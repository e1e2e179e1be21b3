// Package store keeps the samples of a measurement of any length in bounded memory. They are
// encoded; those that exceed the bound are in a file.
package store

import (
	"bufio"
	"bytes"
	"cmp"
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

// Bound is how many bytes of samples a measurement keeps in memory.
const Bound = 64 << 20

// The sizes of what is written to the file at once. A small bound has small blocks.
const (
	leastBlock = 4 << 10
	mostBlock  = 256 << 10
)

// A Store is a sequence of samples, which can be added to and ranged over as often as wanted.
// Ranges may overlap with each other, but not with Add.
type Store struct {
	bound int
	dir   string // of the file
	block int    // size

	blocks []*block // in memory, all but the last full
	spare  *block   // an empty one, or nil
	size   Mark     // of all samples
	filed  Mark     // the end of those in the file; the others are in blocks
	file   *os.File // nil until it is needed, and after Close
	name   string   // of a file that must be removed

	write codec

	mu  sync.Mutex
	err error // guarded by mu; of a range
}

// A Mark is a place between two samples of a Store. The zero Mark is the beginning.
type Mark int64

// New returns an empty Store that keeps up to bound bytes in memory. The file is in dir, or in
// the system's folder for temporary files if dir is "".
func New(bound int, dir string) *Store {
	return &Store{bound: bound, dir: dir, block: min(max(bound, leastBlock), mostBlock)}
}

// Add adds a copy of a sample. Only the text of the sample's error is kept. If Add returns an error,
// the Store must not be used any more.
func (s *Store) Add(one *sample.Sample) error {
	data := s.write.encode(one)
	s.append(binary.AppendUvarint(nil, uint64(len(data))))
	s.append(data)
	// From the time when the bound is exceeded, full blocks go to the file as they come. An Add writes
	// at most two of them, because the samples that come next wait for the write.
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
	file, b := s.file, s.blocks[0]
	err := Write(cmp.Or(s.dir, os.TempDir()), func() (err error) {
		if file == nil {
			if file, err = os.CreateTemp(s.dir, "llmbench-samples-*.tmp"); err != nil {
				return err
			}
		}
		_, err = file.Write(b.data)
		return err
	})
	if !errors.Is(err, ErrHangs) && file != nil && s.file == nil {
		s.setFile(file)
	}
	if err != nil {
		return fmt.Errorf("samples beyond %d bytes: %w", s.bound, err)
	}
	s.filed += Mark(len(b.data))
	b.data = b.data[:0]
	s.spare, s.blocks[0] = b, nil
	s.blocks = s.blocks[1:]
	return nil
}

// setFile makes file the file of s. No name leads to it, where the system allows that.
func (s *Store) setFile(file *os.File) {
	s.file = file
	if os.Remove(file.Name()) != nil { // not every system removes an open file
		s.name = file.Name()
	}
}

// End returns the place after the last sample.
func (s *Store) End() Mark { return s.size }

// Between ranges over the samples between two places, in the order in which they were added.
// Each sample is a new one, and the caller's. A range ends early if the file cannot be read;
// then Err returns why.
func (s *Store) Between(from, to Mark) iter.Seq[*sample.Sample] {
	return func(yield func(*sample.Sample) bool) {
		defer runtime.KeepAlive(s) // and with it the blocks that are read
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

// fail makes err the reason why a range ended early.
func (s *Store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = fmt.Errorf("samples that were kept in a file: %w", err)
}

// reader returns the bytes between two places.
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

// Err returns why a range ended early, or nil.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close removes the file. The samples that were in it cannot be read any more. Close may be called
// again.
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
