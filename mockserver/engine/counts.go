package engine

// Counts are what an engine has done so far.
type Counts struct {
	Steps     int // decode steps, with or without a prefill at the same time
	Prefills  int // prefills; with PrefillChunk, chunks
	Prefilled int // tokens computed in prefills
	Generated int // tokens of output
	Preempted int // preemptions
	Queried   int // tokens looked up in the prefix cache, if there is one
	Hit       int // tokens found in the prefix cache, or offloaded

	// Drafts is the number of drafts that the steps have verified: one for each sequence in a
	// step, or 0 without [Profile.Draft]. Drafted is the number of tokens in these drafts.
	// Accepted is the number of tokens that were accepted, and AcceptedAt[i] the number that
	// were accepted at position i of a draft. Like vLLM, these counts include tokens beyond
	// the end of an output. The mean acceptance length is 1 + Accepted / Drafts.
	Drafts, Drafted, Accepted int
	AcceptedAt                [maxDraft]int
}

// Drafts counts what has been drafted for one sequence so far.
type Drafts struct {
	Steps    int // decode steps of the sequence
	Drafted  int // drafted tokens, except tokens beyond the end of the output
	Accepted int // drafted tokens that are in the output
}

// A Load is how busy an engine is.
type Load struct {
	Running  int // sequences that have been admitted and have not ended
	Waiting  int // sequences in the queue
	Decoding int // running sequences whose prompt has been computed
	KVUsed   int // blocks of the KV cache that sequences use
	KVTotal  int // blocks of the KV cache, 0 for no limit
}
