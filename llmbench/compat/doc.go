// Package compat computes what other tools would have printed for a run, from its records:
// vLLM, [SGLang], [EvalScope] of today and of 2024, [FwAI], [GuideLLM], [AIPerf] and
// [LlamaBench]. The tools print different numbers for one run, because each has its own
// definitions of the first token, the end of an answer, the time per token, a percentile and
// a failure. Releases of a tool that differ are told apart: see [Find].
//
// The package answers one question: if the tool had read the same bytes at the same
// instants, what would it have printed? The answer does not include what the tool's client
// would have changed: when it would have sent, and how it would have used connections.
//
// A [Value] that the records do not determine says so, with the reason. A Value that they
// bound has the bound. Nothing is guessed. The formulas come from the sources that the
// comment of each tool names, as of August to November 2026.
package compat
