// Package benchdata makes the requests that a benchmark sends: random prompts of an
// exact length, and prompts from published data sets and recorded traces.
//
// Each data set is a struct with a method Requests(n). Equal fields return equal
// requests, on every machine.
//
//   - [Prompts] has random words with one length of prompts and of answers.
//   - [Random] has random words with lengths from a range, by the rules of vLLM or
//     SGLang.
//   - [PrefixRepetition] and [SharedPrefix] have groups of prompts with a common
//     prefix.
//   - [Sonnet] has lines of poems.
//   - [ShareGPT] has real questions, and answers as long as the real answers.
//   - [Questions] has real questions from files in several formats.
//   - [Filler] and [Continuation] are the workloads of two published studies.
//   - [Bodies] has recorded requests to an OpenAI-compatible server.
//   - [Answered] has questions whose answers are known, and checks of the answers.
//   - [Trace] has requests with the lengths, the arrival times and the common
//     prefixes of a recorded load.
//
// [Open] opens each of them, except Filler and Continuation, by the name that
// LLMBENCH_DATASET uses.
//
// A [llmbench.Tokenizer] counts the tokens of texts; package tokenizer has several.
// Lengths in requests are those that the tokenizer counts. The server states its
// own counts in its answers, and benchmark results report the server's.
//
// The package downloads nothing. Data sets and tokenizers are files of the user;
// README.md lists where they are published, with digests. The one text of others in
// this package is 23 sonnets by Shakespeare.
package benchdata
