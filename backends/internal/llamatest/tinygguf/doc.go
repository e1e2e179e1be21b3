// Package tinygguf writes a small language model in the GGUF format: random
// weights of the llama architecture, a byte-level BPE tokenizer and a ChatML
// template. llama.cpp's llama-server and Ollama load it and serve it like any
// other model, at thousands of tokens a second and without a download.
//
// [TokenizerJSON] writes the same tokenizer as the file that models are
// published with, to compare other readers of it with those servers.
//
// The text it generates is frequent English words in random order, valid
// UTF-8, ended only when [Options.EndsTurns] says so. It is made for testing
// what stands around a model (streams, usage, queues, limits), and says nothing
// about the quality or the speed of a trained one.
//
// The same [Options] give the same bytes.
package tinygguf
