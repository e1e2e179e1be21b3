package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// A Follower reads a file of records while the file grows. Each call of [Follower.Next] reads
// what was added since the last one, so that a file of any size is read once. A Follower keeps
// nothing of the requests, and at most one incomplete line. It is not safe for concurrent use,
// and holds no file open between calls.
type Follower struct {
	path   string
	file   os.FileInfo // of the file that was read; nil before the first one
	offset int64       // of the file, up to which lines were read
	pass   int32
	parser *parser
	lines  int
	head   *Head
	end    *End
	err    error // what made the file unreadable
}

// Follow returns a Follower of the file at path. The file need not exist yet.
func Follow(path string) *Follower { return &Follower{path: path} }

// Head returns the line about the benchmark, or nil if it has not been read yet.
func (f *Follower) Head() *Head { return f.head }

// End returns the line about the end, or nil if it has not been read yet.
func (f *Follower) End() *End { return f.end }

// Next reads up to most bytes that were added to the file, and calls each with every complete
// request among them, in the order of the file. It returns the number of bytes of the file
// that have not been read: an incomplete last line, or more. The pointer that each gets is
// valid during the call.
//
// If the file was replaced by another one, or is shorter than what was read, Next reads
// nothing and returns [ErrReplaced]; the next call begins with the first line. Other errors
// are those of Read, and of reading the file. After an error of the format, Next returns
// that error until the file is replaced.
func (f *Follower) Next(most int64, each func(q *Request)) (left int64, err error) {
	file, err := os.Open(f.path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if f.file != nil && (!os.SameFile(f.file, info) || info.Size() < f.offset) {
		*f = *Follow(f.path)
		return info.Size(), ErrReplaced
	}
	f.file = info
	if f.err != nil {
		return 0, f.err
	}
	left = info.Size() - f.offset
	if f.err = f.read(file, min(most, left), info.Size(), each); f.err != nil {
		return 0, f.err
	}
	return info.Size() - f.offset, nil
}

// ErrReplaced reports that the file that a [Follower] reads was replaced or cut.
var ErrReplaced = errors.New("the records were replaced by others")

// read reads the complete lines among the next n bytes of a file of that size, and at least one
// line if it is complete.
func (f *Follower) read(file io.ReaderAt, n, size int64, each func(q *Request)) error {
	for n > 0 {
		part := make([]byte, min(n, int64(blockSize)))
		got, err := file.ReadAt(part, f.offset)
		if err != nil && err != io.EOF {
			return err
		}
		part = part[:got]
		whole := bytes.LastIndexByte(part, '\n') + 1
		if whole == 0 && size > f.offset+int64(got) { // a line that is longer than the part
			if part, err = f.long(file, 2*len(part)); err != nil {
				return err
			}
			whole = len(part)
		}
		if whole == 0 {
			return nil
		}
		if err := f.block(part[:whole], each); err != nil {
			return err
		}
		f.offset += int64(whole)
		n -= int64(whole)
	}
	return nil
}

// long returns the next line if it is complete, and else nothing. It reads size bytes at first.
func (f *Follower) long(file io.ReaderAt, size int) ([]byte, error) {
	for ; size <= 2*maxLine; size *= 2 {
		part := make([]byte, size)
		got, err := file.ReadAt(part, f.offset)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if end := bytes.IndexByte(part[:got], '\n'); end >= 0 {
			return part[:end+1], nil
		}
		if got < size {
			return nil, nil
		}
	}
	return nil, fmt.Errorf("%s:%d: a line of more than %d bytes", f.path, f.lines+1, maxLine)
}

// block reads complete lines.
func (f *Follower) block(text []byte, each func(q *Request)) error {
	for line := range bytes.Lines(text) {
		if err := f.line(bytes.TrimRight(line, "\r\n"), each); err != nil {
			return at(f.path, f.lines+1, err)
		}
		f.lines++
	}
	return nil
}

func (f *Follower) line(line []byte, each func(q *Request)) error {
	switch {
	case f.end != nil:
		return errAfter
	case f.head == nil:
		head, err := parseHead(line)
		if err != nil {
			return err
		}
		f.head = &head
		f.parser = newParser(f.head)
		return nil
	case bytes.HasPrefix(line, []byte(`{"end":`)):
		end, err := parseEnd(line)
		f.end = end
		return err
	}
	q, err := f.parser.request(line, f.lines+1)
	if err != nil {
		return err
	}
	if first := f.lines == 1; first && q.Pass != 0 || !first && q.Pass != f.pass && q.Pass != f.pass+1 {
		return fmt.Errorf("pass %d after pass %d: want passes one after another, from 0", q.Pass, f.pass)
	}
	f.pass = q.Pass
	each(&q)
	return nil
}
