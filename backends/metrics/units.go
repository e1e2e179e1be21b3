package metrics

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

func init() { llmbench.RegisterUnits(units...) }

// units are the figures of an [Observer]. A unit is left out of a result if one pass
// lacks it.
var units = []sample.Unit{
	{Name: "srv-prefix-hit-%", Better: "higher", Core: true, Same: "5", Means: "Prompt tokens that the server found in its prefix cache / prompt tokens that it looked up, by its own counters."},
	{Name: "srv-preempt/op", Better: "lower", Core: true, Means: "Requests that the server preempted for lack of KV cache / passes, by its own counters."},
	{Name: "srv-kv-%", Means: "Largest share of the server's KV cache in use. The server is asked every two seconds of a pass, and only with `LLMBENCH_UNITS=all`."},
	{Name: "srv-accept-len", Better: "higher", Core: true, Statistic: sample.Mean, Means: "Mean tokens that a step of speculative decoding yields for a request (acceptance length): 1 + accepted tokens / drafts, by the server's own counters. Steps without a draft do not count, so that the unit is larger than accept-len where the server drafts only now and then, as by n-grams. Of SGLang, what it states after the last pass of its last steps. Left out when nothing was drafted."},
	{Name: "srv-accept-%", Better: "higher", Statistic: sample.Mean, Means: "Drafted tokens that the server accepted / drafted tokens, by its own counters. Left out when nothing was drafted."},
	{Name: "srv-queue-ns", Better: "lower", Core: true, Statistic: sample.Mean, Means: "Mean time that requests waited in the server for their turn, by its own counters. Left out when none waited."},
}
