// Package conn sends requests of HTTP/1.1 and HTTP/2 over its own connections, and records when each step of a request
// happened: when its connection was open, when its first and last byte were written, and when the answer's
// bytes arrived. On Linux, the instants of arrival are the kernel's receive timestamps.
//
// With HTTP/1.1, the goroutine that sends a request also writes it and reads its answer. An [net/http.Transport] needs two
// more goroutines for each connection, and every byte passes through them. Package conn still uses net/http
// to write requests and to parse the heads of responses, and x/net/http2 for the frames of HTTP/2.
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
// With [Options].HTTP2, streams share connections. Package conn reads the frames itself: one goroutine for each
// connection gives the data of a frame to its stream, with what was known when their bytes were read. So each event has
// the kernel's timestamp of its own last byte, whatever the size of its frame and whatever frames are around it. A
// stream waits without a buffer, as with HTTP/1.1. Four things differ, because a connection has the segments of all its
// streams:
//
//   - If the kernel joins segments, the bounds of an event hold for events of other streams in the same segments, too:
//     [Reader.Follows] also reports bytes of other streams.
//   - If a segment arrives out of order, all streams that are open lose their timestamps, because any of them may have
//     waited for it.
//   - A loopback connection has a receive buffer of 4 MiB, if the kernel allows that (net.core.rmem_max). If a buffer is
//     full, the kernel copies small segments together and forgets their timestamps.
//   - Below TLS, a read returns at most one TLS record. Otherwise crypto/tls would hold further records, and nobody would
//     know that bytes follow.
//
// A request's t0 is just before its frame HEADERS is written, when other streams have written theirs. A request waits
// for the server's windows, which are 64 KiB at first, with its body, so that the wait is in [Trace.Written].
package conn
