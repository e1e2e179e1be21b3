package resultfile

import (
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// llamabenchFigure is the metric in the output of llama-bench -o json, jsonl or csv, which has a row for
// each test (https://github.com/ggml-org/llama.cpp/blob/master/tools/llama-bench/llama-bench.cpp). It is
// the mean over the samples of one process. What it counts depends on the test: prompt tokens, generated
// tokens, or both.
const llamabenchFigure = "avg_ts"

// llamabenchApart are the keys of results, and of the version that is measured.
var llamabenchApart = []string{"avg_*", "stddev_*", "samples_*", "test_time", "build_commit", "build_number"}

// llamabenchNamed are settings that are in the names of benchmarks, unless users ignore them.
var llamabenchNamed = []string{"n_batch", "n_ubatch", "n_threads", "n_gpu_layers"}

var llamabenchFormats = []format{
	{tool: "llama-bench", base: "LlamaBench", is: func(n *document.Node) bool { return isLlamaBench(n) || isLlamaBench(first(n)) }, read: each(readLlamaBench)},
	{tool: "llama-bench", base: "LlamaBench", isTable: func(rows [][]string) bool {
		return len(rows) > 0 && slices.Contains(rows[0], llamabenchFigure) && slices.Contains(rows[0], "n_gen")
	}, readTable: func(r *reading, rows [][]string) {
		r.csvRows(rows[0], rows[1:], "test", func(int) { readLlamaBench(r) })
	}},
}

func isLlamaBench(n *document.Node) bool { return n.Has(llamabenchFigure, "n_prompt", "n_gen") }

// readLlamaBench reads the row of one test.
func readLlamaBench(r *reading) {
	r.when("test_time", "2006-01-02T15:04:05Z")
	r.config("model", "model_type")
	r.config("backend", "backends")
	r.config("gpu", "gpu_info")
	for _, key := range []string{"n_prompt", "n_gen", "n_depth"} {
		r.load(key, key)
	}
	for _, key := range llamabenchNamed {
		if !slices.Contains(r.options.Ignore, key) {
			r.load(key, key)
		}
	}
	unit := sample.TotalRate
	switch prompt, gen := r.node.Get("n_prompt").Text(), r.node.Get("n_gen").Text(); {
	case prompt == "0":
		unit = sample.ServerOutputRate
	case gen == "0":
		unit = sample.ServerPromptRate
	}
	r.positive(llamabenchFigure, "tokens")
	r.field(field{llamabenchFigure, unit, 1, "tok/s"})
	if n := r.node.Get("samples_ts").Len(); n > 1 {
		r.notef("the %d samples of a test come from one process, so they count as one observation, the mean of the samples", n)
	}
	r.stated(r.node, llamabenchApart...)
}
