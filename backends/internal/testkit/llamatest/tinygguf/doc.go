// Package tinygguf writes a small language model in the GGUF format: random weights of the llama
// architecture, a byte-level BPE tokenizer and a ChatML template. llama.cpp's llama-server and Ollama load
// and serve it like any other model, at thousands of tokens per second and without a download.
//
// [WriteFolder] writes the same model as a folder with config.json, tokenizer.json and model.safetensors, which
// other engines load. Tests also compare other readers of tokenizer.json with those servers.
//
// The model generates frequent English words in random order, as valid UTF-8. A generation ends by itself
// only if [Options.EndsTurns] is set. The model is for tests of what surrounds a model: streams, usage,
// queues and limits. It says nothing about the quality or the speed of a trained model.
//
// Equal [Options] give equal bytes.
package tinygguf
