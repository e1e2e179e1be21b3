// Package compat computes what other tools would have printed for a run, whose records it reads: vLLM,
// [SGLang], the current [EvalScope] and [EvalScope2024], [FwAI], [GuideLLM], [AIPerf] and [LlamaBench]. The
// tools print different numbers for the same run, because each has its own definitions of the first token,
// the end of an answer, the time per token, a percentile and a failure. If releases of a tool differ, the
// release can be chosen; see [Find]. Of GuideLLM and AIPerf, only the figures are computed: their tables are not
// imitated.
//
// The package answers one question: if the tool had read the same bytes at the same times, what would it
// have printed? The answer does not cover how the tool's client would have behaved differently: when it
// would have sent requests, and how it would have used connections.
//
// If the records do not determine a [Value], the Value has the reason. If they only limit it, the Value is
// a bound. Nothing is guessed. The formulas come from the sources named in the comment of each tool, as of
// August to November 2026.
package compat
