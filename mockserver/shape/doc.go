// Package shape describes what the answers of a mock server look like on the
// wire: how many tokens an event carries and how many events a write, how lines
// end, how a stream reports its role, usage and end, and how JSON is spelled.
//
// Servers with the same API, and proxies in front of servers, differ in all of this. A
// client has to understand each variant. The zero [Shape] is vLLM's.
package shape
