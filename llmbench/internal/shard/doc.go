// Package shard lets several processes make one measurement together. These processes are called shards.
// The package determines which part of a schedule each shard has, connects the shards, starts them at the
// same instant, and tells each of them if another one is lost.
//
// Shard 0 leads. It listens at the address of the rendezvous, and the others dial it. In a handshake, both
// sides prove that they know a token without sending it: with an HMAC-SHA256 (RFC 2104) of random numbers
// of both sides. Everything after that is neither encrypted nor authenticated. The network must therefore
// be one that is trusted with the results.
//
// After the handshake, all processes go through the same steps in the same order. Each message has the name
// of its step. If a process is at another step, this is an error that names both steps. Each process sends
// a beat, which is a sign of life, every 300 ms. If a process is silent for 0.9 s, this is reported: its
// network was down, or it got no CPU. If a process is silent for ten seconds, it is lost. A loss or a
// failure ends the group for all processes, with an error that names the shard. No step succeeds without
// all processes.
//
// A group ends normally in one way, in [Group.Finish]: shard 0 collects the statuses of all, decides, tells the
// others, and leaves last. All processes have the same status afterwards, or all have an error.
//
// A frame consists of one byte for the kind, four bytes for the length (big-endian), and the content.
package shard
