// Package peers runs the conformance tests of package ssetest on public Go parsers of Server-Sent Events.
// It also compares their speed with the speed of package sse. It is a module of its own, so that the
// parsers are not dependencies of llmbench.
//
// README.md has the results. "go test" compares README.md with the current results; "go test -run TestTable
// -update" writes README.md.
package peers
