// Package conn sends HTTP/1.1 requests over its own connections, and records when each step of a request
// happened: when its connection was open, when its first and last byte were written, and when the answer's
// bytes arrived. On Linux, the instants of arrival are the kernel's receive timestamps.
//
// The goroutine that sends a request also writes it and reads its answer. An [net/http.Transport] needs two
// more goroutines for each connection, and every byte passes through them. Package conn still uses net/http
// to write requests and to parse the heads of responses.
//
// # Segments that wait to be read
//
// Several segments may have arrived before the client reads. The kernel has a timestamp for each of them.
// But if it joins a segment to the one before, both have the later timestamp (tcp_try_coalesce in
// https://github.com/torvalds/linux/blob/v6.12/net/ipv4/tcp_input.c). A read returns the bytes of one
// timestamp. Before each read, TCP_INFO tells how many segments have arrived; if there are several, recvmsg
// with MSG_PEEK finds where the timestamp changes. This costs about five system calls for a segment that
// waited, and none for any other segment.
//
// If the sender is on the same machine, it keeps the bytes of a segment until the segment is acknowledged.
// Until then, the kernel joins no other segment to it (skb_cloned in skb_try_coalesce,
// https://github.com/torvalds/linux/blob/v6.12/net/core/skbuff.c). This was measured with 8 segments of 200
// bytes, 0.2 ms apart. Over loopback, all 8 had a timestamp of their own. Between two network namespaces, 3
// had one, because Linux 6.18 acknowledged each third segment. At the beginning of a connection only 1 had
// one, because the first 16 segments of a connection are acknowledged at once.
//
// A receive buffer of fixed size makes the kernel acknowledge the first segments of later answers less
// often, so connections to loopback have such a buffer. With an event every 0.5 ms, the kernel then joins
// 0.1 to 0.5 % of the first 8 events of an answer instead of 5 to 9 % (go test -run='^$' -bench=Merged
// ./llmbench/internal/conn). Segments from another machine are joined if there is room behind the first
// segment, which depends on the driver of the network card. [Reader.Merged] reports whether segments were
// joined.
//
// Alternatives were tried. SO_TIMESTAMPING has the same timestamps. SO_RCVLOWAT and IPv6 changed nothing.
// Without TCP_QUICKACK, 8 of 8 segments had a timestamp of their own from the beginning, but a server that
// uses Nagle's algorithm would wait for the later acknowledgements. A packet socket has all timestamps, but
// needs CAP_NET_RAW.
//
// # HTTP/2
//
// Package conn does not speak HTTP/2, in which several streams share a connection. BenchmarkHTTP2 measures how
// exact timestamps would be: the timestamp of the read that brings the last byte of a frame would serve. An
// implementation would need:
//
//   - Frames that the client reads itself, with one goroutine for each connection. Package net/http returns a
//     token later, and without its timestamp.
//   - Bounds for joined and unread segments that count the segments of all streams of a connection. Today each
//     stream has a connection. Without such bounds, a token that waited unread behind other streams would be
//     shown as late, or a true figure would be withheld.
//   - No timestamps for all streams of a connection on which a segment was lost, because HTTP/2 cannot tell
//     which of the streams waited.
//   - A t0 after the wait for writes of other streams, and a figure for the wait for the server's window, which
//     is 64 KiB of request bodies at first.
//   - A configuration line with the server's limit of streams, often 100, because the limit decides how many
//     connections a load has.
//   - GOAWAY and REFUSED_STREAM in place of the rules for requests that are sent again.
package conn
