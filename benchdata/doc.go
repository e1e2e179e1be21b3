// Package benchdata makes the requests that a benchmark sends: prompts of an
// exact length, and questions from datasets.
//
// Each workload is a struct with a method Requests(n), which returns the same
// n requests for the same fields, on every machine:
//
//   - [Prompts] is random words, so many tokens in and so many out.
//   - [ShareGPT] is real questions, with the lengths of real answers.
//
// What a token is, a [llmbench.Tokenizer] decides:
//
//   - [Words] counts words, as the project's mock server does.
//   - [HuggingFace] is a model's own, from its tokenizer.json.
//   - [Estimate] is measured on a server, when there is no such file.
//
// Lengths made here are what a workload meant. What a server counted is in
// the server's answer, and is what results report.
//
// The package downloads nothing: datasets and tokenizers are files that the
// user has. It has no text of others in it.
package benchdata
