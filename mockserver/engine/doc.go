// Package engine is a discrete model of an inference server that batches
// continuously: which sequence is computed when, and when each token comes out.
//
// An [Engine] is told when requests come ([Engine.Submit]) and go
// ([Engine.Cancel]) and how far time has come ([Engine.Advance]), and tells what
// happened until then. It has no clock, no goroutine and no I/O of its own; the
// same calls give the same instants, to the nanosecond, whether time is advanced
// token by token or by hours. So one engine serves a mock server in real time, a
// test on a fake clock, and a fit that runs it thousands of times.
//
// # Model
//
// The server is always in one of three states: idle, in a prefill, or in a decode
// step. At the end of each it decides anew.
//
//   - A decode step gives each of b sequences one token. It takes
//     Step + StepPerSeq x b + StepPerSeqAboveKnee x max(0, b - Knee) + StepPerKVToken x k,
//     where k is the sum of the sequences' lengths, prompt and output, before it.
//   - A prefill of n tokens takes Prefill + PrefillPerToken x n, and yields the
//     first token. Decoding waits meanwhile, or, with PrefillChunk, one part of the
//     prompt is computed beside each decode step, and their times add up.
//   - Requests are admitted first come first served, as long as there are fewer
//     than MaxBatch sequences and their blocks fit into the KV cache with the
//     watermark left over; with PrefillGap, only so many decode steps after the
//     prefill before.
//   - When the next step's tokens do not fit into the KV cache, the sequence that
//     was admitted last loses its blocks, returns to the head of the queue, and
//     has its prompt and all its output so far prefilled again.
//   - With PrefixCache, full blocks of prompts stay until their room is needed,
//     the longest unused first, and a prompt that begins with the same blocks is
//     prefilled from where they end.
//   - With Draft, a step yields a sequence one token and each drafted one up to
//     the first that is rejected.
//
// A request that comes at the very instant of a decision comes too late for it: a
// client's answer to a token always does on a real network.
//
// Steps between two decisions that bring no change are not counted out: their
// instants have a closed form. That is why a run of 1,000 requests of 240 tokens
// takes about a millisecond.
//
// # What it leaves out
//
// Sequences do not finish early or late by chance, prefills and steps take
// exactly what the formulas say, output is not kept in the prefix cache, and
// everything a server does on its CPU is in the fitted numbers or nowhere. There
// is one replica; see cmd/simulate for several.
package engine
