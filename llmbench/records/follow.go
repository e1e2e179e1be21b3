package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// A Follower reads a file of records while the file grows. Each call of [Follower.Next] reads what was
// added since the last call, so that a file of any size is read once. A Follower keeps no requests, and at
// most one incomplete line. It is not safe for concurrent use. It does not hold the file open between
// calls.
type Follower struct {
	path   string
	file   os.FileInfo // identifies the file that was read; nil before the first call of Next
	offset int64       // where the next read begins; all lines before it have been read
	pass   int32       // the pass of the last request, or -1
	parser *parser
	lines  int
	head   *Head
	end    *End
	err    error // error of the format that makes the file unreadable
}

// Follow returns a Follower of the file at path. The file does not have to exist yet.
func Follow(path string) *Follower { return &Follower{path: path, pass: -1} }

// Head returns the line about the benchmark, or nil if it has not been read yet.
func (f *Follower) Head() *Head { return f.head }

// End returns the line about the end, or nil if it has not been read yet.
func (f *Follower) End() *End { return f.end }

// Next reads up to most bytes that were added to the file, and calls each with every complete request in
// them, in the order of the file. The pointer that each receives is valid only during the call. Next
// returns the number of bytes that are left unread: at least the length of an incomplete last line.
//
// If another file replaced the file, or if the file is shorter than what was read, Next reads nothing and
// returns [ErrReplaced]. The next call begins with the first line. Next may also return an error from
// reading the file, or an error of the format like Read. After an error of the format, Next returns the
// same error until the file is replaced.
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

// ErrReplaced reports that the file of a [Follower] was replaced or truncated.
var ErrReplaced = errors.New("the records were replaced by others")

// read reads the complete lines in the next n bytes of the file. If these bytes end before the first line
// does, it reads that whole line. The argument size is the size of the file.
func (f *Follower) read(file io.ReaderAt, n, size int64, each func(q *Request)) error {
	for n > 0 {
		part := make([]byte, min(n, int64(blockSize)))
		got, err := file.ReadAt(part, f.offset)
		if err != nil && err != io.EOF {
			return err
		}
		part = part[:got]
		whole := bytes.LastIndexByte(part, '\n') + 1
		if whole == 0 && size > f.offset+int64(got) { // the line is longer than the part
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

// long returns the next line, or nil if the line is incomplete. It first reads size bytes, and then more if
// necessary.
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

// block parses complete lines.
func (f *Follower) block(text []byte, each func(q *Request)) error {
	for line := range bytes.Lines(text) {
		if err := f.line(line, each); err != nil {
			return at(f.path, f.lines+1, err)
		}
		f.lines++
	}
	return nil
}

func (f *Follower) line(line []byte, each func(q *Request)) error {
	if f.head == nil {
		head, err := parseHead(bytes.TrimRight(line, "\r\n"))
		if err != nil {
			return err
		}
		f.head = &head
		f.parser = newParser(f.head)
		return nil
	}
	b := block{end: f.end}
	if err := f.parser.add(&b, line, f.lines+1); err != nil {
		return err
	}
	f.end = b.end
	for i := range b.all {
		if err := checkPass(b.all[i].Pass, f.pass); err != nil {
			return err
		}
		f.pass = b.all[i].Pass
		each(&b.all[i])
	}
	return nil
}
