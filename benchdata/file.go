package benchdata

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-2b9cec6d/llmbench/benchdata/internal/questions"
)

// maxRecord is the largest size of a record in bytes, about four million tokens of text.
// maxRow is the largest size of a CSV row in bytes. The limits bound the memory that reading
// a file needs.
const (
	maxRecord = 16 << 20
	maxRow    = 1 << 20
)

// maxWindow is the largest window of a zstd file in bytes. It is the default limit of
// the zstd command.
const maxWindow = 128 << 20

// A source reads the decompressed text of a file. It counts lines and limits the size of a
// record.
type source struct {
	r        io.Reader
	newlines int
	limit    int        // largest size of a record in bytes
	left     int        // bytes that may be read before the next call of record
	line     func() int // returns the number of the last line read, from 1; set by the reader of records
	close    func()
}

// errTooLong is the error of a record that is too long. Its value is the limit in bytes.
type errTooLong int

func (limit errTooLong) Error() string {
	return fmt.Sprintf("the record is longer than the limit of %d MiB", limit>>20)
}

// newSource returns a source of r. It recognizes gzip and zstd by their first bytes,
// and skips a UTF-8 byte order mark.
func newSource(r io.Reader) (*source, error) {
	s := &source{limit: maxRecord, left: maxRecord, close: func() {}}
	b := bufio.NewReaderSize(r, 64<<10)
	magic, err := b.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	var text io.Reader = b
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		if text, err = gzip.NewReader(b); err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		text, s.close = z, z.Close
	}
	if text != io.Reader(b) {
		b = bufio.NewReaderSize(text, 64<<10)
	}
	s.r = b
	begin, err := b.Peek(3)
	switch {
	case err != nil && err != io.EOF:
		s.close()
		return nil, err
	case len(begin) == 0:
		s.close()
		return nil, errors.New("the file is empty")
	case bytes.HasPrefix(begin, []byte{0xfe, 0xff}) || bytes.HasPrefix(begin, []byte{0xff, 0xfe}):
		s.close()
		return nil, errors.New("the file is UTF-16: want UTF-8")
	case bytes.Equal(begin, []byte{0xef, 0xbb, 0xbf}):
		b.Discard(3)
	}
	return s, nil
}

// record begins a new record. read is the number of bytes of the record that have been read
// already.
func (s *source) record(read int) { s.left = s.limit - read }

// Read reads text. It returns an errTooLong if the record is longer than the limit.
func (s *source) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, errTooLong(s.limit)
	}
	n, err := s.r.Read(p[:min(len(p), s.left)])
	s.left -= n
	s.newlines += bytes.Count(p[:n], []byte{'\n'})
	return n, err
}

// A lineError is an error in a line of a file. The first line is 1.
type lineError = questions.LineError

// readFile calls read with the text of the file at path. Errors begin with the kind of data
// set, the path and, if known, the line.
func readFile[T any](kind, path string, read func(*source) (T, error)) (T, error) {
	var none T
	f, err := os.Open(path)
	if err != nil {
		return none, fmt.Errorf("%s: %w", kind, err)
	}
	defer f.Close()
	if i, err := f.Stat(); err == nil && i.IsDir() {
		return none, fmt.Errorf("%s %s: is a folder: want a file", kind, path)
	}
	got, err := readText(f, read)
	if at, ok := errors.AsType[*lineError](err); ok {
		return none, fmt.Errorf("%s %s:%d: %w", kind, path, at.Line, at.Err)
	}
	if err != nil {
		return none, fmt.Errorf("%s %s: %w", kind, path, err)
	}
	return got, nil
}

// readFrom is like readFile for a file that is read from r.
func readFrom[T any](kind string, r io.Reader, read func(*source) (T, error)) (T, error) {
	got, err := readText(r, read)
	if err != nil {
		var none T
		return none, fmt.Errorf("%s: %w", kind, err)
	}
	return got, nil
}

// readText calls read with the decompressed text of r.
func readText[T any](r io.Reader, read func(*source) (T, error)) (T, error) {
	s, err := newSource(r)
	if err != nil {
		var none T
		return none, err
	}
	defer s.close()
	return read(s)
}

// lines yields the lines that are not blank, without line ends.
func lines(s *source) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		b := bufio.NewReaderSize(s, 64<<10)
		for line := 1; ; line++ {
			s.record(b.Buffered())
			text, err := b.ReadString('\n')
			if err != nil && err != io.EOF {
				yield("", &lineError{Line: line, Err: err})
				return
			}
			if strings.TrimSpace(text) != "" && !yield(strings.TrimRight(text, "\r\n"), nil) {
				return
			}
			if err == io.EOF {
				return
			}
		}
	}
}
