// Package clients runs public clients of inference servers against package
// mockserver, so that it is a server others accept: OpenAI's Go SDK and Ollama's
// client. It is a module of its own, so that neither is a dependency of llmbench.
//
// The tests also say what the clients themselves get wrong: the streams that
// broke and that they take for whole.
package clients
