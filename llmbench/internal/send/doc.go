// Package send sends requests to one server, and creates a sample of each request. It deals with
// connections, bytes, clocks and deadlines.
//
// A [Client] has the connections. A [Worker] sends one [Post] at a time, which is a prepared request or a
// session. [Client.Pass] sends the posts of a [Pass], in a closed or an open loop. It passes on each sample
// when its request has ended, in the order in which the requests end.
//
// Package send does not depend on benchmarks or metrics, and does not judge samples.
package send
