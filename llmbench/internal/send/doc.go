// Package send sends requests to one server, and makes a sample of each. It knows connections, bytes, clocks and
// deadlines.
//
// A [Client] has the connections. A [Worker] sends one [Post] at a time. [Client.Pass] sends the posts of a
// [Pass] in a closed or an open loop, and hands each sample over when its request has ended, in the order in which
// requests end.
//
// Package send knows neither benchmarks nor what a figure is, and judges no sample.
package send
