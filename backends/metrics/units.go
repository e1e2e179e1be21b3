package metrics

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

func init() { llmbench.RegisterUnits(units...) }

// units are the units of an [Observer]. If a unit is missing in one pass, it is omitted from the result.
var units = []sample.Unit{
	{Name: "srv-prefix-hit-%", Better: "higher", Core: true, Same: "5", Means: "Prompt tokens that the server found in its prefix cache / prompt tokens that it looked up, by its own counters."},
	{Name: "srv-preempt/op", Better: "lower", Core: true, Means: "Requests that the server preempted for lack of KV cache / passes, by its own counters."},
	{Name: "srv-kv-%", Means: "Largest share of the server's KV cache in use. The server is asked every two seconds, and only with `LLMBENCH_UNITS=all`."},
	{Name: "srv-accept-len", Better: "higher", Core: true, Statistic: sample.Mean, Means: "Acceptance length, the mean tokens of a step of speculative decoding for a request: 1 + accepted tokens / drafts, by the server's own counters. Only steps with a draft count, so the unit exceeds accept-len if some steps have none. SGLang only reports the value of its last steps."},
	{Name: "srv-accept-%", Better: "higher", Statistic: sample.Mean, Means: "Accepted tokens / drafted tokens, by the server's own counters."},
	{Name: "srv-queue-ns", Better: "lower", Core: true, Statistic: sample.Mean, Means: "Mean time that a request waited in the server's queue, by the server's own counters."},
}
