package resultfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/resultfile/internal/document"
)

// maxGo is the largest file in Go benchmark format that is read, in bytes.
const maxGo = 64 << 20

// A format is a file format of a tool.
type format struct {
	tool string // as messages name the tool
	base string // of the benchmark's name
	// is reports whether a JSON or YAML value is of the format, and read reads it; both are nil for a format of tables.
	is   func(*document.Node) bool
	read func(*reading)
	// isTable and readTable do the same for the rows of a CSV file.
	isTable   func([][]string) bool
	readTable func(*reading, [][]string)
}

// formats are the known formats. The first that recognises a file reads it.
func formats() []format {
	return slices.Concat(vllmFormats, sglangFormats, evalscopeFormats, guidellmFormats, aiperfFormats, genaibenchFormats, inferenceperfFormats,
		llmdFormats, llamabenchFormats, llmperfFormats, locustFormats, k6Formats, mlperfFormats)
}

// knownTools returns the names of the tools, without repetitions.
func knownTools() string {
	var names []string
	for _, f := range formats() {
		if !slices.Contains(names, f.tool) {
			names = append(names, f.tool)
		}
	}
	return strings.Join(append(names, "Ollama's bench"), ", ")
}

// Read reads a file and recognises its format by its contents. It returns an [Error] if the file cannot be
// read, is of no known format, or has a result that is no sample, such as a run without a
// successful request.
func Read(path string, o Options) (*File, error) {
	f := &File{Path: path}
	in, err := os.Open(path)
	if err != nil {
		return nil, err // it names the path
	}
	defer in.Close()
	if err := f.read(in, o); err != nil {
		var known *Error
		if errors.As(err, &known) {
			return nil, err
		}
		return nil, &Error{Path: path, Text: err.Error(), cause: err}
	}
	return f, nil
}

// read reads the contents of a file.
func (f *File) read(in io.Reader, o Options) error {
	r := bufio.NewReaderSize(in, 64<<10)
	start, err := r.Peek(60 << 10)
	if err != nil && err != io.EOF {
		return err
	}
	switch trimmed := bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\uFEFF")), " \t\r\n"); {
	case len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '['):
		return f.readJSON(r, o)
	case isYAML(start):
		n, err := document.YAML(r)
		if err != nil {
			return err
		}
		return f.readValue(n, "", o)
	case isTable(start):
		return f.readTable(r, o)
	}
	return f.readGo(r, o)
}

// readJSON reads the values of a JSON file. A file of several values has one result a line, and any of
// them may be of a run that was repeated.
func (f *File) readJSON(r io.Reader, o Options) error {
	count := 0
	err := document.JSON(r, func(n *document.Node) error {
		if count++; count > maxResults {
			return errTooManyResults
		}
		at := ""
		if count > 1 {
			at = "object " + itoa(count) + ": "
		}
		return f.readValue(n, at, o)
	})
	if err == nil && count == 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readValue reads a JSON or YAML value, whose keys have a prefix in messages.
func (f *File) readValue(n *document.Node, at string, o Options) error {
	for _, format := range formats() {
		if format.is == nil || !format.is(n) {
			continue
		}
		r := &reading{file: f, options: o, tool: format.tool, base: format.base, node: n, at: at}
		f.Tool = format.tool
		format.read(r)
		return r.err
	}
	return unknownError{}
}

// readTable reads a CSV file.
func (f *File) readTable(in io.Reader, o Options) error {
	rows, err := document.CSV(in)
	if err != nil {
		return err
	}
	for _, format := range formats() {
		if format.isTable == nil || !format.isTable(rows) {
			continue
		}
		r := &reading{file: f, options: o, tool: format.tool, base: format.base}
		f.Tool = format.tool
		format.readTable(r, rows)
		return r.err
	}
	return unknownError{}
}

// readGo reads a file in Go benchmark format, which the gate checks. The lines of Ollama's bench are in
// this format and need more.
func (f *File) readGo(in io.Reader, o Options) error {
	text, err := io.ReadAll(io.LimitReader(in, maxGo+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxGo:
		return errors.New("more than 64 MiB: want the output of go test -bench")
	case isOllama(text):
		r := &reading{file: f, options: o, tool: ollama, base: ollamaBase}
		f.Tool = ollama
		readOllama(r, text)
		return r.err
	}
	if len(bytes.TrimSpace(text)) > 0 && !isGo(text) {
		return unknownError{}
	}
	f.text = text
	return nil
}

// isGo reports whether a line of a text is one that Go's testing package or a file of units has.
func isGo(text []byte) bool {
	for line := range bytes.Lines(text) {
		for _, start := range []string{"Benchmark", "Unit ", "goos:", "pkg:", "PASS", "FAIL", "ok  \t", "--- FAIL"} {
			if bytes.HasPrefix(line, []byte(start)) {
				return true
			}
		}
	}
	return false
}

// isYAML reports whether a text begins as a Benchmark Report in YAML: its top has the key version
// and one of the report's other keys, in any order. Only the first keys are seen.
func isYAML(start []byte) bool {
	found := map[string]bool{}
	for line := range strings.Lines(string(start)) {
		if key, _, ok := strings.Cut(line, ":"); ok {
			found[strings.Trim(key, `"'`)] = true
		}
	}
	return !isGo(start) && (found["version"] && (found["run"] || found["scenario"] || found["metrics"] || found["results"]) ||
		found["results"] && found["run"] || found["metrics"] && found["scenario"] || found["metadata"] && found["benchmarks"])
}

// isTable reports whether the first line of a text is the header of a CSV file.
func isTable(start []byte) bool {
	line, _, _ := bytes.Cut(start, []byte("\n"))
	return bytes.Count(line, []byte(",")) >= 1 && !isGo(start)
}
