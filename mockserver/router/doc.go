// Package router has three reference routers, to compare other routers with: round robin, least queue and
// prefix hash. A [Policy] chooses a replica. A [Router] forwards HTTP requests to the replicas that its
// policy chooses.
//
// A Router does nothing else. It sends each request to one replica, whether the replica is well or not, and
// sends it again only if the replica closed a kept connection without an answer. It reads no metrics, and
// does not learn that a replica is full or dead.
package router
