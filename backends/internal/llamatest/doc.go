// Package llamatest runs a real llama.cpp llama-server for tests, with a tiny
// generated model, on machines without an image registry, a GPU or weights.
//
// The server comes from eleven Debian packages (20 MB to fetch, 50 MB on disk)
// pinned by version and SHA-256 in packages.sha256, from the mirror that apt
// uses on the machine or the one that LLMBENCH_DEBIAN_MIRROR names. They are
// unpacked once, into a root filesystem in the user's cache directory or the
// folder that LLMBENCH_CACHE names, and run there: in a chroot for root, in a chroot of an own user namespace for others
// where the kernel lets them, else as a Docker container. The model is that of
// package tinygguf.
//
// Where none of this can be had [Start] skips the test and says why; with
// llamacpp in LLMBENCH_REQUIRE (a comma list) it fails it instead. Trouble
// beyond that (a checksum that differs, a server that does not become ready)
// always fails it.
//
// The server runs one thread: with as many threads as cores its spin barriers
// stall on shared machines. Its speed is therefore that of the tiny model and
// of this machine, and no figure worth publishing.
package llamatest
