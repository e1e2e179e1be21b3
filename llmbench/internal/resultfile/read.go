package resultfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
)

// maxGo is the maximum size of a file in Go benchmark format, in bytes.
const maxGo = 64 << 20

// formats returns the known formats. The first one that recognises a file is used to read it.
func formats() []format {
	return slices.Concat(vllmFormats, sglangFormats, evalscopeFormats, guidellmFormats, aiperfFormats, genaibenchFormats, inferenceperfFormats,
		llmdFormats, llamabenchFormats, llmperfFormats, locustFormats, k6Formats, mlperfFormats)
}

// knownTools returns the names of the tools, without duplicates.
func knownTools() string {
	var names []string
	for _, f := range formats() {
		if !slices.Contains(names, f.tool) {
			names = append(names, f.tool)
		}
	}
	return strings.Join(append(names, "Ollama's bench"), ", ")
}

// An unknownError says that the format of a file is not known.
type unknownError struct{}

func (unknownError) Error() string {
	return "no result file that is known: want Go benchmark format, by go test without -json, or a file of " + knownTools()
}

// isBeside reports whether an error says that a file is not a result, but may be in a folder with results.
func isBeside(err error) bool {
	_, beside := errors.AsType[besideError](err)
	_, unknown := errors.AsType[unknownError](err)
	return beside || unknown
}

// Read reads a file and recognises its format by its contents. It returns an [Error] if the file cannot be
// read, if its format is not known, or if one of its results cannot be used as a sample, for example a run
// without a successful request.
func Read(path string, o Options) (*File, error) {
	f := &File{Path: path}
	in, err := os.Open(path)
	if err != nil {
		return nil, err // already names the path
	}
	defer in.Close()
	if info, err := in.Stat(); err == nil {
		f.size = min(info.Size(), maxGo)
	}
	if err := f.read(in, o); err != nil {
		if _, known := errors.AsType[*Error](err); known {
			return nil, err
		}
		return nil, &Error{Path: path, Text: err.Error(), cause: err}
	}
	return f, nil
}

// read reads the contents of a file, which may be UTF-16.
func (f *File) read(in io.Reader, o Options) error {
	r := bufio.NewReaderSize(benchline.UTF8(in), 64<<10)
	start, err := r.Peek(60 << 10)
	if err != nil && err != io.EOF {
		return err
	}
	switch trimmed := bytes.TrimLeft(start, " \t\r\n"); {
	case hasResult(start), bytes.HasPrefix(trimmed, []byte("[")) && isGo(start): // a log may begin like another format
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

// readJSON reads the values in a JSON file. A file with several values has one result on each line; some of
// them may be repetitions of a run.
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

// readValue reads a JSON or YAML value. Messages about a key of the value begin with the text at.
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

// readGo reads a file in Go benchmark format. The gate checks such files later. The output of Ollama's
// bench has this format too, but needs further processing.
func (f *File) readGo(in io.Reader, o Options) error {
	b := bytes.NewBuffer(make([]byte, 0, f.size+bytes.MinRead)) // a log may be large, and is not copied
	if _, err := b.ReadFrom(io.LimitReader(in, maxGo+1)); err != nil {
		return err
	}
	text, err := benchline.Text(b)
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

// Whole returns an error if the file is in Go benchmark format and its last line has no line end.
func (f *File) Whole() error {
	if len(f.text) == 0 || bytes.HasSuffix(f.text, []byte("\n")) {
		return nil
	}
	return fmt.Errorf("%s:%d: the last line has no line end: was the file cut off?", f.Path, 1+bytes.Count(f.text, []byte("\n")))
}

// hasResult reports whether a text has a result line. JSON has none, since the line would have to begin with a quote.
func hasResult(text []byte) bool {
	for b := range bytes.Lines(text) {
		if bytes.HasPrefix(b, []byte("Benchmark")) && benchline.KindOf(string(bytes.TrimRight(b, "\r\n"))) == benchline.Figure {
			return true
		}
	}
	return false
}

// isGo reports whether a text contains a line that Go's testing package prints, or a Unit line. A line that merely begins
// with the word Benchmark is not enough, because other tools' logs and tables have such lines.
func isGo(text []byte) bool {
	for b := range bytes.Lines(text) {
		line := string(bytes.TrimRight(b, "\r\n"))
		if line == "PASS" || line == "FAIL" || benchline.KindOf(line) != benchline.Other {
			return true
		}
		for _, start := range []string{"goos:", "pkg:", "FAIL\t", "ok  \t", "--- FAIL"} {
			if strings.HasPrefix(line, start) {
				return true
			}
		}
	}
	return false
}

// isYAML reports whether a text begins like a Benchmark Report or GuideLLM's report in YAML: it has two keys of one of
// them, in any order. Only the beginning of the text is examined. A report whose keys are sorted is also
// recognised if all behind its results was cut off.
func isYAML(start []byte) bool {
	found := map[string]bool{}
	for line := range strings.Lines(string(start)) {
		if key, _, ok := strings.Cut(line, ":"); ok {
			found[strings.Trim(key, `"'`)] = true
		}
	}
	return !isGo(start) && (found["version"] && (found["run"] || found["scenario"] || found["metrics"] || found["results"]) ||
		found["results"] && (found["run"] || found["  request_performance"] || found["  component_health"] || found["  observability"]) ||
		found["metrics"] && (found["scenario"] || found["  latency"]) || found["metadata"] && found["benchmarks"])
}

// isTable reports whether a text begins with the header of a tool's CSV file. If the text ends within its first line, any
// line with a comma may be such a header that was cut off.
func isTable(start []byte) bool {
	line, _, whole := bytes.Cut(start, []byte("\n"))
	if !whole {
		return bytes.Contains(line, []byte(",")) && !isGo(start)
	}
	rows, err := document.CSV(bytes.NewReader(start[:len(line)+1]))
	return err == nil && slices.ContainsFunc(formats(), func(f format) bool { return f.isTable != nil && f.isTable(rows) })
}
