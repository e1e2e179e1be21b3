package measure

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
	"golang.org/x/perf/benchfmt"
)

// measured describes what the results of both sides measure: commits, URLs or images, and what the
// configuration lines say about the servers. It returns an error if the benchmarks did not measure the
// requested servers.
func (o *servers) measured(texts [2][]byte) (string, error) {
	said := fmt.Sprintf("%s against %s", o.Versions[1], o.Versions[0])
	for i, text := range texts {
		if !o.served(text) {
			return "", fmt.Errorf("no result of %s is of the server of %s: the benchmarks measure something else: want benchmarks that start what LLMBENCH_BACKEND and LLMBENCH_URL name, such as BenchmarkServe", o.Versions[i], o.kind())
		}
	}
	if len(configured(texts[0], ".name")) == 0 { // the base has none of the benchmarks
		return said, nil
	}
	for _, key := range []string{"command", "image", "server", "server-version"} {
		old, new := configured(texts[0], key), configured(texts[1], key)
		switch {
		case len(old)+len(new) == 0 || key == "image" && o.kind() == "-base-image":
		case slices.Equal(old, new):
			said += fmt.Sprintf("; %s: %s", key, strings.Join(new, ", "))
		default:
			said += fmt.Sprintf("; %s: %s against %s", key, cmp.Or(strings.Join(new, ", "), "none"), cmp.Or(strings.Join(old, ", "), "none"))
		}
	}
	return said, nil
}

// served reports whether any result in text is of a server that the flags ask for. It is also true if there are
// no results.
func (o *servers) served(text []byte) bool {
	if len(configured(text, ".name")) == 0 {
		return true
	}
	switch o.kind() {
	case "-build":
		return len(configured(text, "command")) > 0
	case "-base-image":
		return len(configured(text, "image")) > 0
	case "-base-url":
		return slices.Contains(configured(text, "backend"), cmp.Or(os.Getenv("LLMBENCH_NAME"), "url"))
	}
	return true
}

// configured returns the distinct values of a configuration key in the results, in order of appearance. The key
// .name stands for the name of the benchmark.
func configured(text []byte, key string) (values []string) {
	for rec := range benchline.Records[*benchfmt.Result](text) {
		v := rec.GetConfig(key)
		if key == ".name" {
			v = rec.Name.String()
		}
		if v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}
