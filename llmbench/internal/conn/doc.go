// Package conn sends HTTP/1.1 requests over connections of its own and records
// when each step of a request happened: when its connection was open, when its
// first and last byte were written, and when the answer's bytes arrived. On Linux
// the instants of arrival are the kernel's receive timestamps.
//
// A request is written and read by the goroutine that sends it. An
// [net/http.Transport] needs two more goroutines for each connection, and every
// byte passes through them. The format of messages is still net/http's.
package conn
