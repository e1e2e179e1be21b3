// Package live watches a folder of records (LLMBENCH_OUT), and serves a page that shows the runs while they go
// on. A record describes one request of a run.
//
// A [Watcher] lists the folder once a second, and reads only what was added to each file since the last time:
// see [records.Follower]. Listing the folder is simpler than notifications of the operating system.
// Notifications do not arrive from network file systems and from folders shared with a container, and after an
// overflow the folder must be listed anyway. A delay of one second does not matter to a person.
//
// Every metric on the page is computed from finished requests, because a record is written when its request
// ends. The metrics of a running benchmark are those that it would report if it had only the finished requests.
// The number of requests in flight is not computed: it is what the client counted when the newest finished
// request ended, and the page shows it with that time. Records of older versions lack the number, and the page
// then shows none.
//
// The page also draws the course of a running benchmark over time: requests in flight, tokens per second, TTFT
// and failures. The course has at most 240 steps; if a run lasts longer, the steps become longer.
//
// A [Server] is reachable only from this machine unless another address is asked for. It rejects requests whose
// Host is a name other than localhost. Otherwise a page of another site could point its own name at this
// machine and read from the server (DNS rebinding). The server's page runs no script but its own.
package live
