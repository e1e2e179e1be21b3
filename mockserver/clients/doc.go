// Package clients runs public clients of inference servers, the Go SDKs of OpenAI, Anthropic,
// Google, AWS and Cohere, and Ollama's client, against package mockserver, to show that the mock server
// answers as real servers do. The package is a separate module, so that llmbench does not depend on the clients.
//
// The tests also document bugs of the clients: some broken streams look complete to them.
package clients
