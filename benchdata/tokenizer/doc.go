// Package tokenizer counts the tokens of a text. Each type has a method Count
// and is a [llmbench.Tokenizer]:
//
//   - [Words] counts words, as the simulated server does.
//   - [HuggingFace] is a model's own tokenizer. It is read from the model's
//     tokenizer.json. [NewOllama] reads it from the vocabulary that an Ollama server reports.
//   - [Server] sends texts to the endpoint /tokenize of the server under test.
//   - [Estimate] multiplies the number of words by a measured factor. It is for servers
//     whose tokenizer is not available.
package tokenizer
