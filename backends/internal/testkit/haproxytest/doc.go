// Package haproxytest runs a real HAProxy as a gateway for tests.
//
// HAProxy comes from Debian packages, whose versions and SHA-256 sums are in packages.sha256; package debroot downloads and
// unpacks them. HAProxy needs neither root nor a chroot, and ends with the test. If this machine has no HAProxy, [Start]
// skips the test with the reason.
package haproxytest
