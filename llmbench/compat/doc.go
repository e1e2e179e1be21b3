// Package compat computes what other tools would have printed for a run of which
// there are records: [VLLM], [SGLang], [EvalScope] of today and of 2024, [FwAI],
// [GuideLLM], [AIPerf] and [LlamaBench]. They print different numbers for one run,
// because each has definitions of its own of the first token, the end of an answer,
// the time per token, a percentile and a failure.
//
// The question is exactly this: had the tool read the same bytes at the same
// instants, what would it say? What its own client would have changed is no part of
// the answer: when it would have sent, and what it would have made of connections.
//
// Where the records do not hold what a formula needs, the [Value] says that it
// cannot be told, and why; where they bound it, it says the bound. Nothing is guessed.
// The formulas are those of the sources named at each tool, as read in August to
// November 2026.
package compat
