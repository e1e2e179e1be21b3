// Package nginxtest runs a real nginx as a reverse proxy for tests.
//
// nginx comes from seven Debian packages (5 MB to download, 16 MB on disk), whose versions and SHA-256 sums
// are in packages.sha256; package debroot downloads and unpacks them. If they are not available or do not run,
// the nginx in PATH is used. nginx needs neither root nor a chroot: it has its own prefix directory, and is
// one process that ends with the test.
//
// If this machine has no nginx, [Start] skips the test with the reason, or fails it if
// LLMBENCH_REQUIRE lists nginx. Other errors, such as a configuration that nginx refuses, always
// fail the test.
package nginxtest
