package scenarios

import "slices"

// common holds the variables that every scenario of the catalogue reads.
var common = []string{"LLMBENCH_TOKENIZER", "LLMBENCH_FULL", "LLMBENCH_DATA", "LLMBENCH_TIMEOUT", "LLMBENCH_IDLE_TIMEOUT", "LLMBENCH_SEED"}

// These are variables that many scenarios read.
var (
	failing   = []string{"LLMBENCH_MAX_FAIL", "LLMBENCH_MAX_SHED"}
	users     = slices.Concat(failing, []string{"LLMBENCH_CONCURRENCY", "LLMBENCH_REQUESTS"})
	timed     = slices.Concat(users, []string{"LLMBENCH_DURATION"})
	lengths   = []string{"LLMBENCH_INPUT", "LLMBENCH_OUTPUT"}
	items     = []string{"LLMBENCH_BATCH", "LLMBENCH_DATASET"}
	prompts   = slices.Concat(lengths, []string{"LLMBENCH_DATASET"})
	prefixed  = []string{"LLMBENCH_DATASET", "LLMBENCH_OUTPUT"}
	serveOnly = []string{"LLMBENCH_RATE", "LLMBENCH_MAX_IN_FLIGHT", "LLMBENCH_MIX", "LLMBENCH_STREAM", "LLMBENCH_WARMUP", "LLMBENCH_CANCEL"}
)
