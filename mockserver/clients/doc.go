// Package clients runs public clients of inference servers, OpenAI's Go SDK and Ollama's
// client, against package mockserver, to show that it answers as real servers do.
// It is a module of its own, so that the clients are not dependencies of llmbench.
//
// The tests also record errors of the clients: broken streams that they take for
// complete ones.
package clients
