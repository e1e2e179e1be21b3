package resultfile

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const ollama, ollamaBase = "Ollama's bench", "Ollama"

// ollamaFields are the metrics of Ollama's cmd/bench. The tool writes a line in Go benchmark format for
// each step of an epoch, but no PASS (https://github.com/ollama/ollama/blob/main/cmd/bench/bench.go). The
// times of prefill and generate are reported by the server. All epochs come from one process.
var ollamaFields = []struct {
	step, in string // in is the unit in the line
	unit     string
}{
	{"generate", "token/sec", sample.ServerOutputRate},
	{"prefill", "token/sec", sample.ServerPromptRate},
	{"ttft", "ns/op", sample.P50TTFT},
	{"generate", "ns/token", sample.P50TPOT},
	{"total", "ns/op", sample.P50E2E},
}

// isOllama reports whether a text contains a line of Ollama's bench, such as
// "BenchmarkModel/name=gemma3/step=generate 1 9.5 ns/token 100 token/sec".
func isOllama(text []byte) bool {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("BenchmarkModel/name=")) && bytes.Contains(line, []byte("/step=")) {
			return true
		}
	}
	return false
}

// readOllama reads the epochs of each model as one result with their medians.
func readOllama(r *reading, text []byte) {
	lines, err := benchfile.Read(bytes.NewReader(text), r.file.Path)
	if err != nil {
		r.err = &Error{Path: r.file.Path, Text: strings.TrimPrefix(err.Error(), r.file.Path+":")}
		return
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		r.failf("", "has a last line without an end: was the file cut off?")
	}
	var models []string
	values := map[[3]string][]float64{} // by model, step and unit
	for _, line := range lines {
		model := line.Name.Key("name")
		if !slices.Contains(models, model) {
			models = append(models, model)
		}
		for _, v := range line.Values {
			if v.Value <= 0 {
				r.failf("line "+itoa(line.Line)+" "+v.Unit, "is %v, as if nothing was counted: want more than 0", v.Value)
			}
			key := [3]string{model, line.Name.Key("step"), v.Unit}
			values[key] = append(values[key], v.Value)
		}
	}
	for _, model := range models {
		r.begin("", nil)
		r.ollamaSteps(lines, model)
		r.loadIs("model", "name", model)
		r.ollamaComment(text, model)
		for _, f := range ollamaFields {
			epochs := values[[3]string{model, f.step, f.in}]
			if len(epochs) > 1 {
				r.notef("the %d epochs come from one process, so they count as one observation, the median of the epochs", len(epochs))
			}
			if len(epochs) > 0 {
				r.add(f.unit, robust.Median(epochs), Source{ollama, "step=" + f.step + " " + f.in, f.in, 1})
			}
		}
		r.end()
	}
}

// ollamaComment adds what the comment about a model states, such as "# Model: gemma3 | Params: 4.3B | Quant: Q4_K_M | NumCtx:
// 4096". VRAM is a result: how much of the model the server has put there.
func (r *reading) ollamaComment(text []byte, model string) {
	for line := range strings.Lines(string(text)) {
		about, found := strings.CutPrefix(strings.TrimSpace(line), "# Model: "+model+" | ")
		if !found {
			continue
		}
		for part := range strings.SplitSeq(about, " | ") {
			if key, value, ok := strings.Cut(part, ": "); ok && key != "VRAM" {
				r.setting(key, value)
			}
		}
		return
	}
}

// ollamaSteps checks that each epoch of a model has all of its steps. The last one is the total, which old versions write
// without the key step.
func (r *reading) ollamaSteps(lines []benchfile.Result, model string) {
	count, most := map[string]int{"total": 0}, 0
	for _, line := range lines {
		if line.Name.Key("name") == model {
			step := cmp.Or(line.Name.Key("step"), "total")
			count[step]++
			most = max(most, count[step])
		}
	}
	for _, step := range slices.Sorted(maps.Keys(count)) {
		if count[step] < most {
			r.failf("step="+step, "has %d of %d lines: was the file cut off?", count[step], most)
		}
	}
}
