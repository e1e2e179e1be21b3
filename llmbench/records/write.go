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

// A Writer writes one file: the line about the benchmark, then a line for each request, and finally the
// line about how the benchmark ended. A nil Writer writes nothing. A Writer is not safe for concurrent use.
type Writer struct {
	file *os.File
	buf  *bufio.Writer
	enc  *json.Encoder
	line encoder
}

// maxName is the maximum length in bytes of a benchmark's name in a file name. File systems allow 255 bytes
// for the whole file name.
const maxName = 200

// CheckFolder returns an error unless files of records can be written to the folder dir. It creates the
// folder if necessary.
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

// Create creates a new file in the folder dir, and writes h and the version of the format to it. It creates
// the folder if necessary. The name of the file is the name of the benchmark, with each / replaced by a
// comma, and the first free number. Create does not overwrite files.
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

// Name returns the path of the file, or "" for a nil Writer.
func (w *Writer) Name() string {
	if w == nil {
		return ""
	}
	return w.file.Name()
}

// Write writes the line of a request. The line may stay in a buffer until Flush or Close is called.
func (w *Writer) Write(s *sample.Sample) error {
	if w == nil {
		return nil
	}
	_, err := w.buf.Write(w.line.encode(s))
	return err
}

// Flush passes all buffered lines to the operating system.
func (w *Writer) Flush() error {
	if w == nil {
		return nil
	}
	return w.buf.Flush()
}

// Close writes how the benchmark ended, and closes the file. If a file has no such line, its process was
// killed or is still running.
func (w *Writer) Close(end End) error {
	if w == nil {
		return nil
	}
	return errors.Join(w.enc.Encode(endLine{&end}), w.buf.Flush(), w.file.Close())
}
