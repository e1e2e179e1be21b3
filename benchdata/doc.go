// Package benchdata makes the requests that a benchmark sends: prompts of an
// exact length, and questions from datasets.
//
// Each workload is a struct with a method Requests(n) (of a trace, Load(n)),
// which returns the same n requests for the same fields, on every machine:
//
//   - [Prompts] is random words, so many tokens in and so many out.
//   - [Random] is the same with lengths from a range, by vLLM's or SGLang's rules.
//   - [PrefixRepetition] and [SharedPrefix] are prompts that begin alike in groups.
//   - [Sonnet] is lines of poems.
//   - [ShareGPT] is real questions, with the lengths of real answers.
//   - [Questions] is real questions alone, in the formats of several files.
//   - [Filler] and [Continuation] are what two published studies sent.
//   - [Bodies] is requests as they were sent to an OpenAI-compatible server.
//   - [Trace] is a recorded load: requests of its lengths, when they came, and
//     which of their beginnings were the same.
//
// What a token is, a [llmbench.Tokenizer] decides:
//
//   - [tokenizer.Words] counts words, as the project's mock server does.
//   - [tokenizer.HuggingFace] is a model's own, from its tokenizer.json.
//   - [tokenizer.Server] is the server's own, which is asked.
//   - [tokenizer.Estimate] is measured on a server that has none to ask.
//
// Lengths made here are what a workload meant. What a server counted is in
// the server's answer, and is what results report.
//
// [Open] opens any of them by the name that LLMBENCH_DATASET has for it.
//
// The package downloads nothing: datasets and tokenizers are files that the
// user has; README.md tells where they are published, with digests. It has no text of others in it but 23 of Shakespeare's sonnets.
package benchdata
