// Package tokenizer counts the tokens of a text. Each type has a method Count
// and is a [llmbench.Tokenizer]:
//
//   - [Words] counts words, as the simulated server does.
//   - [HuggingFace] is a model's own tokenizer, read from its tokenizer.json or, by
//     [NewOllama], from the vocabulary that Ollama shows.
//   - [Server] asks the server under test at its endpoint /tokenize.
//   - [Estimate] multiplies the number of words by a measured factor. It is for
//     servers whose tokenizer is not at hand.
package tokenizer
