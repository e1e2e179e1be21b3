// Package live shows runs as they go on: it watches a folder of records (LLMBENCH_OUT) and
// serves a page that follows them.
//
// A [Watcher] looks at the folder once a second, and reads only what was added to each file
// since: see [records.Follower]. Asking the folder is simpler than notifications of the
// operating system, which do not come from network file systems and from the folders that a
// container shares, and which need this same look at the folder after an overflow. A person
// does not notice the second.
//
// Every figure on the page is computed from requests that have ended, because a record is
// written when its request ends. The figures of a run that goes on are those that the
// benchmark would report if it had only these requests. The number of requests in flight is
// what the client counted when the newest of them ended, with that instant; it is not
// computed. Records of older versions do not have the number, and then the page shows none.
//
// A run that goes on has its course in at most 240 steps: requests in flight, tokens per second,
// TTFT and failures. The page's script draws it. Steps become longer as the run does.
//
// A [Server] answers programs on this machine only, unless another address is asked for. It
// refuses requests whose Host is a name other than localhost, so that no page of another site
// can read from it by making its own name lead to this machine. Its page runs no script but
// its own.
package live
