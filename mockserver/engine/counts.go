package engine

// Counts are what an engine has done so far.
type Counts struct {
	Steps     int // decode steps, those beside a prefill, too
	Prefills  int // prefills, and chunks of them
	Prefilled int // tokens computed in them
	Generated int // tokens that came out
	Preempted int // sequences thrown out of the batch
	Queried   int // tokens looked for in the prefix cache, if there is one
	Hit       int // of them, found
}

// A Load is how busy an engine is.
type Load struct {
	Running  int // sequences with a place
	Waiting  int // without one
	Decoding int // of those with a place, in the batch
	KVUsed   int // blocks of the KV cache that sequences use
	KVTotal  int // blocks it has, 0 for no limit
}

// Counts returns what has been done by the instant to which the engine was
// advanced last.
func (e *Engine) Counts() Counts { return e.counts }

// Load returns how busy the server is at that instant.
func (e *Engine) Load() Load {
	return Load{Running: len(e.placed), Waiting: e.queue.len(), Decoding: len(e.decoding), KVUsed: e.kv.used, KVTotal: e.p.KVBlocks}
}
