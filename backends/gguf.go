package backends

import (
	"path"
	"regexp"
	"strings"
)

// ggufType matches a quantization in the name of a GGUF file. It matches whole
// words, so that BF16 is not taken for F16, nor Q4_0_4_4 for Q4_0.
var ggufType = regexp.MustCompile(`(?:^|[^A-Z0-9])(BF16|FP?16|F32|I?Q[1-8](?:_(?:[0-9]|K|S|M|L|XL|XS|XXS|NL))+|TQ[12]_0|MXFP4)(?:$|[^A-Z0-9])`)

// checkGGUF notes an error if the name of the model's file contradicts
// Quantization. Nobody would notice afterwards that the wrong file was measured.
func (b *builder) checkGGUF() {
	want := b.from.Quantization
	if want == "" || b.from.ModelsDir == "" {
		return
	}
	if found := ggufQuantization(path.Base(b.from.Model)); found != "" && found != ggufQuantization(want) {
		b.invalid("Quantization", "%q: the name of the model's file, %q, says %s", want, b.from.Model, found)
	}
}

// ggufQuantization returns the quantization in a file's name, in upper case, or
// "". If there are several it returns the last one: Q8_0 of Meta-F16-to-Q8_0.gguf.
func ggufQuantization(name string) (last string) {
	// A separator may end one word and begin the next: double it for the regular
	// expression.
	name = strings.NewReplacer("-", "--", ".", "..", ":", "::").Replace(strings.ToUpper(name))
	for _, found := range ggufType.FindAllStringSubmatch(name, -1) {
		last = found[1]
	}
	return strings.Replace(last, "FP16", "F16", 1)
}
