// Package nginxtest runs a real nginx as a reverse proxy for tests.
//
// The nginx comes from seven Debian packages (5 MB to download, 16 MB on disk), whose versions and
// SHA-256 sums are in packages.sha256; package debroot downloads and unpacks them. Where these
// cannot be had, it is the nginx of the PATH. It needs no root and no chroot: it has a prefix
// directory of its own, and is one process that ends with the test.
//
// If this machine has no nginx, [Start] skips the test with the reason, or fails it if
// LLMBENCH_REQUIRE lists nginx. Other errors, such as a configuration that nginx refuses, always
// fail the test.
package nginxtest
