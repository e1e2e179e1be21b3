package backends

import (
	"path"
	"regexp"
	"strings"
)

// ggufTypes finds what a name says about how a model's weights are quantized: a
// word of it, so that BF16 is not taken for F16, or Q4_0 for a part of Q4_0_4_4.
var ggufTypes = regexp.MustCompile(`(?:^|[^A-Z0-9])(BF16|FP?16|F32|I?Q[1-8](?:_(?:[0-9]|K|S|M|L|XL|XS|XXS|NL))+|TQ[12]_0|MXFP4)(?:$|[^A-Z0-9])`)

// gguf checks that the file's name does not contradict the quantization: that
// another file was measured than was meant is a mistake that nobody sees later.
func (m *maker) gguf() {
	want := m.from.Quantization
	if want == "" || m.from.ModelsDir == "" {
		return
	}
	if says := quantized(path.Base(m.from.Model)); says != "" && says != quantized(want) {
		m.wrong("Quantization", "%q: the model's file is %q, whose name says %s", want, m.from.Model, says)
	}
}

// quantized returns the quantization that a name says, in upper case, or "". Of
// several it is the last, as in Meta-F16-to-Q8_0.gguf.
func quantized(name string) (says string) {
	// One separator may end a word and begin the next.
	name = strings.NewReplacer("-", "--", ".", "..", ":", "::").Replace(strings.ToUpper(name))
	for _, found := range ggufTypes.FindAllStringSubmatch(name, -1) {
		says = found[1]
	}
	return strings.Replace(says, "FP16", "F16", 1)
}
