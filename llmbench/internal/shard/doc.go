// Package shard makes several processes one measurement: it says which part of a schedule each of
// them has, connects them, starts them at one instant, and tells each of them when another one is
// lost.
//
// Shard 0 leads. It listens at the address of the rendezvous, and the others dial it. Both sides
// show that they know a token without sending it: an HMAC-SHA256 (RFC 2104) of random numbers of
// both sides. What follows is neither encrypted nor authenticated, so that the network must be one
// that is trusted with the results.
//
// After that all processes go through the same steps in the same order. A step has a name, which
// each message carries: a process that is at another step is an error that names both. Each
// process sends a beat every 300 ms. A process of which nothing was heard for 0.9 s is told: its
// network was down, or it got no CPU. A process of which nothing was heard for ten seconds is lost.
// What is lost or fails ends the group for all processes, with an error that names the shard; no
// step succeeds without all of them.
//
// Frames are a byte for the kind, four bytes for the length (big-endian), and the content.
package shard
