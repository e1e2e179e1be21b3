package engine

// Counts are what an engine has done so far.
type Counts struct {
	Steps     int // decode steps, including those together with a prefill
	Prefills  int // prefills or, with PrefillChunk, chunks
	Prefilled int // tokens computed in prefills
	Generated int // tokens of output
	Preempted int // preemptions
	Queried   int // tokens looked up in the prefix cache, if there is one
	Hit       int // tokens found in the prefix cache
}

// A Load is how busy an engine is.
type Load struct {
	Running  int // sequences that have been admitted and have not ended
	Waiting  int // sequences in the queue
	Decoding int // running sequences whose prompt has been computed
	KVUsed   int // blocks of the KV cache that sequences use
	KVTotal  int // blocks of the KV cache, 0 for no limit
}
