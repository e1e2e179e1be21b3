// Package conn sends HTTP/1.1 requests over connections of its own and records
// when each step of a request happened: when its connection was open, when its
// first and last byte were written, and when the answer's bytes arrived. On Linux
// the instants of arrival are the kernel's receive timestamps.
//
// A request is written and read by the goroutine that sends it. An
// [net/http.Transport] needs two more goroutines for each connection, and every
// byte passes through them. The format of messages is still net/http's.
//
// # Segments that wait to be read
//
// Several segments may have arrived when the client comes to read. The kernel has a timestamp for
// each of them, unless it joins a segment to the one before: then both have the later timestamp
// (tcp_try_coalesce in https://github.com/torvalds/linux/blob/v6.12/net/ipv4/tcp_input.c). A read
// takes the bytes of one timestamp. TCP_INFO, which is asked for before each read, counts the
// segments; if there are several, recvmsg with MSG_PEEK finds where the timestamp changes. The cost
// is about five system calls for a segment that waited, and none for any other segment.
//
// The kernel joins no segment to one whose bytes the sender on the same machine still has
// (skb_cloned in skb_try_coalesce, https://github.com/torvalds/linux/blob/v6.12/net/core/skbuff.c),
// which is until the acknowledgement. Of 8 segments of 200 bytes, 0.2 ms apart, 8 had a timestamp
// of their own over loopback; 3 had one between two network namespaces, where Linux 6.18
// acknowledged each third segment; and 1 had one among the first 16 segments of a connection,
// which are acknowledged at once. A receive buffer of fixed size makes the kernel acknowledge the
// first segments of later answers less often, so that connections to loopback have one: it joins
// 0.1 to 0.5 % of the first 8 events of an answer instead of 5 to 9 %, with an event each 0.5 ms
// (go test -run='^$' -bench=Merged ./llmbench/internal/conn). Segments from another machine are joined if there is room behind the
// first, as the driver of the network card decides. [Reader.Merged] tells which segments were
// joined.
//
// SO_TIMESTAMPING has the same timestamps; SO_RCVLOWAT and IPv6 changed nothing. Without
// TCP_QUICKACK, 8 of 8 segments had a timestamp of their own from the first on, but a server that
// uses Nagle's algorithm would wait for the later acknowledgements. A packet socket has all
// timestamps, and needs CAP_NET_RAW.
package conn
