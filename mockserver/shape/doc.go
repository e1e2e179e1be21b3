// Package shape describes what the answers of a mock server look like on the
// wire: how many tokens an event carries and how many events a write, how lines
// end, how a stream reports its role, usage and end, and how JSON is spelled.
//
// Servers, and the proxies in front of them, differ in all of this within one API.
// A client has to read each variant. The zero [Shape] is vLLM's.
package shape
