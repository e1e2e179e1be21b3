// Package llamatest runs a real llama.cpp llama-server for tests, with a tiny
// generated model, on machines without an image registry, a GPU or weights.
//
// The server comes from eleven Debian packages (20 MB to download, 50 MB on disk). Their versions and
// SHA-256 sums are in packages.sha256. They are downloaded from the mirror that apt uses on the machine, or
// from LLMBENCH_DEBIAN_MIRROR, and unpacked once into a root filesystem in the user's cache folder or in
// LLMBENCH_CACHE. The server runs in a chroot in this root filesystem. Users other than root create the
// chroot in a new user namespace. If the kernel does not allow that, the server runs in a Docker container.
// Package tinygguf generates the model.
//
// If this machine can do none of this, [Start] skips the test with the reason, or
// fails it if LLMBENCH_REQUIRE lists llamacpp. A test that asks for a container
// is skipped without a Docker engine, and fails if LLMBENCH_REQUIRE lists docker.
// Other errors, such as a wrong checksum or a server that does not become ready,
// always fail the test.
//
// The server runs one thread, because its spin barriers stall on shared machines if
// there are as many threads as cores. Its speed depends on the tiny model and on
// this machine, and is not worth publishing.
package llamatest
