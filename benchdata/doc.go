// Package benchdata makes the requests that a benchmark sends: random prompts of an
// exact length, and prompts from published data sets and recorded traces.
//
// Each data set is a struct with a method Requests(n). Structs with the same fields return
// the same requests, on every machine.
//
//   - [Prompts] has random words. All prompts have the same length, and so have all answers.
//   - [Random] has random words. Lengths are drawn from a range, by the rules of vLLM or
//     SGLang.
//   - [Drawn] has random words, or words of a [Source], which are predictable to a known degree. Lengths are drawn from
//     any [Distribution], or together from a file.
//   - [PrefixRepetition] and [SharedPrefix] have groups of prompts with a common
//     prefix.
//   - [Sonnet] has lines of poems.
//   - [ShareGPT] has real questions, and answers as long as the real answers.
//   - [Questions] has real questions from files in several formats.
//   - [Filler] and [Continuation] are the workloads of two published studies.
//   - [Bodies] has recorded requests to an OpenAI-compatible server.
//   - [Answered] has questions whose answers are known, and checks of the answers.
//   - [Sessions] has recorded sessions of agents, whose turns wait for each other.
//   - [Trace] has requests with the lengths, the arrival times and the common
//     prefixes of a recorded load.
//
// [Open] opens each data set, except Filler, Continuation and Sessions, by its name in
// LLMBENCH_DATASET. [OpenSessions] opens Sessions.
//
// A [llmbench.Tokenizer] counts the tokens of texts; package tokenizer has several
// tokenizers. The lengths in requests are the tokenizer's counts. The server reports its own
// counts in its answers, and benchmark results use the server's counts.
//
// The package downloads nothing. The user supplies the files of data sets and tokenizers;
// README.md lists where they are published, with digests. The package itself contains only
// one published text: 23 sonnets by Shakespeare.
package benchdata
