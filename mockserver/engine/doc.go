// Package engine models an inference server with continuous batching: when each
// sequence is computed, and when each of its tokens is done.
//
// The caller submits requests ([Engine.Submit]), cancels them ([Engine.Cancel]) and
// advances the simulated time ([Engine.Advance]). The engine reports what happens up to
// the new time. It has no clock, no goroutine and no I/O. The same calls give the same
// times, to the nanosecond, whether the caller advances token by token or by hours. So the
// same model serves a mock server in real time, a test on a fake clock, and a fit that runs
// the model thousands of times.
//
// # Model
//
// The server is idle, in a prefill, or in a decode step. At the end of each prefill and
// step the server decides what to do next.
//
//   - A decode step computes one token for each of b sequences. It takes
//     Step + StepPerSeq x b + StepPerSeqAboveKnee x max(0, b - Knee) + StepPerKVToken x k,
//     where k is the sum of the lengths of the sequences, prompt and output, before
//     the step.
//   - A prefill of n tokens takes Prefill + PrefillPerToken x n and yields the first
//     token. Decoding waits meanwhile. With PrefillChunk, a chunk of the prompt is
//     computed together with each decode step instead. The time is then the sum of the
//     chunk's time and the step's time.
//   - Requests are admitted by priority, and otherwise first come first served. A request
//     is admitted if fewer than MaxBatch sequences run, and if its blocks fit into the KV
//     cache and leave the share Watermark free. With PrefillGap, that many decode steps come
//     between two prefills.
//   - If the tokens of the next step do not fit into the KV cache, the sequence that
//     was admitted last, of those with the highest value of the priority, is preempted: it
//     loses its blocks, returns to the head of the queue of its priority, and later has its
//     prompt and its output so far prefilled again.
//   - With PrefixCache, full blocks of prompts stay in the KV cache after use. When room
//     is needed, the least recently used block is dropped first. If a prompt begins with
//     cached blocks, only the rest of the prompt is prefilled. With OffloadBlocks, dropped blocks go to
//     a second cache, from which they are loaded.
//   - With Draft, each step yields for each sequence the drafted tokens before the first
//     rejected one, and one token more.
//
// A request that arrives exactly at the instant of a decision is too late for that
// decision: on a real network, too, the request that a client sends when it gets a token
// arrives after the next step has begun.
//
// Decode steps between two decisions are not simulated one by one, because a formula gives
// their times. A run of 1,000 requests of 240 tokens takes about a millisecond.
//
// # What the model omits
//
// Prefills and steps take exactly the time that the formulas give. The prefix cache keeps
// no output. The model has no separate time for the server's CPU; that time is a part of
// the fitted times. One engine is one replica; cmd/simulate combines several.
package engine
