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

	// Drafts is how many drafts a step has verified, one for each sequence in the step;
	// 0 without [Profile.Draft]. Drafted and Accepted are their tokens, and the tokens among
	// them that were accepted: also tokens beyond the end of an output, which vLLM
	// counts, too. AcceptedAt has those that were accepted at each position of a draft.
	// 1 + Accepted / Drafts is the acceptance length.
	Drafts, Drafted, Accepted int
	AcceptedAt                [maxDraft]int
}

// Drafts are what a sequence has drafted so far.
type Drafts struct {
	Steps    int // decode steps of the sequence
	Drafted  int // drafted tokens, none beyond the end of the output
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
