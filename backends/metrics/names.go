// Package metrics reads what a server states about itself in its Prometheus
// metrics: how well its prefix cache works, how long requests wait in its queue,
// how full its KV cache is, how many drafted tokens it accepts, and how many requests and tokens it has counted.
//
// An [Observer] reads the metrics before and after each pass of a benchmark, and
// nothing during it, unless LLMBENCH_UNITS=all asks for the peak of the KV cache:
// a server may compute its metrics in the thread that streams tokens. Servers in
// containers and servers at a URL have the same Observer; they differ in how its
// [Source] is found. [Find] recognises the metrics of a server that already runs.
package metrics

// Alternatives are the names of one metric in different versions of a server,
// the newest first. The first one that the server has is used.
type Alternatives []string

// Names says under which names a server has the metrics that an [Observer]
// reads. A metric without a name is one that the server does not have. Values of
// several label sets are added up, and values of gauges are averaged.
type Names struct {
	Path string // of the metrics, such as /metrics; "" means that the server has none

	CacheHits, CacheQueries Alternatives // counters of prompt tokens: found in the prefix cache, and looked up in it
	// CacheMisses is a counter of prompt tokens that were not found in the prefix
	// cache, of a server that counts these in place of CacheQueries. Hits and
	// misses are then also the prompt tokens, unless PromptTokens is named.
	CacheMisses  Alternatives
	CacheHitRate Alternatives // gauge of the ratio of hits and queries, 0 to 1, of a server without these counters
	Preemptions  Alternatives // counter of requests put aside for lack of KV cache
	KVUsage      Alternatives // gauge of the share of the KV cache in use, 0 to 1
	QueueTime    Alternatives // histogram or summary of the seconds that requests waited in the queue

	// Speculative decoding: counters of drafts that were verified, of their tokens, and of those
	// tokens that were accepted. Drafts is not needed if Accepted is a histogram or a summary
	// of the accepted tokens of each step; the first step of each of Requests is then the prefill.
	Drafts, DraftTokens, Accepted Alternatives
	// AcceptLength is a gauge of the tokens that a step yields for a request, of a server
	// without these counters.
	AcceptLength Alternatives

	Requests     Alternatives // counter of requests that have ended
	PromptTokens Alternatives // counter of their prompt tokens, as answers state them
	OutputTokens Alternatives // counter of their output tokens, as answers state them
	// OpenRequests is a gauge of requests that these three counters do not
	// include yet. Only a server that this process alone sends requests to may
	// name it: its counts are then Complete and Alone, see [llmbench.Counts].
	OpenRequests Alternatives
	// Digits is the number of significant digits that the server prints of a
	// value; 0 means all. A counter of more digits is rounded: it is compared with
	// nothing, and has no part in a unit unless it grows by a thousand times what
	// rounding can hide.
	Digits int
}
