// Package peers runs the conformance kit on public Go parsers of Server-Sent
// Events and measures them beside package sse. It is a module of its own, so
// that none of them is a dependency of llmbench.
//
// README.md has the results. "go test" compares them with what the parsers do
// now; "go test -run TestTable -update" writes them anew.
package peers
