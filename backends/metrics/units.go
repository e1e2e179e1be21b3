package metrics

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

func init() { llmbench.RegisterUnits(units...) }

// units are the units of an [Observer], from the server's own counters. If a unit is missing in one pass, it is
// omitted from the result.
var units = []sample.Unit{
	{Name: "srv-prefix-hit-%", Better: "higher", Core: true, Same: "5", Means: "Prompt tokens that the server found in its prefix cache / prompt tokens that it looked up."},
	{Name: "srv-preempt/op", Better: "lower", Core: true, Means: "Requests that the server preempted for lack of KV cache / passes."},
	{Name: "srv-kv-%", Means: "Largest share of the server's KV cache in use, read every two seconds."},
	{Name: "srv-accept-len", Better: "higher", Core: true, Statistic: sample.Mean, Means: "Acceptance length of speculative decoding: 1 + accepted tokens / drafts. Unlike in accept-len, only steps with a draft count. SGLang reports only the value of its last steps."},
	{Name: "srv-accept-%", Better: "higher", Statistic: sample.Mean, Means: "Accepted tokens / drafted tokens."},
	{Name: "srv-queue-ns", Better: "lower", Core: true, Statistic: sample.Mean, Means: "Mean time that a request waited in the server's queue."},
}
