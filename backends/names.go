package backends

// This file reads the names of images and of model files.

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
)

// checkedVersions lists, for each server, the versions in testdata/facts, newest first. Tests compare the
// server's settings with the sources of these versions.
var checkedVersions = map[string][]string{
	"dynamo":          {"1.5.0"},
	"llamacpp":        {"b11312", "b10868"},
	"llamacpp-python": {"0.3.35", "0.3.5"},
	"lmdeploy":        {"0.17.0", "0.16.0"},
	"mindie":          {"3.0.0"},
	"ollama":          {"0.35.1"},
	"openllm":         {"0.4.44", "0.4.15"},
	"sglang":          {"0.5.21", "0.5.19"},
	"tensorrtllm":     {"1.2.1"},
	"textgen":         {"4.7.3", "3.23"},
	"tei":             {"1.9.3"},
	"tgi":             {"3.3.7", "3.3.5"},
	"vllm":            {"0.31.0", "0.19.1"},
	"vllm-disagg":     {"20260809"},
	"xinference":      {"3.5.0"},
}

// noteUnchecked adds a warning if the image's tag names none of the checked versions: such a version may
// have different options and metrics.
func (b *builder) noteUnchecked() {
	versions := checkedVersions[b.Backend]
	if versions == nil || slices.ContainsFunc(versions, func(v string) bool { return launch.TagHas(b.Image, v) }) {
		return
	}
	list := strings.Join(versions, ", ")
	b.Config["image-checked"] = "no" // without the list of versions, so that a longer list does not make old and new results incomparable
	b.Unchecked = fmt.Sprintf("the image %s names none of the versions that this program was compared with (%s): it may lack an option, a metric or a request of those", b.Image, list)
}

var versionInTag = regexp.MustCompile(`^v?(\d+(?:\.\d+){1,2})(?:rc(\d+))?(?:$|[-_])`)

// tagVersion returns the version at the beginning of an image's tag, in the form of package semver:
// v1.3.0-rc.5 for 1.3.0rc5, and v3.23 for v3.23-cuda. It returns "" if the tag does not begin with a
// version.
func tagVersion(image string) string {
	m := versionInTag.FindStringSubmatch(launch.Tag(image))
	switch {
	case m == nil:
		return ""
	case m[2] != "":
		return "v" + m[1] + "-rc." + m[2]
	default:
		return "v" + m[1]
	}
}

// ggufType matches a quantization in the name of a GGUF file. It matches only whole words, so it does not
// find F16 in BF16, or Q4_0 in Q4_0_4_4.
var ggufType = regexp.MustCompile(`(?:^|[^A-Z0-9])(BF16|FP?16|F32|I?Q[1-8](?:_(?:[0-9]|K|S|M|L|XL|XS|XXS|NL))+|TQ[12]_0|MXFP4)(?:$|[^A-Z0-9])`)

// checkGGUF records an error if the name of the model's file contradicts Quantization. After the run,
// nobody would notice that the wrong file was measured.
func (b *builder) checkGGUF() {
	want := b.from.Quantization
	if want == "" || b.from.ModelsDir == "" {
		return
	}
	if found := ggufQuantization(path.Base(b.from.Model)); found != "" && found != ggufQuantization(want) {
		b.invalid("Quantization", "%q: the name of the model's file, %q, says %s", want, b.from.Model, found)
	}
}

// ggufQuantization returns the quantization in a file's name, in upper case, or "" if there is none. If
// there are several, it returns the last one: Q8_0 for Meta-F16-to-Q8_0.gguf.
func ggufQuantization(name string) (last string) {
	// A separator may end one word and begin the next one, but the regular expression consumes it: double
	// each separator.
	name = strings.NewReplacer("-", "--", ".", "..", ":", "::").Replace(strings.ToUpper(name))
	for _, found := range ggufType.FindAllStringSubmatch(name, -1) {
		last = found[1]
	}
	return strings.Replace(last, "FP16", "F16", 1)
}
