// Package ollamatest runs a real Ollama for tests, with a tiny generated model, on machines
// without an image registry, a GPU or weights.
//
// Ollama is built from its Go module with the machine's Go and C++ compiler, once: the program is
// kept in the user's cache folder or in LLMBENCH_CACHE. Its module lacks the headers that llama.cpp
// has in a folder named vendor, because no Go module contains such a folder
// (https://go.dev/ref/mod#zip-files). They come from three Debian packages, whose versions and
// SHA-256 sums are in packages.sha256; package debroot downloads and unpacks them.
//
// The build takes about four minutes of CPU time, longer than a test should. [Start] therefore never
// builds: it skips a test where the cache has no Ollama, or fails the test if LLMBENCH_REQUIRE
// lists ollama. [Build] builds, and so does the command
//
//	go run ./backends/internal/ollamatest/cmd/ollamaserver -build
//
// The server runs one thread, because its threads stall on shared machines if there are as many
// as cores. Its speed depends on the tiny model and on this machine, and is not worth publishing.
package ollamatest
