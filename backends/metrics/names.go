// Package metrics reads what a server reports about itself in its Prometheus metrics: how well its prefix
// cache works, how long requests wait in its queue, how full its KV cache is, how many drafted tokens it
// accepts, and how many requests and tokens it has counted.
//
// An [Observer] reads the metrics before and after each pass of a benchmark. It does not read them during a
// pass, because a server may compute its metrics in the thread that streams tokens; the exception is the
// peak use of the KV cache, which is only read if LLMBENCH_UNITS=all. Servers in containers and servers at
// a URL use the same Observer, but find its [Source] in different ways. [Find] recognises the metrics of a
// running server.
package metrics

// Alternatives are the names of one metric in different versions of a server, newest first. The first name
// that the server has is used. A name may be followed by labels, as in my_tokens_total{kind="prompt"}, and then
// selects the metrics that have these labels. The names of a histogram's or a summary's count and sum, as in
// my_seconds_count, are counters.
type Alternatives []string

// Names holds the names under which a server exports the metrics that an [Observer] reads. If a field is
// nil, the server does not have that metric. If a metric has several label sets, their values are added up,
// or averaged for gauges.
type Names struct {
	Path string // path of the metrics, such as /metrics; "" means that the server has no metrics

	CacheHits, CacheQueries Alternatives // counters of prompt tokens: found in the prefix cache, and looked up in it
	// CacheMisses is a counter of prompt tokens that were not found in the prefix cache. It is for servers
	// that have it in place of CacheQueries. The sum of hits and misses is then also used as the number of
	// prompt tokens, unless PromptTokens is named.
	CacheMisses  Alternatives
	CacheHitRate Alternatives // gauge of hits / queries, 0 to 1, for servers that do not count hits
	Preemptions  Alternatives // counter of requests put aside for lack of KV cache
	KVUsage      Alternatives // gauge of the share of the KV cache in use, 0 to 1
	QueueTime    Alternatives // histogram or summary of the seconds that requests waited in the queue

	Waiting Alternatives // gauge of the requests that wait in the queue

	TTFT Alternatives // histogram or summary of seconds until a request's first token
	ITL  Alternatives // histogram or summary of seconds between a request's tokens
	E2E  Alternatives // histogram or summary of seconds that requests took

	// The seconds that requests spent in their prefill, and the prompt tokens that these prefills computed:
	// counters, histograms or summaries.
	PrefillTime, PrefillTokens Alternatives
	// Where prompt tokens came from: counters of those that this server computed, of those that it had in its
	// cache, and of those that it got from another server or store.
	ComputedTokens, ReusedTokens, TransferredTokens Alternatives

	// Speculative decoding: counters of verified drafts, of the tokens in them, and of accepted tokens.
	// Drafts is not needed if Accepted is a histogram or a summary of the number of accepted tokens in each
	// step. The first step of each request is then its prefill, which drafts nothing.
	Drafts, DraftTokens, Accepted Alternatives
	// AcceptLength is a gauge of the number of tokens that a step yields for a request. It is for
	// servers that do not have the counters of drafts.
	AcceptLength Alternatives

	// Arrivals is a counter of all completion requests that have reached the server, including those that it
	// refused. Only the simulated server has one.
	Arrivals     Alternatives
	Requests     Alternatives // counter of requests that have ended
	PromptTokens Alternatives // counter of prompt tokens of these requests, as reported in answers
	OutputTokens Alternatives // counter of output tokens of these requests, as reported in answers
	// OpenRequests is a gauge of requests that these three counters do not include yet. Set it only for a
	// server that receives requests from this process alone. The server's counts are then marked Complete
	// and Alone; see [llmbench.Counts].
	OpenRequests Alternatives
	// Digits is the number of significant digits that the server prints; 0 means all. A counter with more
	// digits is rounded. A rounded counter is not compared with the client's counts, and is used for a unit
	// only if its growth is at least a thousand times the possible rounding error.
	Digits int
}
