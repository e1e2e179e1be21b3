// Package enginetest installs and runs real inference engines for tests, CI and people, on machines without an
// image registry, a GPU or weights. [Engines] is the table of them.
//
// Most engines are installed from PyPI, with uv, into a virtual environment of their own. The packages, with
// their versions and SHA-256 sums, are in the folder recipes. An installation is kept in the user's cache folder
// or in LLMBENCH_CACHE, and nothing is downloaded where the cache has it. The downloaded wheels are kept there,
// too, and share their blocks with the installations where the file system has hard links.
//
// [Gateways] is the table of proxies and routers in front of engines. They are installed in the same way, some of them from
// Debian packages.
//
// The model is tiny, has random weights and is generated; see package tinygguf. Each engine runs one thread of
// computation, because more threads than free cores stall each other. So the speed of an engine is not worth
// publishing.
//
// [Start] never installs an engine, because that may take minutes and gigabytes. If an engine is not installed,
// Start skips the test. It fails the test if LLMBENCH_REQUIRE lists engines and .ci/run runs the engine each time
// ([Engine.Each]). Engines are installed by [Engine.Install] and by the command
//
//	go run ./.ci/engines -install
package enginetest
