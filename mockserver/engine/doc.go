// Package engine models an inference server with continuous batching: when each
// sequence is computed, and when each of its tokens is done.
//
// The caller submits requests ([Engine.Submit]), cancels them ([Engine.Cancel]) and
// advances time ([Engine.Advance]). The engine reports what happens up to then. It
// has no clock, no goroutine and no I/O. The same calls give the same instants, to
// the nanosecond, whether time advances token by token or by hours. So one model
// serves a mock server in real time, a test on a fake clock, and a fit that runs it
// thousands of times.
//
// # Model
//
// The server is idle, in a prefill, or in a decode step. At the end of each it
// decides what to do next.
//
//   - A decode step computes one token for each of b sequences. It takes
//     Step + StepPerSeq x b + StepPerSeqAboveKnee x max(0, b - Knee) + StepPerKVToken x k,
//     where k is the sum of the lengths of the sequences, prompt and output, before
//     the step.
//   - A prefill of n tokens takes Prefill + PrefillPerToken x n and yields the first
//     token. Decoding waits meanwhile. With PrefillChunk, a part of the prompt is
//     computed together with each decode step instead, and their times add up.
//   - Requests are admitted first come first served, while there are fewer than
//     MaxBatch sequences and the blocks of the new one fit into the KV cache without
//     the watermark. With PrefillGap, that many decode steps come between two
//     prefills.
//   - If the tokens of the next step do not fit into the KV cache, the sequence that
//     was admitted last is preempted: it loses its blocks, returns to the head of the
//     queue, and later has its prompt and its output so far prefilled again.
//   - With PrefixCache, full blocks of prompts stay in the KV cache until their room
//     is needed, and are then dropped in the order of their last use. A prompt that
//     begins with such blocks is prefilled from where they end.
//   - With Draft, a step yields for each sequence one token and the drafted tokens
//     before the first that is rejected.
//
// A request that arrives at the very instant of a decision is too late for it. On a
// real network a client's reaction to a token is always too late for the next step.
//
// Decode steps between two decisions are not simulated one by one: their instants
// have a closed form. A run of 1,000 requests of 240 tokens takes about a
// millisecond.
//
// # What it leaves out
//
// Prefills and steps take exactly what the formulas say. Output is not kept in the
// prefix cache. The work of the server's CPU is a part of the fitted times. There is
// one replica; cmd/simulate combines several.
package engine
