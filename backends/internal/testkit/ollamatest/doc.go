// Package ollamatest runs a real Ollama for tests, with a tiny generated model, on machines
// without an image registry, a GPU or weights.
//
// Ollama is built once from its Go module, with the machine's Go and C++ compilers. The program is kept in
// the user's cache folder or in LLMBENCH_CACHE. The module does not contain the headers that llama.cpp has
// in a folder named vendor, because no Go module contains such a folder
// (https://go.dev/ref/mod#zip-files). The headers come from three Debian packages, whose versions and
// SHA-256 sums are in packages.sha256; package debroot downloads and unpacks them.
//
// The build takes about three minutes of CPU time, which is too long for a test. [Start] therefore never
// builds Ollama: if the cache does not contain it, Start skips the test, or fails it if LLMBENCH_REQUIRE
// lists ollama. Ollama is built by [Build] and by the command
//
//	go run ./backends/internal/testkit/ollamatest/cmd/ollamaserver -build
//
// The server runs one thread, because its threads stall on shared machines if there are as many
// as cores. Its speed depends on the tiny model and on this machine, and is not worth publishing.
package ollamatest
