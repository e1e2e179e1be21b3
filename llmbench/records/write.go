package records

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Writer writes one file: the line about the benchmark, then a line for each request,
// and at last one about how the benchmark ended. A nil Writer writes nothing. It is not
// safe for concurrent use.
type Writer struct {
	file *os.File
	buf  *bufio.Writer
	enc  *json.Encoder
	line encoder
}

// maxName is the number of bytes of a benchmark's name that a file name holds: file
// systems allow 255 in all.
const maxName = 200

// CheckFolder returns an error unless files of records can be written to dir, which it makes if it is
// missing.
func CheckFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".llmbench-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Create makes a new file in dir, which it makes if it is missing, and writes h to it
// with the version of the format. The file is named for the benchmark, with / replaced
// by a comma, and the first number that is free; no file is overwritten.
func Create(dir string, h Head) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	name := strings.ReplaceAll(h.Benchmark, "/", ",")
	if len(name) > maxName {
		hash := fnv.New64a()
		hash.Write([]byte(name))
		name = fmt.Sprintf("%s~%016x", name[:maxName], hash.Sum64())
	}
	var file *os.File
	for n := 1; file == nil; n++ {
		var err error
		file, err = os.OpenFile(filepath.Join(dir, fmt.Sprintf("%s.%d.jsonl", name, n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	buf := bufio.NewWriterSize(file, 64<<10)
	w := &Writer{file: file, buf: buf, enc: json.NewEncoder(buf), line: encoder{shards: h.Shards > 0}}
	h.Version, h.Ends = Version, true
	if err := errors.Join(w.enc.Encode(h), buf.Flush()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return w, nil
}

// Name returns the path of the file, or "" of a nil Writer.
func (w *Writer) Name() string {
	if w == nil {
		return ""
	}
	return w.file.Name()
}

// Write writes the line of a request. The operating system has the line after Flush at the
// latest.
func (w *Writer) Write(s *sample.Sample) error {
	if w == nil {
		return nil
	}
	_, err := w.buf.Write(w.line.encode(s))
	return err
}

// Flush hands what was written to the operating system.
func (w *Writer) Flush() error {
	if w == nil {
		return nil
	}
	return w.buf.Flush()
}

// Close writes how the benchmark ended, and closes the file. A file without that line is
// of a process that was killed, or still runs.
func (w *Writer) Close(end End) error {
	if w == nil {
		return nil
	}
	return errors.Join(w.enc.Encode(endLine{&end}), w.buf.Flush(), w.file.Close())
}
