package resultfile

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
)

// A Text is a side of a comparison in Go benchmark format.
type Text struct {
	Bytes  []byte
	starts []start // the starts of files, in the order of lines
}

// A start is the line of a Text at which the results of a file begin.
type start struct {
	line  int
	path  string
	whole bool // whether the file was copied, so that its lines can be counted from line
}

// Position returns the file from which a line of the text comes, and the line number in this file. The line
// number is 0 if the file is not in Go benchmark format.
func (t *Text) Position(line int) (path string, in int) {
	for _, s := range slices.Backward(t.starts) {
		if line >= s.line {
			if s.whole {
				in = line - s.line + 1
			}
			return s.path, in
		}
	}
	return "", 0
}

// repetition matches the end of a file name, without extension, that numbers one of several runs on the
// same server start, as vLLM's perf-eval and "vllm bench sweep" write it
// (https://github.com/vllm-project/perf-eval/blob/main/lib/run_vllm_bench.sh,
// https://github.com/vllm-project/vllm/blob/main/vllm/benchmarks/sweep/serve.py).
var repetition = regexp.MustCompile(`(-run-|[/\\]run=)\d+$`)

// process returns a text that is equal for all files from the same start of a server.
func (f *File) process() string {
	stem := strings.TrimSuffix(f.Path, filepath.Ext(f.Path))
	return repetition.ReplaceAllString(stem, "\x00")
}

// Text returns the side in Go benchmark format, preceded by the Unit lines in units. Each file of another
// tool becomes one run; repetitions on the same server that are in several files also become one run. Files
// in Go benchmark format are copied unchanged; a side that is nothing but one such file is not even copied.
func (s *Side) Text(units []string) *Text {
	if f := s.Files[0]; len(s.Files) == 1 && len(units) == 0 && f.Tool == "" {
		return &Text{f.text, []start{{1, f.Path, true}}}
	}
	t := &Text{}
	var b bytes.Buffer
	lines := 0
	write := func(text string) {
		b.WriteString(text)
		lines += strings.Count(text, "\n")
	}
	for _, u := range units {
		write(u + "\n")
	}
	files := slices.Clone(s.Files)
	slices.SortStableFunc(files, func(a, b *File) int { return strings.Compare(a.process(), b.process()) })
	set := map[string]bool{} // keys of configuration lines in force
	for i, f := range files {
		if f.Tool == "" {
			write(unset(set, nil))
			t.starts = append(t.starts, start{lines + 1, f.Path, true})
			b.Write(f.text)
			lines += bytes.Count(f.text, []byte("\n"))
			if i+1 < len(files) {
				if !bytes.HasSuffix(f.text, []byte("\n")) {
					write("\n")
				}
				set = keysOf(f.text)
			}
			continue
		}
		t.starts = append(t.starts, start{lines + 1, f.Path, false})
		write(unset(set, nil))
		set = f.write(write)
		if i+1 == len(files) || files[i+1].process() != f.process() {
			write("PASS\n")
		}
	}
	t.Bytes = b.Bytes()
	return t
}

// keysOf returns the keys of the configuration lines of a text.
func keysOf(text []byte) map[string]bool {
	keys := map[string]bool{}
	for res := range benchline.Records[*benchfmt.Result](text) {
		for _, c := range res.Config {
			if c.File {
				keys[c.Key] = true
			}
		}
	}
	return keys
}

// unset returns the configuration lines that end the keys of set, except those that are in now.
func unset(set, now map[string]bool) (lines string) {
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if !now[key] {
			lines += key + ":\n"
		}
	}
	return lines
}

// write writes the results in a file of another tool. It returns the keys of the configuration lines in
// force.
func (f *File) write(write func(string)) map[string]bool {
	set := map[string]bool{}
	for _, r := range f.Results {
		config := slices.Concat([]benchfile.Setting{{Key: "tool", Value: f.Tool}}, r.Config, r.Settings)
		if !r.Time.IsZero() {
			config = append(config, benchfile.Setting{Key: "date", Value: r.Time.Format("2006-01-02T15:04:05")})
		}
		now := map[string]bool{}
		for _, c := range config {
			now[c.Key] = true
			write(c.Key + ": " + c.Value + "\n")
		}
		write(unset(set, now))
		set = now
		var line strings.Builder
		fmt.Fprintf(&line, "Benchmark%s 1", r.Name)
		for _, v := range r.Values {
			line.WriteString(" " + strconv.FormatFloat(v.Value, 'g', 12, 64) + " " + v.Unit)
		}
		write(line.String() + "\n")
	}
	return set
}
